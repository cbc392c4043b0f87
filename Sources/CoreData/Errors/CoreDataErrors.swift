import CoreDataStore
import Foundation

/// Makes the errors that users see: `CocoaError` with Apple's codes and keys. No other type makes them.
enum CoreDataErrors {
    static func make(_ code: Int, _ message: String, _ userInfo: [String: Any] = [:]) -> CocoaError {
        var userInfo = userInfo
        userInfo[NSLocalizedDescriptionKey] = message
        return CocoaError(CocoaError.Code(rawValue: code), userInfo: userInfo)
    }

    /// - Throws: an error for a URL that is not a file URL: its path would name another file.
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

    /// - Throws: the errors of ``checkIsFile(_:_:)`` for a store in a file; 134080 for a path whose symbolic links form
    ///   a cycle. The error is the same for every type of store and every operation.
    static func checkIsStoreFile(_ url: URL, _ code: CocoaError.Code = .fileReadUnsupportedScheme) throws {
        try checkIsFile(url, code)
        guard url.isFileURL, FileLink.isLoop(url.path) else { return }
        throw make(
            NSPersistentStoreOpenError,
            "There can be no store at '\(url.path)': the symbolic links of this path lead round in a circle, or are too many. Make a link lead to a file or a folder.",
            [NSFilePathErrorKey: url.path])
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

    /// Another process has made a file at the place of a new store while that was made.
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

    /// A save called code that tried to save the same context. Apple's framework has this code and no name for it.
    static func recursiveSave(_ context: String) -> CocoaError {
        make(
            132001,
            """
            Attempt to recursively call save() on the context \(context) aborted: it was called by a hook, a validation method, an \
            observer or a merge policy of a save that runs. That save goes on, and saves what was changed before it writes; save() \
            may be called after it.
            """)
    }

    static func noStore(of uri: URL) -> CocoaError {
        make(
            NSManagedObjectReferentialIntegrityError,
            "No store of the context has \(uri): its store is not attached, or the model has no such entity.",
            [NSURLErrorKey: uri])
    }

    /// Returns `nil`, the single error, or a 1560 with all of them; a 1560 among them is replaced by its errors.
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
}

extension URL {
    /// Whether the URL stands for a store without a file.
    package var isNullDevice: Bool {
        // Few URLs are, and splitting a path costs more than reading its end.
        relativeString.utf8.last == UInt8(ascii: "l") && path == "/dev/null" && (isFileURL || scheme == nil)
    }

    /// Whether the URL is that of a store's file.
    package var isStoreFile: Bool { isFileURL && !isNullDevice }
}
