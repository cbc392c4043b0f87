import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import Synchronization

/// Maps a model to stores: contexts fetch from it and save to it.
///
/// Safe to use from any thread.
///
///     let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
///     try coordinator.addPersistentStore(type: .sqlite, at: url)
///     let context = NSManagedObjectContext(.privateQueue)
///     context.persistentStoreCoordinator = coordinator
open class NSPersistentStoreCoordinator: NSObject, @unchecked Sendable {
    // Safe because `state` guards what changes, and the model is frozen.

    private struct State {
        var stores: [AttachedStore] = []
        var nextIndex: Int32 = 1
        var name: String?
        var clock = StoreClock.system
    }

    /// Guards the list of stores, the name and the clock.
    private let state = Mutex(State())
    /// Makes additions and removals atomic, so that one URL is not added twice.
    private let changing = NSRecursiveLock()
    let runtime: ModelRuntime
    let generations = QueryGenerations()
    let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    /// The thread whose block the queue runs; 0 for none.
    let owner = Atomic<UInt>(0)

    /// The model, frozen: to change it, copy it.
    public let managedObjectModel: NSManagedObjectModel

    /// Creates a placeholder: a coordinator of a model without entities, through which nothing can be fetched or
    /// inserted.
    public convenience override init() { self.init(managedObjectModel: NSManagedObjectModel()) }

    /// Makes a coordinator without stores; the model can no longer be changed.
    ///
    /// - Precondition: the model is valid; ``init(validating:)`` throws its diagnostics instead.
    public required init(managedObjectModel model: NSManagedObjectModel) {
        managedObjectModel = model
        do { runtime = try CoreDataErrors.converting { try ModelRuntime(model) } } catch {
            preconditionFailure("The model is not valid:\n\(error.localizedDescription)")
        }
        super.init()
        ManagedObjectClasses.shared.note(runtime)
    }

    /// Makes a coordinator without stores, or throws everything that is wrong with the model.
    public init(validating model: NSManagedObjectModel) throws {
        managedObjectModel = model
        runtime = try CoreDataErrors.converting { try ModelRuntime(model) }
        super.init()
        ManagedObjectClasses.shared.note(runtime)
    }

    deinit {
        for store in state.withLock({ $0.stores }) { store.close() }
    }

    /// A name for messages and logs.
    open var name: String? {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    /// The source of time for contexts and for stores that are added later.
    package final var clock: StoreClock {
        get { state.withLock { $0.clock } }
        set { state.withLock { $0.clock = newValue } }
    }

    // MARK: Stores

    /// The stores, in the order in which they were added.
    open var persistentStores: [NSPersistentStore] { attachedStores.map(\.store) }

    final var attachedStores: [AttachedStore] { state.withLock { $0.stores } }

    final func store(at index: Int32) -> AttachedStore? {
        state.withLock { state in state.stores.first { $0.index == index } }
    }

    /// Opens a store, or makes it if it does not exist, and adds it.
    ///
    /// A store of another model is migrated first if the options request that:
    /// `NSMigratePersistentStoresAutomaticallyOption` and, for an inferred mapping,
    /// `NSInferMappingModelAutomaticallyOption`. If the folder of a new store does not exist, it is made.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType`, `NSInMemoryStoreType`, `NSXMLStoreType`, `NSBinaryStoreType`, or a
    ///     registered type.
    ///   - configuration: the configuration whose entities the store has; `nil` for all.
    ///   - storeURL: the file; ignored in memory. `/dev/null` makes an SQLite store in memory.
    ///   - options: `NSReadOnlyPersistentStoreOption` and the others of this module.
    /// - Throws: 134100 if the store is of another model, with the differences; 134110 to 134140 if it cannot be
    ///   migrated; 260 if a read-only store does not exist; 134080 if the coordinator already has it, or has another
    ///   one with its UUID, such as a copy; 257 and 513 without the right to read or write it; 262 for a URL of no
    ///   file; 134080, 259 and others if it cannot be opened. Nothing is left of a store that could not be made.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let storeType = ServerStores.shared.type(storeType, at: storeURL)
        try Self.checkType(storeType)
        let storeURL = try StoreLocations.shared.location(of: storeURL, options)
        let isFile = AttachedStore.isFileType(storeType)
        if let storeURL, isFile { try CoreDataErrors.checkIsStoreFile(storeURL) }
        changing.lock()
        defer { changing.unlock() }
        let isServer = ServerStores.shared.driver(ofType: storeType) != nil
        if let storeURL, isFile || isServer, !storeURL.isNullDevice, let store = persistentStore(for: storeURL) {
            let place = isFile ? storeURL.path : store.url?.absoluteString ?? ""
            throw CoreDataErrors.make(
                NSPersistentStoreOpenError, "The store \(place) is attached to this coordinator already.")
        }
        if isFile || isServer, storeURL == nil {
            throw CoreDataErrors.make(NSPersistentStoreOpenError, "A store of type \(storeType) needs a URL.")
        }
        let makes = (options?[NSReadOnlyPersistentStoreOption] as? NSNumber)?.boolValue != true
        func add() throws -> NSPersistentStore {
            try attach(at: storeURL, makes: makes) { index in
                try openStore(
                    type: storeType, configuration: configuration, url: storeURL, options: options, index: index)
            }
        }
        guard let storeURL, isFile, makes else { return try add() }
        return try StoreFolder.making(for: storeURL, add)
    }

