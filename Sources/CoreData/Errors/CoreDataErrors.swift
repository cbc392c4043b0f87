import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation

/// The one place where errors that users see are made: `CocoaError` with Apple's codes and keys.
enum CoreDataErrors {
    static func make(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> CocoaError {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = message
        return CocoaError(CocoaError.Code(rawValue: code), userInfo: userInfo)
    }

    static func coreData(_ message: String) -> CocoaError { make(NSCoreDataError, message) }

    static func invalidRequest(_ message: String) -> CocoaError { make(NSCoreDataError, message) }

    static func neverSettles() -> CocoaError {
        coreData(
            """
            Failed to process pending changes before save. The context is still dirty after 1000 attempts. Typically this \
            recursive dirtying is caused by a bad validation method, -willSave, or notification handler.
            """)
    }

    static func missingObject(_ id: NSManagedObjectID) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "The object \(id) is in no store any more.", [NSAffectedObjectsErrorKey: [id]])
    }

    static func notTransformable(property: String, transformer: String, type: String) -> CocoaError {
        make(
            NSManagedObjectValidationError,
            "The transformer '\(transformer)' of property '\(property)' makes no Data of a \(type).",
            [NSValidationKeyErrorKey: property])
    }

    static func noWritableStore(entity: String, in coordinator: NSPersistentStoreCoordinator) -> CocoaError {
        let stores = coordinator.persistentStores.map {
            "\($0.url?.lastPathComponent ?? "?") (configuration \($0.configurationName)"
                + ($0.isReadOnly ? ", read-only)" : ")")
        }
        return make(
            NSPersistentStoreSaveError,
            "No writable store takes entity '\(entity)'; there are: \(stores.joined(separator: ", ")).",
            [NSAffectedStoresErrorKey: coordinator.persistentStores])
    }

    static func readOnly(_ store: NSPersistentStore) -> CocoaError {
        make(
            NSPersistentStoreSaveError,
            "The store \(store.url?.lastPathComponent ?? "") is read-only and cannot be saved to."
                + (store.readOnlyReason.map { " \($0)" } ?? ""),
            [NSAffectedStoresErrorKey: [store]])
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

    /// `nil`, the one error, or a 1560 of all of them; a 1560 among them is taken apart (G2).
    static func combined(_ errors: [any Error]) -> (any Error)? {
        if errors.count <= 1 { return errors.first }
        let flat = errors.flatMap { error -> [any Error] in
            guard let error = error as? CocoaError, error.code.rawValue == NSValidationMultipleErrorsError,
                let details = error.userInfo[NSDetailedErrorsKey] as? [any Error]
            else { return [error] }
            return details
        }
        return make(
            NSValidationMultipleErrorsError,
            "\(flat.count) validation errors: " + flat.prefix(5).map(\.localizedDescription).joined(separator: " "),
            [NSDetailedErrorsKey: flat])
    }

    static func incompleteSave(_ failures: [(NSPersistentStore, any Error)]) -> CocoaError {
        make(
            NSPersistentStoreIncompleteSaveError,
            "Some stores could not be saved: "
                + failures.map { "\($0.0.url?.lastPathComponent ?? ""): \($0.1.localizedDescription)" }
                .joined(separator: "; "),
            [NSAffectedStoresErrorKey: failures.map(\.0), NSDetailedErrorsKey: failures.map(\.1)])
    }

    // MARK: From the engine

    /// Runs `body` and turns the engine's failures into errors of ours.
    static func converting<R>(
        _ coordinator: NSPersistentStoreCoordinator?, _ body: () throws -> R
    ) throws -> R {
        do { return try body() } catch { throw converted(error, store: nil, context: nil) }
    }

    /// - Parameter new: the object of a row that the failed save would have made.
    static func converted(
        _ error: any Error, store: AttachedStore?, context: NSManagedObjectContext?,
        new: (RowKey) -> NSManagedObject? = { _ in nil }
    ) -> any Error {
        switch error {
        case let failure as PredicateFailure:
            return make(
                NSCoreDataError,
                (failure.kind == .unsupported ? "Unsupported predicate: " : "") + failure.diagnostic.rendered
                    + (failure.subexpression.map { " (in: \($0))" } ?? ""))
        case let failure as SQLFailure: return sql(failure, store: store?.store)
        case let failure as StoreFailure: return self.store(failure, url: store?.url)
        case let failure as ModelFailure: return modelInvalid(failure.diagnostics)
        case SaveFailure.conflicts(let conflicts): return merge(conflicts, store: store, context: context)
        case SaveFailure.constraints(let violations):
            return constraint(violations, store: store, context: context, new: new)
        default: return error
        }
    }

    static func sql(_ failure: SQLFailure, store: NSPersistentStore?) -> CocoaError {
        let code: Int =
            switch failure.kind {
            case .busy: NSPersistentStoreTimeoutError
            case .corrupt, .notADatabase: CocoaError.Code.fileReadCorruptFile.rawValue
            case .readOnly: CocoaError.Code.fileWriteNoPermission.rawValue
            case .full: CocoaError.Code.fileWriteOutOfSpace.rawValue
            case .cannotOpen: NSPersistentStoreOpenError
            case .missingTable: NSPersistentStoreIncompatibleSchemaError
            case .constraint: NSPersistentStoreSaveError
            case .interrupted, .other: NSSQLiteError
            }
        var userInfo: [String: Any] = [NSSQLiteErrorDomain: failure.code]
        if let store { userInfo[NSAffectedStoresErrorKey] = [store] }
        let file = store?.url.map { "\($0.lastPathComponent): " } ?? ""
        return make(
            code, "\(file)\(failure.message) (SQLite \(failure.code))" + (failure.sql.map { " in: \($0)" } ?? ""),
            userInfo)
    }

    private static func merge(
        _ conflicts: [SaveFailure.Conflict], store: AttachedStore?, context: NSManagedObjectContext?
    ) -> CocoaError {
        let list = conflicts.compactMap { conflict -> NSMergeConflict? in
            guard let store, let context else { return nil }
            let object = context.object(for: conflict.key, in: store)
            // Where the coordinator's row is not the context's either, another of its contexts was faster; else somebody who
            // writes to the store by himself.
            let isWithinCoordinator = conflict.cached?.version != conflict.expectedVersion
            let cached = isWithinCoordinator ? conflict.persisted : conflict.cached
            return NSMergeConflict(
                source: object, newVersion: conflict.persisted.map { Int($0.version) } ?? 0,
                oldVersion: Int(conflict.expectedVersion), cachedSnapshot: cached.map { store.dictionary(of: $0) },
                persistedSnapshot: isWithinCoordinator ? nil : conflict.persisted.map { store.dictionary(of: $0) })
        }
        return make(
            NSManagedObjectMergeError,
            "Could not merge changes: somebody else changed "
                + list.map(\.description).joined(separator: "; "),
            [NSPersistentStoreSaveConflictsErrorKey: list])
    }

    private static func constraint(
        _ violations: [SaveFailure.ConstraintViolation], store: AttachedStore?, context: NSManagedObjectContext?,
        new: (RowKey) -> NSManagedObject?
    ) -> CocoaError {
        var texts: [String] = []
        let list = violations.compactMap { violation -> NSConstraintConflict? in
            guard let store, let context, let runtime = context.coordinator?.runtime.entities[violation.entity]
            else { return nil }
            let names = violation.slots.map { runtime.slots[$0].name }
            texts.append("\(runtime.name) (\(names.joined(separator: ", ")))")
            let changed = new(violation.changed) ?? context.object(for: violation.changed, in: store)
            let existing = new(violation.existing) ?? context.object(for: violation.existing, in: store)
            let isInContext = existing.hasChanges
            return NSConstraintConflict(
                constraint: names, database: isInContext ? nil : existing,
                databaseSnapshot: isInContext ? nil : existing.committedValues(forKeys: nil),
                conflicting: isInContext ? [existing, changed] : [changed],
                conflictingSnapshots: (isInContext ? [existing, changed] : [changed]).map {
                    $0.dictionaryWithValues(forKeys: names)
                })
        }
        return make(
            NSManagedObjectConstraintMergeError,
            "Objects would have the same values of a uniqueness constraint: \(texts.joined(separator: "; "))",
            [NSPersistentStoreSaveConflictsErrorKey: list])
    }
}

