import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation

// Converts the failures of the targets below to errors for users.
extension CoreDataErrors {
    /// Runs `body` and turns the engine's failures into errors of ours.
    static func converting<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw converted(error, store: nil, context: nil) }
    }

    /// Returns Apple's error for a failure of a target below; errors of the user and of Foundation stay unchanged.
    static func converted(
        _ error: any Error, store: AttachedStore?, context: NSManagedObjectContext?
    ) -> any Error {
        switch error {
        case let failure as PredicateFailure: return predicate(failure)
        case let failure as SQLFailure: return sql(failure, store: store?.store)
        case let failure as StoreFailure: return self.store(failure, url: store?.url)
        case let failure as ExternalDataFailure: return externalData(failure, store: store?.store)
        case let failure as AtomicFileFailure: return file(failure, store: store?.store)
        case let failure as ModelFailure: return modelInvalid(failure.diagnostics)
        case let pattern as TextComparison.InvalidPattern: return coreData(pattern.message + ".")
        case let failure as TransformableCoder.Failure:
            return make(NSManagedObjectValidationError, failure.description)
        case SaveFailure.conflicts: return merge([], .error)
        case SaveFailure.constraints: return constraint([], .error)
        case is any EngineFailure: return coreData("\(error)")
        default: return error
        }
    }

    private static func predicate(_ failure: PredicateFailure) -> CocoaError {
        if failure.kind == .syntax { return CocoaError(predicateFailure: failure) }
        var message = failure.diagnostic.sentence
        message = (failure.kind == .unsupported ? "Unsupported predicate: " : "Predicate without a result: ") + message
        if let part = failure.subexpression, !message.contains(part) { message += " (in: \(part))" }
        return make(NSCoreDataError, message)
    }

    private static func externalData(_ failure: ExternalDataFailure, store: NSPersistentStore?) -> CocoaError {
        let code: CocoaError.Code =
            switch failure.kind {
            case .missing: .fileReadNoSuchFile
            case .unreadable: .fileReadUnknown
            case .readOnly: .fileWriteNoPermission
            case .full: .fileWriteOutOfSpace
            case .unwritable: .fileWriteUnknown
            }
        var userInfo: [String: Any] = [NSFilePathErrorKey: failure.file]
        if let store { userInfo[NSAffectedStoresErrorKey] = [store] }
        return make(code.rawValue, failure.message, userInfo)
    }

    private static func file(_ failure: AtomicFileFailure, store: NSPersistentStore?) -> CocoaError {
        let code =
            switch failure.kind {
            case .changed: NSPersistentStoreSaveConflictsError
            case .locked: NSPersistentStoreTimeoutError
            case .exists: CocoaError.Code.fileWriteFileExists.rawValue
            case .missing: CocoaError.Code.fileNoSuchFile.rawValue
            case .noPermission where failure.isReading: CocoaError.Code.fileReadNoPermission.rawValue
            case .noPermission: CocoaError.Code.fileWriteNoPermission.rawValue
            case .notAFile: NSPersistentStoreOpenError
            case .other where failure.isReading: CocoaError.Code.fileReadUnknown.rawValue
            case .readOnlyVolume: CocoaError.Code.fileWriteVolumeReadOnly.rawValue
            case .full: CocoaError.Code.fileWriteOutOfSpace.rawValue
            case .other, .blocked: CocoaError.Code.fileWriteUnknown.rawValue
            }
        var userInfo: [String: Any] = [NSFilePathErrorKey: failure.path]
        if let store { userInfo[NSAffectedStoresErrorKey] = [store] }
        return make(code, failure.message, userInfo)
    }

    static func sql(_ failure: SQLFailure, store: NSPersistentStore?) -> CocoaError {
        let file = store?.url.map(\.lastPathComponent) ?? "The database"
        // The numbers of a server's states are larger than SQLite's codes, and what we say ourselves has none.
        let isSQLites = (1...0xFFFF).contains(failure.code)
        let said = isSQLites ? "\(failure.message) (SQLite \(failure.code))" : failure.message
        let code: Int
        let message: String
        switch failure.kind {
        case .busy:
            (code, message) = (NSPersistentStoreTimeoutError, "\(file) is in use by another writer: \(said).")
        case .corrupt, .notADatabase:
            code = CocoaError.Code.fileReadCorruptFile.rawValue
            message = "\(file) is damaged, or no database: \(said)."
        case .readOnly:
            code = CocoaError.Code.fileWriteNoPermission.rawValue
            message = "\(file) cannot be written to: \(said)."
        case .unreadable:
            (code, message) = (CocoaError.Code.fileReadNoPermission.rawValue, "\(file) cannot be read: \(said).")
        case .full:
            code = CocoaError.Code.fileWriteOutOfSpace.rawValue
            message = "\(file) cannot be written to, because there is no space left: \(said)."
        case .cannotOpen: (code, message) = (NSPersistentStoreOpenError, "\(file) cannot be opened: \(said).")
        case .moved:
            code = CocoaError.Code.fileNoSuchFile.rawValue
            message =
                "\(file) was deleted, moved or replaced by somebody else while it was open, so nothing was written: \(said)."
        case .missingTable:
            (code, message) = (NSPersistentStoreIncompatibleSchemaError, "\(file) lacks a table: \(said).")
        case .constraint: (code, message) = (NSPersistentStoreSaveError, "\(file) refused the values: \(said).")
        case .reference:
            (code, message) = (
                NSManagedObjectReferentialIntegrityError,
                "\(file) refused the changes, since an object would lead to one that is not there: \(said)."
            )
        case .check:
            (code, message) = (
                NSManagedObjectConstraintValidationError,
                "\(file) refused a value that its table does not take: \(said)."
            )
        case .unkept: (code, message) = (NSSQLiteError, "\(file) cannot keep a value: \(said).")
        // Without the message, which has the value in it.
        case .pattern:
            code = NSCoreDataError
            message = "Predicate without a result: MATCHES met a value in \(file) that is not a regular expression."
        case .stateGone, .tooManyStates:
            (code, message) = (NSPersistentStoreOperationError, "\(file) cannot be read so: \(failure.message).")
        case .serialization, .expectation:
            (code, message) = (
                NSPersistentStoreTimeoutError, "\(file) was written to by others at the same time; try again: \(said)."
            )
        case .disconnected:
            (code, message) = (NSPersistentStoreTimeoutError, "\(file) cannot be reached: \(said).")
        case .unknownOutcome:
            (code, message) = (
                NSPersistentStoreIncompleteSaveError,
                "Whether \(file) has the changes is not known: \(said). Fetch what is there before saving them again."
            )
        case .timedOut:
            (code, message) = (NSPersistentStoreTimeoutError, "\(file) ended what was asked of it: \(said).")
        case .interrupted: (code, message) = (NSSQLiteError, "\(file) was interrupted: \(said).")
        case .computation: (code, message) = (NSSQLiteError, "\(file) cannot compute that: \(said).")
        case .other: (code, message) = (NSSQLiteError, "\(file) reported an error: \(said).")
        }
        var userInfo: [String: Any] = [NSSQLiteErrorDomain: failure.code]
        if let store { userInfo[NSAffectedStoresErrorKey] = [store] }
        // The statement is helpful only if it caused the error.
        if let statement = failure.sql, [.missingTable, .constraint, .reference, .check, .other].contains(failure.kind)
        {
            userInfo["NSDebugDescription"] = statement
        }
        return make(code, message, userInfo)
    }

    // MARK: Conflicts

    static func merge(_ conflicts: [NSMergeConflict], _ policy: NSMergePolicy, _ remark: String = "") -> CocoaError {
        make(
            NSManagedObjectMergeError,
            "Could not merge changes: " + conflicts.map(text(of:)).joined(separator: "; ") + remark + ".",
            [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }

    private static func text(of conflict: NSMergeConflict) -> String {
        let what =
            conflict.newVersionNumber == 0
            ? "deleted" : "changed from version \(conflict.oldVersionNumber) to \(conflict.newVersionNumber)"
        return "\(conflict.sourceObject.objectID) was \(what) by somebody else"
    }

    static func constraint(
        _ conflicts: [NSConstraintConflict], _ policy: NSMergePolicy, _ remark: String = ""
    ) -> CocoaError {
        let texts = conflicts.map { conflict in
            let entity = conflict.conflictingObjects.first?.entity.name ?? ""
            return "\(entity) (\(conflict.constraint.joined(separator: ", ")))"
        }
        return make(
            NSManagedObjectConstraintMergeError,
            "Objects would have the same values of a uniqueness constraint: \(texts.joined(separator: "; "))"
                + remark + ".", [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }

    /// Every attempt to save met a conflict that had ended when it was looked for.
    static func overtaken(_ stores: [NSPersistentStore]) -> CocoaError {
        make(
            NSPersistentStoreTimeoutError, "Other writers changed rows while they were being saved: save again.",
            [NSAffectedStoresErrorKey: stores])
    }
}

extension CoreDataErrors {
    /// Returns the error, with Apple's code, for a store that could not be opened.
    ///
    /// - Parameter makes: whether a store would have been made if it did not exist.
    static func store(_ failure: StoreFailure, url: URL?, makes: Bool = false) -> CocoaError {
        if failure.kind == .cannotOpen, let url, url.isFileURL, let missing = missingFile(url, makes: makes) {
            return missing
        }
        let code: Int =
            switch failure.kind {
            case .notADatabase: CocoaError.Code.fileReadCorruptFile.rawValue
            case .cannotOpen: NSPersistentStoreOpenError
            case .unreadable: CocoaError.Code.fileReadNoPermission.rawValue
            case .lostMetadata: CocoaError.Code.fileReadCorruptFile.rawValue
            case .notAStore: NSPersistentStoreInvalidTypeError
            case .wrongStoreType: NSPersistentStoreTypeMismatchError
            case .newerFormat: NSPersistentStoreIncompatibleSchemaError
            case .incompatibleModel: NSPersistentStoreIncompatibleVersionHashError
            case .incompleteSchema: NSPersistentStoreIncompatibleSchemaError
            case .noCachedModel: NSMigrationMissingSourceModelError
            case .unsupportedModel, .unknownConfiguration: NSCoreDataError
            case .readOnly: CocoaError.Code.fileWriteNoPermission.rawValue
            }
        var userInfo: [String: Any] = [:]
        if let url, url.isFileURL || url.scheme == nil {
            userInfo[NSFilePathErrorKey] = url.path
        } else if let url {
            userInfo[NSURLErrorKey] = ServerStores.shared.shown(url)
        }
        if let cause = failure.cause {
            userInfo[NSSQLiteErrorDomain] = cause.code
            userInfo[NSUnderlyingErrorKey] = sql(cause, store: nil)
        }
        if let metadata = failure.metadata { userInfo["metadata"] = metadata.dictionary }
        if failure.kind == .incompatibleModel {
            userInfo["reason"] =
                "The model used to open the store is incompatible with the one used to create the store"
        }
        return make(code, failure.message, userInfo)
    }

    /// Returns Apple's error for a store whose file does not exist and must not be made.
    private static func missingFile(_ url: URL, makes: Bool) -> CocoaError? {
        guard !makes, isMissing(FileLink.followed(url)) else { return nil }
        let folder = FileLink.followed(url).deletingLastPathComponent()
        let reason = isMissing(folder) ? ": the folder '\(folder.path)' does not exist" : ""
        return make(
            CocoaError.Code.fileReadNoSuchFile.rawValue, "There is no store at '\(url.path)'\(reason).",
            [NSFilePathErrorKey: url.path])
    }

    private static func isMissing(_ url: URL) -> Bool {
        do {
            _ = try FileManager.default.attributesOfItem(atPath: url.path)
            return false
        } catch { return [.fileReadNoSuchFile, .fileNoSuchFile].contains((error as? CocoaError)?.code) }
    }
}
