import CoreDataStore
import Foundation

// The files of stores: destroying, replacing and moving them.
extension NSPersistentStoreCoordinator {
    @discardableResult
    /// Implements the open method of the class.
    final func moveURL(_ url: URL, for store: NSPersistentStore) -> Bool {
        do {
            try whileChanging {
                guard let attached = attachedStore(of: store) else {
                    throw CoreDataErrors.make(
                        NSPersistentStoreOperationError, "The store is not attached to this coordinator.")
                }
                if let other = persistentStore(for: url), other !== store {
                    throw CoreDataErrors.make(
                        NSPersistentStoreOperationError, "Another store of this coordinator lies at '\(url.path)'.")
                }
                try attached.move(to: url)
            }
            return true
        } catch {
            CoreDataLog.general.error("setURL(_:for:): \(error.localizedDescription)")
            return false
        }
    }

    /// The classes of stores that can be added, by their types' names.
    ///
    ///     var address: UInt = 0
    ///     NSPersistentStoreCoordinator.registeredStoreTypes[NSSQLiteStoreType]?.getValue(&address)
    ///     let storeClass: AnyClass = unsafeBitCast(address, to: AnyClass.self)
    ///
    /// Differs from Apple: each value holds the class's address as an unsigned number, as Foundation's has none for
    /// pointers.
    public class var registeredStoreTypes: [String: NSValue] {
        AttachedStore.classes.mapValues { storeClass in
            var address = unsafeBitCast(storeClass as AnyClass, to: UInt.self)
            return NSValue(bytes: &address, objCType: "Q")
        }
    }

    /// Implements the open method of the class.
    final func destroyStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws {
        try Self.checkType(storeType)
        try Self.checkIsNoCustomType(storeType, "destroyed")
        if ServerStores.shared.driver(of: url) != nil {
            return try whileChanging {
                try AttachedStore.checkMayWrite(url, options)
                if let store = persistentStore(for: url) { try remove(store) }
                try AttachedStore.destroyOnServer(url, options)
            }
        }
        guard AttachedStore.isFileType(storeType), !url.isNullDevice else { return }
        try CoreDataErrors.checkIsStoreFile(url, .fileWriteUnsupportedScheme)
        try whileChanging {
            try AttachedStore.checkMayWrite(url, options)
            if let store = persistentStore(for: url) { try remove(store) }
            try AttachedStore.destroy(at: url, type: storeType, options)
        }
    }

    /// Takes a store away; see ``destroyPersistentStore(at:ofType:options:)``.
    public final func destroyPersistentStore(
        at url: URL, type: NSPersistentStore.StoreType, options: [AnyHashable: Any]? = nil
    ) throws {
        try destroyPersistentStore(at: url, ofType: type.rawValue, options: options)
    }

    /// Implements the open method of the class.
    final func replaceStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try Self.checkType(storeType)
        try Self.checkIsNoCustomType(storeType, "replaced")
        if [destinationURL, sourceURL].contains(where: { ServerStores.shared.driver(of: $0) != nil }) {
            return try replaceByCopying(
                destinationURL, destinationOptions, from: sourceURL, sourceOptions, ofType: storeType)
        }
        guard AttachedStore.isFileType(storeType), !destinationURL.isNullDevice, !sourceURL.isNullDevice else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "Only stores in files can be replaced, and by stores in files.")
        }
        try CoreDataErrors.checkIsStoreFile(sourceURL)
        try CoreDataErrors.checkIsStoreFile(destinationURL, .fileWriteUnsupportedScheme)
        // One file has several names by hard links and bind mounts, too.
        guard destinationURL.resolvingSymlinksInPath() != sourceURL.resolvingSymlinksInPath(),
            !FileLink.isSameFile(destinationURL.path, sourceURL.path)
        else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "The store '\(sourceURL.path)' cannot be replaced by itself.")
        }
        // A source that is no store is detected before the destination is changed.
        _ = try AttachedStore.metadata(of: sourceURL, type: storeType, sourceOptions)
        try whileChanging {
            try AttachedStore.checkMayWrite(destinationURL, destinationOptions)
            if let store = persistentStore(for: destinationURL) { try remove(store) }
            try StoreFolder.making(for: destinationURL) {
                try AttachedStore.replace(
                    at: destinationURL, type: storeType, destinationOptions, withStoreAt: sourceURL, sourceOptions)
            }
        }
    }

    /// Does the same if the source or the destination is on a server: copies the rows to a hidden place, and replaces
    /// the destination in one transaction.
    private func replaceByCopying(
        _ destination: URL, _ destinationOptions: [AnyHashable: Any]?, from source: URL,
        _ sourceOptions: [AnyHashable: Any]?, ofType storeType: String
    ) throws {
        guard storeType == NSSQLiteStoreType || ServerStores.shared.driver(ofType: storeType) != nil else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "A store on a server can be replaced by an SQLite store or one on a server, and replaces such a one; migratePersistentStore(_:to:type:) moves others."
            )
        }
        let shown = [destination, source].map(ServerStores.shared.shown)
        guard shown[0] != shown[1] else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "The store '\(shown[1].absoluteString)' cannot be replaced by itself.")
        }
        for url in [destination, source] where ServerStores.shared.driver(of: url) == nil {
            try CoreDataErrors.checkIsStoreFile(url)
        }
        try whileChanging {
            try AttachedStore.checkMayWrite(destination, destinationOptions)
            if let place = try ServerPlace(for: destination) {
                try AttachedStore.copy(source, sourceOptions, to: place.url)
                if let store = persistentStore(for: destination) { try remove(store) }
                return try AttachedStore.converting(destination) { try place.put(destinationOptions, replaces: true) }
            }
            try StoreFolder.making(for: destination) {
                guard let place = NewStorePlace(for: destination) else {
                    throw CoreDataErrors.make(
                        CocoaError.Code.fileWriteNoPermission.rawValue,
                        "Nothing can be written beside '\(destination.path)': \(String(cString: strerror(errno))).",
                        [NSFilePathErrorKey: destination.path])
                }
                defer { withExtendedLifetime(place) {} }
                try AttachedStore.copy(source, sourceOptions, to: place.url)
                try replaceStore(
                    at: destination, destinationOptions: destinationOptions, withPersistentStoreFrom: place.url,
                    ofType: NSSQLiteStoreType)
            }
        }
    }

    /// What files a store of the program's own class has is known to the class alone.
    private static func checkIsNoCustomType(_ storeType: String, _ what: String) throws {
        guard StoreClasses.shared.classes[storeType] != nil else { return }
        throw CoreDataErrors.make(
            NSPersistentStoreOperationError,
            "Stores of the registered type '\(storeType)' cannot be \(what): do it with the files that their class writes."
        )
    }

    /// Puts a copy of a store in the place of another one; see
    /// ``replacePersistentStore(at:destinationOptions:withPersistentStoreFrom:sourceOptions:ofType:)``.
    public final func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil,
        type: NSPersistentStore.StoreType
    ) throws {
        try replacePersistentStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: type.rawValue)
    }
}