    /// Adds the store that `open` makes with its number among the coordinator's stores; `makes` says whether it may
    /// make a file.
    final func attach(
        at url: URL?, makes: @autoclosure () -> Bool = false, notifies: Bool = true,
        _ open: (Int32) throws -> AttachedStore
    ) throws -> NSPersistentStore {
        changing.lock()
        defer { changing.unlock() }
        let index = state.withLock { state in
            defer { state.nextIndex += 1 }
            return state.nextIndex
        }
        let store: AttachedStore
        do {
            store = try open(index)
        } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: url.map(ServerStores.shared.shown), makes: makes())
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
        // A file and a server are reached by many URLs, and a copy of a store is called as that is.
        if let known = self.store(withIdentifier: store.identifier) {
            store.close()
            throw CoreDataErrors.sameIdentifier(store.url ?? url, as: known.store, store.identifier)
        }
        state.withLock { $0.stores.append(store) }
        store.store.didAdd(to: self)
        guard notifies else { return store.store }
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
            userInfo: [NSAddedPersistentStoresKey: [store.store]])
        return store.store
    }

    /// Opens a store, or makes it if it does not exist, and adds it.
    @discardableResult
    public final func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds the store of the description, now or on a queue of its own.
    open func addPersistentStore(
        with storeDescription: NSPersistentStoreDescription,
        completionHandler block: @escaping (NSPersistentStoreDescription, (any Error)?) -> Void
    ) {
        let work = Transfer {
            do {
                // Own classes of stores and coordinators get what Foundation makes of the pragmas.
                let isOurs = type(of: self) == NSPersistentStoreCoordinator.self
                let type = storeDescription.type
                try self.addPersistentStore(
                    ofType: type, configurationName: storeDescription.configuration, at: storeDescription.url,
                    options: isOurs && type == NSSQLiteStoreType
                        ? storeDescription.openingOptions : storeDescription.options)
                block(storeDescription, nil)
            } catch { block(storeDescription, error) }
        }
        if storeDescription.shouldAddStoreAsynchronously {
            DispatchQueue.global().async { work.value() }
        } else {
            work.value()
        }
    }

    /// Takes a store off; its objects' faults can no longer fire.
    open func remove(_ store: NSPersistentStore) throws {
        changing.lock()
        defer { changing.unlock() }
        try detach(store)
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
    }

    /// Takes a store off, and tells only that it will be.
    final func detach(_ store: NSPersistentStore) throws {
        guard let attached = attachedStore(of: store) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "The store is not attached to this coordinator.")
        }
        store.willRemove(from: self)
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        state.withLock { $0.stores.removeAll { $0 === attached } }
        attached.close()
    }

    /// Runs the body while no store is added or removed.
    final func whileChanging<R>(_ body: () throws -> R) rethrows -> R {
        changing.lock()
        defer { changing.unlock() }
        return try body()
    }

    /// The store at that URL, if it is attached.
    open func persistentStore(for URL: URL) -> NSPersistentStore? {
        let persistentStores = persistentStores
        guard !persistentStores.isEmpty else { return nil }
        guard URL.isFileURL else {
            let shown = ServerStores.shared.shown(URL)
            return persistentStores.first { $0.url == shown }
        }
        let path = URL.standardizedFileURL.path
        let files = persistentStores.filter { $0.url?.isFileURL == true }
        return files.first { $0.url?.standardizedFileURL.path == path }
            ?? files.first { store in store.url.map { FileLink.isSameFile($0.path, path) } ?? false }
    }

    /// Returns the URL of the store.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    // MARK: IDs

    /// Returns the ID of a URI; `nil` if no attached store has its UUID or the model has no such entity.
    open func managedObjectID(forURIRepresentation url: URL) -> NSManagedObjectID? {
        guard let uri = ObjectURI(url.absoluteString), let entity = runtime.entity(named: uri.entity) else {
            return nil
        }
        if let key = NSManagedObjectID.temporaryKey(ofReference: uri.reference) {
            return NSManagedObjectID(runtime: entity, primaryKey: key, store: nil)
        }
        guard uri.reference.hasPrefix("p"),
            let store = attachedStores.first(where: {
                $0.identifier.caseInsensitiveCompare(uri.store) == .orderedSame
            })
        else { return nil }
        let text = String(uri.reference.dropFirst())
        guard let key = store.references?.key(ofText: text, entity: entity) ?? Int64(text), key > 0 else { return nil }
        return NSManagedObjectID(runtime: entity, primaryKey: key, store: store)
    }

    /// The ID that a URI in a string names; see ``managedObjectID(forURIRepresentation:)``.
    public final func managedObjectID(for string: String) -> NSManagedObjectID? {
        URL(string: string).flatMap { managedObjectID(forURIRepresentation: $0) }
    }

    // MARK: Files and metadata

    /// Sets the URL of an attached store, after its file was copied or moved there with all files that belong to it.
    /// Closes the connections to the old file, and opens others to the new one.
    ///
    ///     try coordinator.copyPersistentStore(store, to: archive)
    ///     coordinator.setURL(archive, for: store)
    ///
    /// Do not copy the file of an attached SQLite store with `FileManager`: closing any descriptor of it releases the
    /// locks that this process has on it.
    ///
    /// The new URL of an XML or binary store may be a place without a file: the next save makes the file with the whole
    /// content.
    ///
    /// Waits until running reads and writes have ended.
    ///
    /// - Returns: whether it succeeded; `false`, with a message in the log, if something else than that store is at the
    ///   URL: then the store keeps its URL.
    @discardableResult
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { moveURL(url, for: store) }

    /// Destroys a store, with its log and its external data. Of an SQLite store an empty file is left, since other
    /// processes may be about to open it.
    ///
    ///     try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    ///     try coordinator.addPersistentStore(type: .sqlite, at: url)          // a new one
    ///
    /// A store of this coordinator is removed from it first. Without a file, and for a store in memory, nothing
    /// happens.
    ///
    /// - Throws: 134090 if another coordinator or process uses the store, 513 if it cannot be written or `options` say
    ///   that it is read-only, 259 and 134000 for a file that is no store, 518 for a URL of no file. The store is then
    ///   unchanged.
    open func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws { try destroyStore(at: url, ofType: storeType, options: options) }

    /// Replaces a store by a copy of another one, with its external data; or makes the copy if the destination does not
    /// exist.
    ///
    ///     try coordinator.replacePersistentStore(
    ///         at: url, withPersistentStoreFrom: backup, ofType: NSSQLiteStoreType)
    ///
    /// The copy has the UUID of the source, so the IDs of its objects are the same. The source may be in use: it is
    /// copied in its state at one moment. The destination is replaced in one transaction: a crash leaves the old store
    /// or the new one. If this coordinator has the destination, it is removed first and can be added again. If its
    /// folder does not exist, it is made.
    ///
    /// - Throws: 134090 if another coordinator or process uses the destination, 260 if there is no source, 259 and
    ///   134000 for a file that is no store, 513 if it cannot be written, 262 and 518 for a URL of no file. The
    ///   destination is then unchanged.
    open func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try replaceStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: storeType)
    }

    /// Returns the store's metadata, as stored or as the next save will write them.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { presentMetadata(for: store) }

    /// Sets the metadata of a store; the next save of a context writes them.
    ///
    /// The entries that the store itself needs stay, whether or not the dictionary has them.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        putMetadata(metadata, for: store)
    }

    // MARK: Requests

    /// Executes the request for a context.
    ///
    /// - Returns: objects, IDs, dictionaries or a number in an array for a fetch request, an
    ///   ``NSPersistentHistoryResult`` for a history request, the result of a batch request.
    /// - Throws: 134091 for requests of other kinds, and the errors of the request.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        try executeRequest(request, with: context)
    }

    /// Returns the current positions of the stores' histories; `nil` if no store has one, or if they cannot be read.
    ///
    /// - Parameter stores: `NSPersistentStore`s of this coordinator; all of its stores for `nil` or an empty list.
    open func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        historyToken(fromStores: stores)
    }

    // MARK: Queue

    /// Runs the block on the coordinator's queue, later.
    @preconcurrency
    open func perform(_ block: @escaping @Sendable () -> Void) { queue.async { self.owning(block) } }

    /// Runs the block on the coordinator's queue and waits for it.
    ///
    /// A block that the queue runs may call it again: the inner block runs immediately.
    open func performAndWait(_ block: () -> Void) { runAndWait(block) }
}
