import CoreDataStore
import Foundation

// Errors that name objects, contexts, stores and coordinators.
extension CoreDataErrors {
    /// Two stores of one coordinator would have one UUID.
    static func sameIdentifier(_ url: URL?, as known: NSPersistentStore, _ identifier: String) -> CocoaError {
        func name(_ url: URL?) -> String { url.map { "'\(ServerStores.name($0))'" } ?? "in memory" }
        return make(
            NSPersistentStoreOpenError,
            """
            The store \(name(url)) has the UUID \(identifier), as has the store \(name(known.url)), which is attached to this \
            coordinator already: it is the same store or a copy of it, and their objects' IDs would be the same. Add it to another \
            coordinator, or first give it another \(NSStoreUUIDKey) with setMetadata(_:forPersistentStoreOfType:at:options:).
            """, url.map { $0.isFileURL ? [NSFilePathErrorKey: $0.path] : [:] } ?? [:])
    }

    static func missingObject(_ id: NSManagedObjectID) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "The object \(id) is in no store any more.", [NSAffectedObjectsErrorKey: [id]])
    }

    static func unsavedElsewhere(_ id: NSManagedObjectID) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            """
            The object \(id) was not saved when its ID was taken, so only the context that made it knows it. Save it before you \
            take its ID, or call obtainPermanentIDs(for:).
            """, [NSAffectedObjectsErrorKey: [id]])
    }

    static func otherClass(_ id: NSManagedObjectID, than type: NSManagedObject.Type) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "The object \(id) is a \(id.runtime.objectClass), and was asked for as a \(type).",
            [NSAffectedObjectsErrorKey: [id]])
    }

    static func notTransformable(
        _ slot: EntityRuntime.Slot, of entity: EntityRuntime, by transformer: ValueTransformer?, type: String
    ) -> CocoaError {
        let name = transformer == nil ? "NSKeyedArchiver" : slot.attribute?.valueTransformerName ?? ""
        var message =
            "The transformer '\(name)' of property '\(slot.name)' of entity '\(entity.name)' makes no Data of a \(type)."
        if let secure = transformer as? NSSecureUnarchiveFromDataTransformer {
            let allowed = Swift.type(of: secure).allowedTopLevelClasses.map { "\($0)" }.joined(separator: ", ")
            message +=
                " It takes objects with NSSecureCoding of these classes, in collections, too: \(allowed). Register a subclass whose allowedTopLevelClasses have more."
        }
        return make(NSManagedObjectValidationError, message, [NSValidationKeyErrorKey: slot.name])
    }

    /// Returns the error for objects that a child context changed and whose rows the parent has lost.
    static func goneInParent(_ objects: [NSManagedObject]) -> CocoaError {
        let conflicts = objects.map {
            NSMergeConflict(source: $0, newVersion: 0, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
        }
        return make(
            NSManagedObjectMergeError,
            """
            \(objects[0].objectID) was changed, and its parent context has deleted it or found that its row is gone. Refresh \
            the object with mergeChanges false to discard its changes, or delete it here, too.
            """,
            [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }

    /// Returns the error for a new object that no store accepts: those that have its entity are read-only, or none has
    /// it.
    static func noWritableStore(entity: String, in coordinator: NSPersistentStoreCoordinator) -> CocoaError {
        let having = coordinator.runtime.entity(named: entity).map { coordinator.stores(for: $0, affected: nil) } ?? []
        if let attached = having.first(where: \.isReadOnly) { return readOnly(attached.store) }
        let stores = coordinator.persistentStores.map {
            "\($0.shownName) (configuration \($0.configurationName)"
                + ($0.isReadOnly ? ", read-only)" : ")")
        }
        return make(
            NSPersistentStoreSaveError,
            "No writable store takes entity '\(entity)'; there are: \(stores.joined(separator: ", ")).",
            [NSAffectedStoresErrorKey: coordinator.persistentStores])
    }

    static func expiredToken(_ store: NSPersistentStore) -> CocoaError {
        make(
            NSPersistentHistoryTokenExpiredError,
            """
            The history of \(store.shownName) does not have everything after the token: a part was \
            purged, or the token is not of this store's history. Begin anew without a token.
            """, [NSAffectedStoresErrorKey: [store]])
    }

    static func readOnly(_ store: NSPersistentStore) -> CocoaError {
        var userInfo: [String: Any] = [NSAffectedStoresErrorKey: [store]]
        if let path = store.url?.path { userInfo[NSFilePathErrorKey] = path }
        return make(
            CocoaError.Code.fileWriteNoPermission.rawValue,
            "The store \(store.shownName) is read-only and cannot be saved to."
                + (store.readOnlyReason.map { " \($0)" } ?? ""), userInfo)
    }

    /// Returns the error for objects whose store was removed from the coordinator.
    static func storeOutOfReach(_ objects: [NSManagedObject]) -> CocoaError {
        let first = objects.first.map { " (\($0.objectID))" } ?? ""
        return make(
            NSPersistentStoreSaveError,
            """
            \(objects.count) changed objects\(first) are of a store that is no longer the coordinator's, so they cannot be \
            saved. Add the store again, or take the changes back with rollback() or reset().
            """, [NSAffectedObjectsErrorKey: objects])
    }

    static func crossStore(
        _ object: NSManagedObject, relationship: String, _ target: NSManagedObject
    ) -> CocoaError {
        make(
            NSManagedObjectExternalRelationshipError,
            "The relationship '\(relationship)' of \(object.objectID) leads to an object of another store.",
            [NSAffectedObjectsErrorKey: [object, target]])
    }

    static func danglingTarget(
        _ object: NSManagedObject, relationship: String, _ target: NSManagedObject
    ) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            """
            The relationship '\(relationship)' of \(object.objectID) leads to \(target.objectID), which is not in the \
            context and so cannot be saved.
            """, [NSAffectedObjectsErrorKey: [object, target]])
    }

    static func incompleteSave(_ failures: [(NSPersistentStore, any Error)]) -> CocoaError {
        make(
            NSPersistentStoreIncompleteSaveError,
            "Some stores could not be saved: "
                + failures.map { "\($0.0.shownName): \($0.1.localizedDescription)" }
                .joined(separator: "; "),
            [NSAffectedStoresErrorKey: failures.map(\.0), NSDetailedErrorsKey: failures.map(\.1)])
    }
}
