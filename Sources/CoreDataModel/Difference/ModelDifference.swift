import CoreDataPrimitives
import Foundation

/// The changes from one model to another, entity by entity, as readable text.
///
///     let difference = ModelDifference(from: old, to: new)
///     difference.lines
///     // Book: attribute 'isbn' was added (String, optional)
///     // Book.pages: type Integer 16 → Integer 32
///     // Loan: entity was removed
package struct ModelDifference: Hashable, Sendable {
    /// A change of one item.
    package struct Change: Hashable, Sendable {
        /// The item that changed: `Book` or `Book.pages`.
        package var subject: String
        /// The description of the change: `type Integer 16 → Integer 32`.
        package var text: String
        /// Whether, because of this change, a store of one model needs migration to open with the other.
        package var needsMigration: Bool

        package var line: String { "\(subject): \(text)" }
    }

    /// An item that was renamed.
    package struct Renaming: Hashable, Sendable {
        /// The old name: `Book` or `Book.pages`.
        package var old: String
        /// The new name.
        package var new: String

        package var line: String { "\(new): was named '\(old.split(separator: ".").last ?? "")'" }
    }

    /// The entities that only the new model has, by name.
    package let added: [String]
    /// The entities that only the old model has, by name.
    package let removed: [String]
    /// The renamed entities and properties, according to renaming identifiers.
    package let renamed: [Renaming]
    /// The changes of entities that both models have, by entity and property; then changes outside entities.
    package let changes: [Change]

    package init(from old: CompiledModel, to new: CompiledModel) {
        self.init(ModelPairing(old: .init(old), new: .init(new)))
    }

    /// Compares everything in the documents, including renaming identifiers.
    package init(from old: ModelDocument, to new: ModelDocument) throws(ModelFailure) {
        let sides = (try ModelCompiler.compile(old), try ModelCompiler.compile(new))
        let pairing = ModelPairing(
            old: .init(sides.0, document: old), new: .init(sides.1, document: new))
        self.init(pairing, others: ElementComparison.changes(from: old, to: new))
    }

    private init(_ pairing: ModelPairing, others: [Change] = []) {
        let entities = pairing.new.model.entities.sorted { NameOrder.byCodeUnits($0.name, $1.name) }
        let kept = Set(pairing.oldEntities.values)
        added = entities.filter { pairing.oldEntities[$0.ordinal] == nil }.map(\.name)
        removed = pairing.old.model.entities.filter { !kept.contains($0.ordinal) }.map(\.name)
            .sorted(by: NameOrder.byCodeUnits)
        var renamed: [Renaming] = []
        var changes: [Change] = []
        for entity in entities {
            guard let before = pairing.old(of: entity) else { continue }
            if before.name != entity.name { renamed.append(.init(old: before.name, new: entity.name)) }
            let comparison = EntityComparison(old: before, new: entity, pairing: pairing)
            renamed += comparison.renamedProperties
            changes += comparison.changes()
        }
        self.renamed = renamed
        self.changes = changes + others
    }

    package var isEmpty: Bool { added.isEmpty && removed.isEmpty && renamed.isEmpty && changes.isEmpty }

    /// Whether a store of one model needs migration before it opens with the other.
    package var needsMigration: Bool {
        !added.isEmpty || !removed.isEmpty || !renamed.isEmpty || changes.contains(where: \.needsMigration)
    }

    /// A line for each change: entities added and removed, then renamings, then all other changes.
    package var lines: [String] {
        added.map { "\($0): entity was added" } + removed.map { "\($0): entity was removed" }
            + renamed.map(\.line) + changes.map(\.line)
    }

    /// Compares the entities of a store with the model's, by the hashes in the store's metadata.
    ///
    /// - Parameter entities: the entities of the configuration that the store is opened with.
    /// - Returns: by name: `missing`, entities that only the store has; `added`, entities that only the configuration
    ///   has; `changed`, entities with different hashes.
    package static func entities(
        hashes: [String: Data], model: CompiledModel, entities: [CompiledEntity]
    ) -> (missing: [String], added: [String], changed: [String]) {
        let names = Set(entities.map(\.name))
        let missing = hashes.keys.filter { !names.contains($0) }
        let added = names.filter { hashes[$0] == nil }
        let changed = entities.filter { entity in hashes[entity.name].map { $0 != entity.versionHash } ?? false }
        return (
            missing.sorted(by: NameOrder.byCodeUnits), added.sorted(by: NameOrder.byCodeUnits),
            changed.map(\.name).sorted(by: NameOrder.byCodeUnits)
        )
    }

    /// Returns ``entities(hashes:model:entities:)`` as lines. Entities that the model has outside the configuration are
    /// reported separately.
    package static func lines(
        hashes: [String: Data], model: CompiledModel, entities: [CompiledEntity]
    ) -> [String] {
        let difference = Self.entities(hashes: hashes, model: model, entities: entities)
        return difference.missing.map { name in
            model.entity(named: name) == nil
                ? "\(name): is in the store but not in the model"
                : "\(name): is in the store but not in the model's configuration"
        } + difference.added.map { "\($0): is in the model but not in the store" }
            + difference.changed.map { "\($0): has changed since the store was written" }
    }
}
