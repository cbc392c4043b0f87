import CoreDataSQL
import CoreDataStore
import Foundation

// Moving a store to another place or type, and copying one that is in use.
extension NSPersistentStoreCoordinator {
    /// Moves the content of an attached store to a new store, of the same type or another, which replaces it in the
    /// coordinator.
    ///
    ///     let archive = try coordinator.migratePersistentStore(store, to: url, type: .xml)
    ///
    /// Rows are copied in portions, not as objects: memory is bounded if the new store is an SQLite store. The new
    /// store has its own UUID, the metadata of the old one, and its own external data. Rows keep their keys, so an
    /// object's new URI differs from its old one only in the UUID; except in XML stores, where ids are unique in the
    /// file.
    ///
    /// The old store is removed from the coordinator, and its file stays. Notifications: stores did change (added),
    /// store will be removed, stores did change (removed), stores did change with ``NSUUIDChangedPersistentStoresKey``:
    /// the old store and the new one.
    ///
    /// Differs from Apple: objects of the old store in contexts are not redirected to the new one. Fetch them again, or
    /// find them by their new IDs.
    ///
    /// - Parameters:
    ///   - store: a store of this coordinator.
    ///   - url: the place of the new store.
    ///   - options: the options of the new store.
    ///   - storeType: the type of the new store.
    /// - Throws: 516 if a file exists there, 134010 for a registered type, and the errors of adding a store and saving.
    ///   The old store then stays in the coordinator, and nothing is left of the new one.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, withType storeType: String
    ) throws -> NSPersistentStore {
        let storeType = ServerStores.shared.type(storeType, at: url)
        try Self.checkType(storeType)
        let url = try StoreLocations.shared.location(of: url, options) ?? url
        return try whileChanging {
            guard let old = attachedStore(of: store) else {
                throw CoreDataErrors.make(
                    NSPersistentStoreOperationError, "The store is not attached to this coordinator.")
            }
            try Self.checkTarget(url, storeType)
            let new = try attach(at: url, makes: true) { index in
                try self.copy(old, to: url, type: storeType, options: options, index: index)
            }
            try remove(store)
            NotificationCenter.default.post(
                name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
                userInfo: [NSUUIDChangedPersistentStoresKey: [store, new]])
            return new
        }
    }

    /// Moves the content of an attached store to a new store; see ``migratePersistentStore(_:to:options:withType:)``.
    @discardableResult
    public final func migratePersistentStore(
        _ store: NSPersistentStore, to url: URL, options: [AnyHashable: Any]? = nil, type: NSPersistentStore.StoreType
    ) throws -> NSPersistentStore {
        try migratePersistentStore(store, to: url, options: options, withType: type.rawValue)
    }

    /// Copies an attached store, which may be in use, with its log and its external data, in its state at one moment.
    /// Unsaved changes of contexts are not in the copy.
    ///
    ///     try coordinator.copyPersistentStore(store, to: backup)
    ///
    /// The copy has the UUID of the store, so the IDs of its objects are the same. Apple's framework has no such
    /// method: there, files are copied, and the log is easily forgotten.
    ///
    /// - Throws: 516 if a file exists there, 512 if its folder does not exist, an error for a store without a file.
    public final func copyPersistentStore(_ store: NSPersistentStore, to url: URL) throws {
        guard attachedStore(of: store) != nil, let source = store.url, AttachedStore.isFileType(store.type),
            !source.isNullDevice
        else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError,
                "Only an attached store that is in a file can be copied; migratePersistentStore(_:to:type:) moves others."
            )
        }
        try Self.checkTarget(url, store.type)
        var options = store.options ?? [:]
        options[NSReadOnlyPersistentStoreOption] = nil
        try StoreFolder.making(for: url) {
            // Moved to its place when it is complete, and never over a file that was created there meanwhile.
            guard let place = NewStorePlace(for: url) else { throw CoreDataErrors.nothingBeside(url, errno) }
            try replacePersistentStore(
                at: place.url, withPersistentStoreFrom: source, sourceOptions: options, ofType: store.type)
            try place.put(at: url, type: store.type)
        }
    }

    /// - Throws: an error if something would be lost.
    static func checkTarget(_ url: URL, _ storeType: String) throws {
        if ServerStores.shared.driver(ofType: storeType) != nil {
            guard try AttachedStore.isTakenOnServer(url) else { return }
            throw CoreDataErrors.make(
                CocoaError.Code.fileWriteFileExists.rawValue,
                "There is something at '\(ServerStores.shared.shown(url).absoluteString)' already: destroy the store there first, or choose another schema.",
                [NSURLErrorKey: ServerStores.shared.shown(url)])
        }
        guard AttachedStore.isFileType(storeType) else {
            guard storeType != NSInMemoryStoreType else { return }
            throw CoreDataErrors.make(
                NSPersistentStoreTypeMismatchError,
                "A store of the registered type '\(storeType)' is no target of a migration: add it, and save objects to it."
            )
        }
        try CoreDataErrors.checkIsStoreFile(url, .fileWriteUnsupportedScheme)
        guard !url.isNullDevice, (FileSize.of(url.path) ?? 0) > 0 else { return }
        throw CoreDataErrors.make(
            CocoaError.Code.fileWriteFileExists.rawValue,
            "There is a file at '\(url.path)' already: destroy the store there first, or choose another place.",
            [NSFilePathErrorKey: url.path])
    }

    /// How a copy to a server that was interrupted is continued.
    struct CopyResumption {
        /// Equal for the same source in the same state, and for nothing else.
        var purpose: String
        /// Returns whether the result is a copy.
        var isWhole: (any RowSource) throws -> Bool
        /// Told how many objects and links were there already.
        var found: (Int) -> Void
    }

    /// - Parameter resumption: if given, a failed copy to a server leaves its rows there.
    final func copy(
        _ old: AttachedStore, to url: URL, type: String, options: [AnyHashable: Any]?, index: Int32,
        resumption: CopyResumption? = nil, progress: @escaping (Int) -> Void = { _ in }
    ) throws -> AttachedStore {
        func copied() throws -> AttachedStore {
            try copyInFolder(
                old, to: url, type: type, options: options, index: index, resumption: resumption, progress: progress)
        }
        return AttachedStore.isFileType(type) ? try StoreFolder.making(for: url, copied) : try copied()
    }

    private func copyInFolder(
        _ old: AttachedStore, to url: URL, type: String, options: [AnyHashable: Any]?, index: Int32,
        resumption: CopyResumption?, progress: @escaping (Int) -> Void
    ) throws -> AttachedStore {
        let configuration = old.store.openingConfiguration
        func open(_ url: URL) throws -> AttachedStore {
            try openStore(type: type, configuration: configuration, url: url, options: options, index: index)
        }
        // An incomplete store must not be found at the URL.
        let isFile = AttachedStore.isFileType(type) && !url.isNullDevice
        // Of a store that is written as a whole there is nothing to go on with.
        let purpose = type == NSSQLiteStoreType || !isFile ? resumption?.purpose : nil
        let place = isFile ? NewStorePlace(for: url, purpose: purpose) : nil
        let obstacle = isFile && place == nil ? errno : 0
        let isServer = ServerStores.shared.driver(ofType: type) != nil
        let serverPlace = isServer ? try ServerPlace(for: url, options, purpose: purpose) : nil
        func leave(_ isLeft: Bool) {
            serverPlace?.isLeft = isLeft
            place?.isLeft = isLeft
        }
        func again() throws -> AttachedStore {
            try serverPlace?.clear()
            try place?.clear()
            leave(false)
            return try copyInFolder(
                old, to: url, type: type, options: options, index: index, resumption: resumption, progress: progress)
        }
        let isFound = serverPlace?.isFound ?? place?.isFound ?? false
        leave(purpose != nil)
        let new: AttachedStore
        do { new = try open(serverPlace?.url ?? place?.url ?? url) } catch {
            // There is no store yet: that is not the error.
            if obstacle != 0, (error as? StoreFailure)?.kind == .cannotOpen {
                throw CoreDataErrors.nothingBeside(url, obstacle)
            }
            // The leftover is no store.
            guard isFound, !Self.mayPass(error) else { throw error }
            return try again()
        }
        var isWriting = false
        do {
            var rows = RowCopy(from: old.target, to: new.target, model: compiledModel)
            rows.progress = progress
            rows.goesOn = isFound
            rows.writing = { isWriting = $0 }
            if let resumption { rows.found = resumption.found }
            try rows.run()
            try copyMetadata(of: old, to: new)
            if isFound, try resumption?.isWhole(new.target) == false {
                new.close()
                return try again()
            }
        } catch {
            new.close()
            let kind = (error as? SQLFailure)?.kind
            if isFound, kind == .constraint { return try again() }
            // Others need the space.
            if kind == .full { leave(false) }
            throw CoreDataErrors.converted(error, store: isWriting ? new : old, context: nil)
        }
        if let serverPlace {
            new.close()
            try AttachedStore.converting(url) { try serverPlace.put() }
            return try open(url)
        }
        guard let place else { return new }
        new.close()
        try place.put(at: url, type: type)
        leave(false)
        return try open(url)
    }

    /// Returns whether a server's error has nothing to do with the existing content.
    private static func mayPass(_ error: any Error) -> Bool {
        if error is StoreFailure { return false }
        guard let failure = error as? SQLFailure else { return true }
        return [.disconnected, .busy, .full, .readOnly, .unreadable, .cannotOpen, .interrupted, .timedOut].contains(
            failure.kind)
    }

    /// Copies the metadata of the program, including values that no save has written yet.
    private func copyMetadata(of old: AttachedStore, to new: AttachedStore) throws {
        var dictionary: [String: Any] = old.store.metadata
        let own = try new.target.metadata().metadata.dictionary
        for key in StoreMetadata.Key.kept + [StoreMetadata.Key.identifier] { dictionary[key] = own[key] }
        let former = try old.target.metadata().metadata.formerVersions
        if !former.isEmpty { dictionary[StoreMetadata.Key.formerVersions] = former }
        guard dictionary.count > own.count else { return }
        let metadata = try StoreMetadata(dictionary: dictionary)
        _ = try new.target.save(keys: [:]) { _ in
            var changes = ChangeSet()
            changes.metadata = metadata
            return changes
        }
        let row = try new.target.metadata()
        new.store.state.withLock { $0.metadata = .stored(row) }
    }
}
