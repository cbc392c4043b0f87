import CoreDataPrimitives

/// Maps the entities and properties of one model to those of another: the plan of a lightweight migration, as a value.
///
///     let mapping = try ModelMapping.inferred(from: .init(old, document: oldDocument), to: .init(new, document: newDocument))
///     mapping.lines
///     // Book: transformed (pages was numberOfPages; isbn is new)
///     // Loan: removed
package struct ModelMapping: Sendable {
    package enum Kind: String, Sendable {
        case add = "Add"
        case remove = "Remove"
        /// The entity is the same in both models.
        case copy = "Copy"
        case transform = "Transform"
    }

    package struct EntityMapping: Sendable {
        package var kind: Kind
        /// The ordinal in the older model; `nil` for an added entity.
        package var source: Int?
        /// The ordinal in the newer model; `nil` for a removed entity.
        package var destination: Int?
        /// For each slot of the destination, the source slot that its values come from.
        package var sourceSlots: [Int?]
    }

    package let source: CompiledModel
    package let destination: CompiledModel
    /// The mappings of the newer model's entities by ordinal, then those of removed entities.
    package let entities: [EntityMapping]
    /// Renaming identifiers of stored entities and properties that match no name in the older model.
    package private(set) var strayIdentifiers: [MappingInference.StrayIdentifier] = []
    /// The newer entity of each older one that has one.
    private let destinations: [Int: Int]

    /// Infers the mapping from names and renaming identifiers.
    ///
    /// - Parameter isStored: whether the store contains an entity of the newer model, by ordinal; other entities cause
    ///   no obstacles.
    /// - Throws: ``InferenceFailure`` with all obstacles.
    package static func inferred(
        from old: ModelPairing.Side, to new: ModelPairing.Side, where isStored: (Int) -> Bool = { _ in true }
    ) throws(InferenceFailure) -> ModelMapping {
        let pairing = ModelPairing(old: old, new: new)
        let inference = MappingInference(pairing)
        func isOfStore(_ subject: String) -> Bool {
            guard let name = subject.split(separator: ".").first, let ordinal = new.model.ordinalByName[String(name)]
            else { return true }
            return new.model.entities[ordinal].subtree.contains(where: isStored) || isStored(ordinal)
        }
        let obstacles = inference.obstacles.filter { isOfStore($0.subject) }
        guard obstacles.isEmpty else { throw InferenceFailure(obstacles: obstacles) }
        var mapping = ModelMapping(pairing)
        mapping.strayIdentifiers = inference.strayIdentifiers.filter { isOfStore($0.subject) }
        return mapping
    }

    /// Infers the mapping as far as possible, ignoring obstacles.
    package init(_ pairing: ModelPairing) {
        source = pairing.old.model
        destination = pairing.new.model
        var found: [EntityMapping] = pairing.new.model.entities.map { entity in
            guard let old = pairing.old(of: entity) else {
                return EntityMapping(
                    kind: .add, source: nil, destination: entity.ordinal,
                    sourceSlots: Array(repeating: nil, count: entity.properties.count))
            }
            let isSame = old.versionHash == entity.versionHash && old.name == entity.name
            return EntityMapping(
                kind: isSame ? .copy : .transform, source: old.ordinal, destination: entity.ordinal,
                sourceSlots: pairing.slots(of: entity, from: old, where: Self.canBecome))
        }
        let kept = Set(pairing.oldEntities.values)
        for entity in pairing.old.model.entities where !kept.contains(entity.ordinal) {
            found.append(EntityMapping(kind: .remove, source: entity.ordinal, destination: nil, sourceSlots: []))
        }
        entities = found
        destinations = Dictionary(
            pairing.oldEntities.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns whether values of one property can become values of another: both are stored and of one kind.
    private static func canBecome(_ old: CompiledProperty, _ new: CompiledProperty) -> Bool {
        guard !old.isTransient, !new.isTransient else { return false }
        switch (old.kind, new.kind) {
        case (.attribute(let old), .attribute(let new)): return old.type == new.type
        case (.relationship, .relationship): return true
        default: return false
        }
    }

    // MARK: Queries

    /// Returns the newer entity of an older one.
    package func destination(of source: Int) -> Int? { destinations[source] }

    /// Returns the older entity of a newer one.
    package func source(of destination: Int) -> Int? { entities[destination].source }

    /// Returns the older slot of a property of a newer entity.
    package func sourceSlot(of slot: Int, in destination: Int) -> Int? { entities[destination].sourceSlots[slot] }

    /// Returns Apple's name of an inferred entity mapping: `IEM_Transform_Book`.
    package func name(of mapping: EntityMapping) -> String {
        let entity = mapping.destination.map { destination.entities[$0] } ?? mapping.source.map { source.entities[$0] }
        return "IEM_\(mapping.kind.rawValue)_\(entity?.name ?? "")"
    }

    /// A line for each entity that differs between the models.
    package var lines: [String] { entities.compactMap(line) }

    private func line(_ mapping: EntityMapping) -> String? {
        switch (mapping.source.map { source.entities[$0] }, mapping.destination.map { destination.entities[$0] }) {
        case (nil, let entity?): return "\(entity.name): added"
        case (let entity?, nil): return "\(entity.name): removed, with its objects"
        case (let old?, let new?) where mapping.kind == .transform:
            var parts: [String] = []
            if old.name != new.name { parts.append("was \(old.name)") }
            for property in new.properties where !property.isTransient && property.isStoredKind {
                guard let slot = mapping.sourceSlots[property.slot] else {
                    parts.append("\(property.name) is new")
                    continue
                }
                let name = old.properties[slot].name
                if name != property.name { parts.append("\(property.name) was \(name)") }
            }
            let kept = Set(mapping.sourceSlots.compactMap { $0 })
            for property in old.properties
            where !property.isTransient && property.isStoredKind && !kept.contains(property.slot) {
                parts.append("\(property.name) is removed")
            }
            return "\(new.name): " + (parts.isEmpty ? "transformed" : parts.joined(separator: "; "))
        default: return nil
        }
    }
}

extension CompiledProperty {
    fileprivate var isStoredKind: Bool { attribute != nil || relationship != nil }
}

extension ModelMapping {
    /// The reasons why no mapping can be inferred.
    package struct InferenceFailure: EngineFailure, Sendable {
        package var obstacles: [MappingInference.Obstacle]

        /// One sentence for each obstacle, with a remedy if there is one.
        package var message: String {
            obstacles.map { "\($0.subject) \($0.message)\($0.remedy.map { " (\($0))" } ?? "")" }.joined(separator: "; ")
        }
    }
}

extension MappingInference.Obstacle {
    /// The change to the model that makes the mapping inferable.
    package var remedy: String? {
        switch kind {
        case .requiredWithoutDefault: "make it optional, or give it a default value"
        case .typeChanged: nil
        case .kindChanged: "give it another name"
        case .toManyToOne: "keep it to-many, or add a relationship of another name"
        case .destinationChanged: "add a relationship of another name"
        case .hierarchiesMerged: "leave the entities apart, or write a mapping model"
        case .ambiguous: "give each another renaming identifier"
        }
    }
}
