import CoreDataPrimitives
import Foundation

/// What changed from one model to another, entity by entity, told so that people can read it.
///
///     let difference = ModelDifference(from: old, to: new)
///     difference.lines
///     // Book: attribute 'isbn' was added (String, optional)
///     // Book.pages: type Integer 16 → Integer 32
///     // Loan: entity was removed
package struct ModelDifference: Hashable, Sendable {
    /// One change of one thing.
    package struct Change: Hashable, Sendable {
        /// What changed: `Book` or `Book.pages`.
        package var subject: String
        /// How: `type Integer 16 → Integer 32`.
        package var text: String
        /// Whether a store of the one model cannot be opened with the other because of it.
        package var needsMigration: Bool

        package var line: String { "\(subject): \(text)" }
    }

    /// A thing that has another name now.
    package struct Renaming: Hashable, Sendable {
        /// `Book` or `Book.pages`, by the old name.
        package var old: String
        /// The same by the new name.
        package var new: String

        package var line: String { "\(new): was named '\(old.split(separator: ".").last ?? "")'" }
    }

    /// Entities of the new model that the old one does not have, by name.
    package let added: [String]
    /// Entities of the old model that the new one does not have, by name.
    package let removed: [String]
    /// Entities and properties with a new name, as renaming identifiers tell it.
    package let renamed: [Renaming]
    /// The changes of entities that both have, by entity and property; then those outside entities.
    package let changes: [Change]

    package init(from old: CompiledModel, to new: CompiledModel) {
        self.init(ModelPairing(old: .init(old), new: .init(new)))
    }

    /// Compares all that documents say, and knows what was renamed.
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

    /// Whether a store of the one model cannot be opened with the other as it is.
    package var needsMigration: Bool {
        !added.isEmpty || !removed.isEmpty || !renamed.isEmpty || changes.contains(where: \.needsMigration)
    }

    /// A line for each change: entities added and removed, then what was renamed, then everything else.
    package var lines: [String] {
        added.map { "\($0): entity was added" } + removed.map { "\($0): entity was removed" }
            + renamed.map(\.line) + changes.map(\.line)
    }

    /// Which entities of a store differ from the model's, by the hashes in the store's metadata.
    ///
    /// - Parameter entities: those of the configuration that the store is opened with.
    /// - Returns: `missing`, what the store has and the configuration has not; `added`, what only the configuration
    ///   has; `changed`, what both have with different hashes. By name.
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

    /// ``entities(hashes:model:entities:)`` as lines; what is missing from the configuration but elsewhere in the
    /// model is told apart.
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