extension CoreDataErrors {
    /// Why a store could not be opened, with Apple's code for it.
    static func store(_ failure: StoreFailure, url: URL?) -> CocoaError {
        let code: Int =
            switch failure.kind {
            case .notADatabase: CocoaError.Code.fileReadCorruptFile.rawValue
            case .cannotOpen: NSPersistentStoreOpenError
            case .notAStore: NSPersistentStoreInvalidTypeError
            case .wrongStoreType: NSPersistentStoreTypeMismatchError
            case .newerFormat: NSPersistentStoreIncompatibleSchemaError
            case .incompatibleModel: NSPersistentStoreIncompatibleVersionHashError
            case .incompleteSchema: NSPersistentStoreIncompatibleSchemaError
            case .noCachedModel: NSMigrationMissingSourceModelError
            case .unsupportedModel, .unknownConfiguration: NSCoreDataError
            case .readOnly: NSPersistentStoreSaveError
            }
        var message = failure.message
        if let mismatch = failure.mismatch { message += " " + mismatch.description }
        if !failure.missing.isEmpty {
            message += " Missing: " + failure.missing.map(\.description).joined(separator: "; ")
        }
        var userInfo: [String: Any] = [:]
        if let url { userInfo[NSFilePathErrorKey] = url.path }
        if let cause = failure.cause {
            userInfo[NSSQLiteErrorDomain] = cause.code
            userInfo[NSUnderlyingErrorKey] = sql(cause, store: nil)
        }
        if let metadata = failure.metadata { userInfo["metadata"] = metadata.dictionary }
        return make(code, message, userInfo)
    }
}
