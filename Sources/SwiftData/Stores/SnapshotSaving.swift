import CoreData
import Foundation

/// Writes snapshots to a store of this module.
struct SnapshotSaving {
    let context: NSManagedObjectContext
    let coordinator: NSPersistentStoreCoordinator
    let types: [String: any PersistentModel.Type]

    /// - Returns: the identifiers of the new models, by those of their snapshots.
    func save(
        _ request: DataStoreSaveChangesRequest<DefaultSnapshot>
    ) throws -> [PersistentIdentifier: PersistentIdentifier] {
        try context.performAndWait {
            var made: [PersistentIdentifier: NSManagedObject] = [:]
            for snapshot in request.inserted {
                made[snapshot.persistentIdentifier] = NSEntityDescription.insertNewObject(
                    forEntityName: try layout(of: snapshot).entityName, into: context)
            }
            for snapshot in request.inserted + request.updated {
                guard let object = try object(snapshot.persistentIdentifier, made) else {
                    throw SwiftDataError(
                        .missingModelContext,
                        "\(snapshot.persistentIdentifier) cannot be updated: the store has no such model.")
                }
                try set(snapshot, object, made)
            }
            for snapshot in request.deleted {
                if let object = try object(snapshot.persistentIdentifier, made) { context.delete(object) }
            }
            try context.save()
            return made.mapValues { PersistentIdentifier($0.objectID) }
        }
    }

    private func layout(of snapshot: DefaultSnapshot) throws -> ModelLayout {
        guard let type = types[snapshot.persistentIdentifier.entityName] else {
            throw SwiftDataError(
                .unknownSchema,
                "The store's schema has no entity '\(snapshot.persistentIdentifier.entityName)'.")
        }
        return ModelLayout.of(type)
    }

    private func object(
        _ identifier: PersistentIdentifier, _ made: [PersistentIdentifier: NSManagedObject]
    ) throws -> NSManagedObject? {
        if let object = made[identifier] { return object }
        guard let id = identifier.objectID(in: coordinator), !id.isTemporaryID else { return nil }
        return try? context.existingObject(with: id)
    }

    private func set(
        _ snapshot: DefaultSnapshot, _ object: NSManagedObject, _ made: [PersistentIdentifier: NSManagedObject]
    ) throws {
        for property in try layout(of: snapshot).allProperties {
            let content = snapshot.contents[property.name]
            switch (property.form, content) {
            case (.attribute(let form), .attribute(let value)?):
                object.setValue(try form.encode(value), forKey: property.name)
            case (.toMany, .toMany(let identifiers)?):
                let members = try identifiers.compactMap { try self.object($0, made) }
                object.setValue(NSSet(array: members), forKey: property.name)
            case (.toMany, _): object.setValue(NSSet(), forKey: property.name)
            case (.toOne, .toOne(let identifier)?):
                object.setValue(try self.object(identifier, made), forKey: property.name)
            case (.attribute, _), (.toOne, _): object.setValue(nil, forKey: property.name)
            }
        }
    }
}
