import CoreDataModel
import CoreDataStore
import Foundation

extension ProgressiveMigration.Chain {
    /// Returns the store's data that each step drops, by the names of the store's own version.
    ///
    ///     Library → Library 2 → Library 3
    ///     title      heading                 // Book.title: dropped by the second step
    ///                note                    // new, and dropped again: no loss of the store's
    ///
    /// A mapping model drops only what its author intended. After a mapping model, names are those of the version after
    /// it.
    ///
    /// - Parameter hashes: the hashes of the entities that the store has.
    func losses(of hashes: [String: Data]) -> [[MappingLoss]] {
        // By the present name of an entity or property the store's own; nil while they are the same.
        var origins: [String: MappingLoss]?
        return steps.enumerated().map { index, step in
            guard let mapping = step.inferred else {
                origins = nil
                return []
            }
            let entities = mapping.source.entities
            let stored = entities.indices.filter { index > 0 || hashes[entities[$0].name] != nil }
            let found = mapping.losses(of: stored).compactMap { loss -> MappingLoss? in
                guard let origins else { return loss }
                if let origin = origins[loss.name] {
                    return MappingLoss(loss.kind, entity: origin.entity, property: origin.property)
                }
                // A composite attribute is in no column, its elements are.
                return origins.keys.contains { $0.hasPrefix(loss.name + ".") } && loss.property != nil ? loss : nil
            }
            origins = Self.origins(after: mapping, origins)
            return found
        }
    }

    private static func origins(after mapping: ModelMapping, _ before: [String: MappingLoss]?) -> [String: MappingLoss]
    {
        var result: [String: MappingLoss] = [:]
        func take(_ new: MappingLoss, from old: MappingLoss) {
            if let before { result[new.name] = before[old.name] } else { result[new.name] = old }
        }
        for entity in mapping.entities {
            guard let source = entity.source, let destination = entity.destination else { continue }
            let (old, new) = (mapping.source.entities[source], mapping.destination.entities[destination])
            take(MappingLoss(.entity, entity: new.name), from: MappingLoss(.entity, entity: old.name))
            for (slot, sourceSlot) in entity.sourceSlots.enumerated() {
                guard let sourceSlot else { continue }
                take(
                    MappingLoss(.attribute, entity: new.name, property: new.properties[slot].name),
                    from: MappingLoss(.attribute, entity: old.name, property: old.properties[sourceSlot].name))
            }
        }
        return result
    }
}

extension ProgressiveMigration {
    /// - Throws: 134130 if the chain begins with an inferred step and would drop data of a store whose version the
    ///   program does not have.
    func checkLosses(_ chain: Chain, at url: URL) throws {
        guard let lossRule, let first = chain.steps.first, first.mapping == nil else { return }
        let row = try AttachedStore.metadataRow(of: url, type: type, nil)
        guard let hashes = row.metadata.versionHashes else { return }
        let lightweight = LightweightMigration(to: model, configuration: configuration, type: type)
        try lightweight.converting(url) {
            let members = try model.freeze().entities(inConfiguration: configuration) ?? []
            try lossRule.check(
                chain.losses(of: hashes).flatMap(\.self), from: hashes,
                to: Dictionary(members.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first }),
                row)
        }
    }
}
