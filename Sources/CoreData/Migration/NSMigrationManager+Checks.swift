import CoreDataPredicate
import Foundation

// Checks before a store is migrated.
extension NSMigrationManager {
    /// - Throws: 134110 for a mapping of an entity that its model has not, or has with another version hash, and for an
    ///   expression that names a mapping which is not there.
    final func check(_ mappings: NSMappingModel) throws {
        if !mappings.isAsInferred { try checkNames(in: mappings) }
        for mapping in mappings.entityMappings ?? [] {
            for (name, hash, model) in [
                (mapping.sourceEntityName, mapping.sourceEntityVersionHash, sourceModel),
                (mapping.destinationEntityName, mapping.destinationEntityVersionHash, destinationModel),
            ] {
                guard let name else { continue }
                guard let known = model.entityVersionHashesByName[name] else {
                    throw CoreDataErrors.make(
                        NSMigrationError,
                        "The mapping '\(mapping.name ?? "")' names the entity '\(name)', which its model has not; it has: "
                            + model.entitiesByName.keys.sorted().joined(separator: ", "))
                }
                guard hash == nil || hash == known else {
                    throw CoreDataErrors.make(
                        NSMigrationError,
                        "The mapping '\(mapping.name ?? "")' is of another version of the entity '\(name)': the version hashes differ."
                    )
                }
            }
        }
    }

    /// Checks that every mapping that is referred to exists: otherwise relationships would be empty without a message.
    private func checkNames(in mappings: NSMappingModel) throws {
        let known = Set((mappings.entityMappings ?? []).compactMap(\.name))
        for mapping in mappings.entityMappings ?? [] {
            for property in (mapping.attributeMappings ?? []) + (mapping.relationshipMappings ?? []) {
                try property.valueExpression?.node.forEachExpression { part in
                    guard case .message(.variable(NSMigrationManagerKey), let selector, let arguments) = part,
                        selector.contains("ForEntityMappingNamed:"),
                        case .constant(.value(.string(let name)))? = arguments.first, !known.contains(name)
                    else { return }
                    throw CoreDataErrors.make(
                        NSMigrationError,
                        "The mapping '\(mapping.name ?? "")' asks for objects of the mapping '\(name)' for '\(property.name ?? "")', which the mapping model has not; it has: "
                            + known.sorted().joined(separator: ", "))
                }
            }
        }
    }
}
