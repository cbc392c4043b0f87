import CoreDataStore
import Foundation

/// The one place where errors that users see are made: `CocoaError` with Apple's codes and keys.
enum CoreDataErrors {
    static func make(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> CocoaError {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = message
        return CocoaError(CocoaError.Code(rawValue: code), userInfo: userInfo)
    }

    /// - Throws: an error for a URL that leads to no file: its path would name another one.
    static func checkIsFile(_ url: URL, _ code: CocoaError.Code = .fileReadUnsupportedScheme) throws {
        guard !url.isFileURL, !url.isNullDevice else { return }
        if let scheme = url.scheme?.lowercased(), scheme == "postgresql" || scheme == "postgres" {
            throw make(
                code.rawValue,
                "A store in PostgreSQL is another product's: depend on CoreDataPostgreSQL, and call PostgreSQLStore.register()."
            )
        }
        throw make(
            code.rawValue,
            "'\(url.absoluteString)' is not the URL of a file; make one with URL(fileURLWithPath:).",
            [NSURLErrorKey: url])
    }

    /// The folder of a store that was to be made could not be, for the system's reason.
    static func folderNotMade(_ folder: String, for store: URL, _ number: Int32) -> CocoaError {
        let code: CocoaError.Code =
            switch number {
            case EACCES, EPERM: .fileWriteNoPermission
            case EROFS: .fileWriteVolumeReadOnly
            case ENOSPC, EDQUOT: .fileWriteOutOfSpace
            default: .fileWriteUnknown
            }
        return make(
            code.rawValue,
            "The store '\(store.path)' cannot be made, since the folder '\(folder)' cannot be: \(String(cString: strerror(number))). Choose another place, or see to who may write there.",
            [NSFilePathErrorKey: store.path])
    }

    /// Nothing can be made in the folder of a store, for the system's reason.
    static func nothingBeside(_ store: URL, _ number: Int32) -> CocoaError {
        let code: CocoaError.Code = number == EROFS ? .fileWriteVolumeReadOnly : .fileWriteNoPermission
        let folder = FileLink.followed(store).deletingLastPathComponent().path
        return make(
            code.rawValue,
            "The store '\(store.path)' cannot be made: nothing can be written in the folder '\(folder)': \(String(cString: strerror(number))).",
            [NSFilePathErrorKey: store.path])
    }

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

    /// Somebody has put something where a new store was to be, while that was made.
    static func isTakenByNow(_ url: URL) -> CocoaError {
        make(
            CocoaError.Code.fileWriteFileExists.rawValue,
            "Something was put at '\(ServerStores.name(url))' while a store was made for that place. It is as it was, and what was made is gone.",
            url.isFileURL ? [NSFilePathErrorKey: url.path] : [NSURLErrorKey: ServerStores.shared.shown(url)])
    }

    static func coreData(_ message: String) -> CocoaError { make(NSCoreDataError, message) }

    static func invalidRequest(_ message: String) -> CocoaError { make(NSCoreDataError, message) }

    /// A container's model is nowhere.
    static func missingModel(_ name: String) -> CocoaError {
        coreData(
            """
            No model '\(name)' (\(name).momd, .mom, .xcdatamodeld) in \(Bundle.main.bundlePath); \
            give it with NSPersistentContainer(name:managedObjectModel:).
            """)
    }

    static func neverSettles() -> CocoaError {
        coreData(
            """
            Failed to process pending changes before save. The context is still dirty after 1000 attempts. Typically this \
            recursive dirtying is caused by a bad validation method, -willSave, or notification handler.
            """)
    }

    /// A context was to be saved by what its own save called. Apple's framework has this code and no name for it.
    static func recursiveSave(_ context: String) -> CocoaError {
        make(
            132001,
            """
            Attempt to recursively call save() on the context \(context) aborted: it was called by a hook, a validation method, an \
            observer or a merge policy of a save that runs. That save goes on, and saves what was changed before it writes; save() \
            may be called after it.
            """)
    }

    static func missingObject(_ id: NSManagedObjectID) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "The object \(id) is in no store any more.", [NSAffectedObjectsErrorKey: [id]])
    }

    static func noStore(of uri: URL) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "No store of the context has \(uri): its store is not attached, or the model has no such entity.",
            [NSURLErrorKey: uri])
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

    /// Why no store takes a new object: those that have its entity are read-only, or none has it.
    /// Objects that a child context changed and whose rows the parent has lost.
    static func goneInParent(_ objects: [NSManagedObject]) -> CocoaError {
        let conflicts = objects.map {
            NSMergeConflict(source: $0, newVersion: 0, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
        }
        return make(
            NSManagedObjectMergeError,
            """
            \(objects[0].objectID) was changed, and its parent context has deleted it or found that its row is gone. Refresh \
            the object with mergeChanges false to give up what was changed, or delete it here, too.
            """,
            [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }

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

    /// Objects whose store was removed from the coordinator.
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

    /// `nil`, the one error, or a 1560 of all of them; a 1560 among them is taken apart.
    static func combined(_ errors: [any Error]) -> (any Error)? {
        if errors.count <= 1 { return errors.first }
        let flat = errors.flatMap { error -> [any Error] in
            let known = error as NSError
            guard known.domain == NSCocoaErrorDomain, known.code == NSValidationMultipleErrorsError,
                let details = known.userInfo[NSDetailedErrorsKey] as? [any Error]
            else { return [error] }
            return details
        }
        return make(
            NSValidationMultipleErrorsError, "Multiple validation errors occurred.", [NSDetailedErrorsKey: flat])
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

extension URL {
    /// Whether the URL stands for a store without a file.
    var isNullDevice: Bool {
        // Hardly any is, and to take a path apart costs more than to look at the end.
        relativeString.utf8.last == UInt8(ascii: "l") && path == "/dev/null" && (isFileURL || scheme == nil)
    }
}
