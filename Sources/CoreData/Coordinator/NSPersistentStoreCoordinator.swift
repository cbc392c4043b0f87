// swift-format-ignore-file: AmbiguousTrailingClosureOverload

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
    /// Guards additions and removals as wholes, so that one URL is not added twice.
    private let changing = NSRecursiveLock()
    let runtime: ModelRuntime
    let generations = QueryGenerations()
    private let queue = DispatchQueue(label: "NSPersistentStoreCoordinator")
    /// The thread whose block the queue runs; 0 for none.
    private let owner = Atomic<UInt>(0)

    /// The model, frozen: to change it, copy it.
    public let managedObjectModel: NSManagedObjectModel

    /// Makes a coordinator of a model without entities, as a stand-in where one is wanted: nothing can be
    /// fetched or inserted through it.
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

    /// Where the stores that are added from then on, and contexts, take the time from.
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

    final func attachedStore(of store: NSPersistentStore) -> AttachedStore? {
        attachedStores.first { $0.store === store }
    }

    final func store(withIdentifier identifier: String) -> AttachedStore? {
        let stores = attachedStores
        // Nearly every one is written as its store writes it.
        return stores.first { $0.identifier == identifier }
            ?? stores.first { $0.identifier.caseInsensitiveCompare(identifier) == .orderedSame }
    }

    /// The stores that have the entity or one below it.
    final func stores(for entity: EntityRuntime, affected: [NSPersistentStore]?) -> [AttachedStore] {
        attachedStores.filter { store in
            if let affected, !affected.isEmpty, !affected.contains(where: { $0 === store.store }) { return false }
            return entity.compiled.subtree.contains { store.source.includes(entity: $0) }
        }
    }

    final var hasUnsavedMetadata: Bool { attachedStores.contains { $0.hasUnsavedMetadata } }

    /// Opens a store, or makes it where there is none, and adds it.
    ///
    /// - Parameters:
    ///   - storeType: `NSSQLiteStoreType`, `NSInMemoryStoreType`, `NSXMLStoreType`, `NSBinaryStoreType`, or one that was
    ///     registered.
    ///   - configuration: the configuration whose entities the store has; `nil` for all.
    ///   - storeURL: the file; ignored in memory. `/dev/null` makes an SQLite store in memory.
    ///   - options: `NSReadOnlyPersistentStoreOption` and the others of this module.
    /// A store of another model is migrated first where the options ask for it:
    /// `NSMigratePersistentStoresAutomaticallyOption`
    /// and, for a mapping that is inferred, `NSInferMappingModelAutomaticallyOption`.
    ///
    /// The folder of a store that is made is made, too, where it is missing.
    ///
    /// - Throws: 134100 when the store is of another model, with what differs; 134110 to 134140 when it cannot be
    ///   migrated; 260 when it is to be read only and not there, 134080 when the coordinator has it, or another one of its UUID,
    ///   as a copy has; 257 and 513 without the right to read or write it, 262 for a URL of no file; 134080, 259 and others when it
    ///   cannot be opened. Nothing is left of a store that could not be made.
    @discardableResult
    open func addPersistentStore(
        ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        let storeType = ServerStores.shared.type(storeType, at: storeURL)
        try Self.checkType(storeType)
        let isFile = AttachedStore.isFileType(storeType)
        if let storeURL, isFile { try CoreDataErrors.checkIsFile(storeURL) }
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
                try AttachedStore.open(
                    type: storeType, configuration: configuration, url: storeURL, options: options, index: index,
                    coordinator: self)
            }
        }
        guard let storeURL, isFile, makes else { return try add() }
        return try StoreFolder.making(for: storeURL, add)
    }

    /// Adds the store that `open` makes with its number among the coordinator's; `makes` tells whether it may make a
    /// file.
    final func attach(
        at url: URL?, makes: @autoclosure () -> Bool = false, _ open: (Int32) throws -> AttachedStore
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
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
            userInfo: [NSAddedPersistentStoresKey: [store.store]])
        return store.store
    }

    /// Opens a store, or makes it where there is none, and adds it.
    @discardableResult
    public final func addPersistentStore(
        type: NSPersistentStore.StoreType, configuration: String? = nil, at storeURL: URL,
        options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStore {
        try addPersistentStore(
            ofType: type.rawValue, configurationName: configuration, at: storeURL, options: options)
    }

    /// Adds the store that the description tells of, now or on a queue of its own.
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
        guard let attached = attachedStore(of: store) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "The store is not attached to this coordinator.")
        }
        store.willRemove(from: self)
        NotificationCenter.default.post(name: .NSPersistentStoreCoordinatorWillRemoveStore, object: store)
        state.withLock { $0.stores.removeAll { $0 === attached } }
        attached.close()
        NotificationCenter.default.post(
            name: .NSPersistentStoreCoordinatorStoresDidChange, object: self,
            userInfo: [NSRemovedPersistentStoresKey: [store]])
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

    /// Where the store lies.
    open func url(for store: NSPersistentStore) -> URL { store.url ?? URL(fileURLWithPath: "/dev/null") }

    // MARK: IDs

    /// The ID that a URI names; `nil` where no attached store has its UUID or the model has no such entity.
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

    /// Says where an attached store lies from now on, after its file was copied or moved there with all that is beside it:
    /// the connections to the old file are closed, and others made to the new one.
    ///
    ///     try coordinator.copyPersistentStore(store, to: archive)
    ///     coordinator.setURL(archive, for: store)
    ///
    /// Do not copy the file of an attached SQLite store with `FileManager`: closing any descriptor of it releases the locks that this
    /// process has on it.
    ///
    /// An XML or binary store may be sent where nothing is yet: its next save makes the file, with all that it has.
    ///
    /// Waits until what is being read or written has ended.
    ///
    /// - Returns: whether it does; `false`, with a message in the log, where something else than that store is at the URL: then it lies where
    ///   it lay.
    @discardableResult
    open func setURL(_ url: URL, for store: NSPersistentStore) -> Bool { moveURL(url, for: store) }

    /// Takes a store away, with its log and its external data: every row is gone, and of an SQLite store an empty file is left,
    /// which others may be about to open.
    ///
    ///     try coordinator.destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
    ///     try coordinator.addPersistentStore(type: .sqlite, at: url)          // a new one
    ///
    /// A store of this coordinator is removed from it first. Where there is no file nothing happens, and to a store in memory
    /// either.
    ///
    /// - Throws: 134090 when another coordinator or process uses the store, 513 when it cannot be written to or `options` say
    ///   that it is read-only, 259 and 134000 for a file that is no store, 518 for a URL of no file. The store is then as it
    ///   was.
    open func destroyPersistentStore(
        at url: URL, ofType storeType: String, options: [AnyHashable: Any]? = nil
    ) throws { try destroyStore(at: url, ofType: storeType, options: options) }

    /// Puts a copy of a store, with its external data, in the place of another one, or where there is none.
    ///
    ///     try coordinator.replacePersistentStore(
    ///         at: url, withPersistentStoreFrom: backup, ofType: NSSQLiteStoreType)
    ///
    /// The copy has the UUID of the source, so that its objects' IDs are the same. The source may be in use: it is copied as it
    /// is at one moment. The destination is replaced in one transaction: a crash leaves the old store or the new one. If this
    /// coordinator has it, it is removed first and can be added again.
    ///
    /// - Throws: 134090 when another coordinator or process uses the destination, 260 where there is no source, 259 and 134000
    ///   for a file that is no store, 513 when it cannot be written to, 262 and 518 for a URL of no file. The destination is then
    ///   as it was. Its folder is made where it is missing.
    open func replacePersistentStore(
        at destinationURL: URL, destinationOptions: [AnyHashable: Any]? = nil,
        withPersistentStoreFrom sourceURL: URL, sourceOptions: [AnyHashable: Any]? = nil, ofType storeType: String
    ) throws {
        try replaceStore(
            at: destinationURL, destinationOptions: destinationOptions, withPersistentStoreFrom: sourceURL,
            sourceOptions: sourceOptions, ofType: storeType)
    }

    /// The store's metadata, as it is or as the next save will write it.
    open func metadata(for store: NSPersistentStore) -> [String: Any] { presentMetadata(for: store) }

    /// Puts metadata on a store; the next save of a context writes it.
    ///
    /// What the store itself needs stays in it, whether or not the dictionary has it.
    open func setMetadata(_ metadata: [String: Any]?, for store: NSPersistentStore) {
        putMetadata(metadata, for: store)
    }

    // MARK: Requests

    /// Does what the request says, for a context.
    ///
    /// - Returns: objects, IDs, dictionaries or a number in an array for a fetch request, an ``NSPersistentHistoryResult`` for
    ///   a history request, the result of a batch request.
    /// - Throws: 134091 for requests of other kinds, and what those may throw.
    open func execute(_ request: NSPersistentStoreRequest, with context: NSManagedObjectContext) throws -> Any {
        try executeRequest(request, with: context)
    }

    /// Where the histories of the stores stand; `nil` where none of them keeps one, or it cannot be read.
    ///
    /// - Parameter stores: `NSPersistentStore`s of this coordinator; all of its stores for `nil` or none.
    open func currentPersistentHistoryToken(fromStores stores: [Any]?) -> NSPersistentHistoryToken? {
        historyToken(fromStores: stores)
    }

    // MARK: Queue

    /// Runs the block on the coordinator's queue, later.
    @preconcurrency
    open func perform(_ block: @escaping @Sendable () -> Void) { queue.async { self.owning(block) } }

    /// Runs the block on the coordinator's queue and waits for it.
    ///
    /// A block that the queue runs may call it again: the inner block runs at once.
    open func performAndWait(_ block: () -> Void) { runAndWait(block) }

    /// Runs the block on the coordinator's queue, waits for it and returns its result.
    @discardableResult
    public final func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try runAndWait(block) }

    private final func runAndWait<T>(_ block: () throws -> T) rethrows -> T {
        // To wait for the queue inside one of its own blocks would stop the program.
        if owner.load(ordering: .relaxed) == Self.thread { return try block() }
        return try queue.sync { try owning(block) }
    }

    /// Runs the block, which the queue has begun, with its thread as the owner of the queue.
    private final func owning<T>(_ block: () throws -> T) rethrows -> T {
        owner.store(Self.thread, ordering: .relaxed)
        defer { owner.store(0, ordering: .relaxed) }
        return try block()
    }

    /// The calling thread.
    private static var thread: UInt { UInt(bitPattern: Unmanaged.passUnretained(Thread.current).toOpaque()) }

    /// Runs the block on the coordinator's queue and returns its result.
    @preconcurrency
    public final func perform<T>(
        isolation: isolated (any Actor)? = #isolation, _ block: @escaping @Sendable () throws -> T
    ) async rethrows -> T {
        try await queue.result(of: block, within: { body in self.owning(body) }, rescue: { throw $0 })
    }
}
