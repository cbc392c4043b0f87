import Foundation

/// A working area for objects: tracks inserted, changed and deleted objects, and saves them in one transaction.
///
/// Use a context and its objects inside `perform` or `performAndWait`; a main-queue context also directly on the main
/// thread. With the launch argument `-com.apple.CoreData.ConcurrencyDebug 1` every other use stops the program with a
/// message; without it debug builds log it, once per call site.
///
///     let items = try await context.perform {
///         let request = NSFetchRequest<Item>(entityName: "Item")
///         request.predicate = NSPredicate(format: "listed == YES")
///         return try context.fetch(request).map(\.objectID)     // SELECT … FROM ZITEM t0 WHERE t0.ZLISTED = ?
///     }
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // Safe because only the context's queue uses its variables. The registry and ChildContexts guard themselves.
    //
    // The class has the members that Apple names. Each calls an extension, one file for each concern. Its variables are
    // kept in parts, which are described in docs/architecture.md, "The parts of a context". A part is stored inline and
    // changed in place. Its accesses are not checked for overlaps, which would cost as much as setting a property:
    // nothing may call out while a part changes.

    // MARK: Confinement

    /// How the context is confined; set once.
    public nonisolated let concurrencyType: NSManagedObjectContextConcurrencyType
    /// The queue of a private-queue context.
    let queue: DispatchQueue?
    /// Whether any thread may use the context, one at a time, although it has a queue; false once something runs there.
    @exclusivity(unchecked) package final var isUnbound = false

    // MARK: Parts

    /// The registered objects, by store, entity and key.
    private(set) var registry: ObjectRegistry!
    /// The registry's address, to be compared with an object's without counting references.
    @exclusivity(unchecked) private(set) final var registryAddress: UnsafeMutableRawPointer?
    /// The coordinator of the context and its ancestors. Only ``takeCoordinator(_:)`` sets it.
    final var coordinator: NSPersistentStoreCoordinator?
    /// The parent; descendants read it from their queues.
    @exclusivity(unchecked) final var parentLink = ParentLink()
    /// The child contexts, and the facts that they read from their queues.
    final let children = ChildContexts()
    /// The coordinator's stores as this context reads them.
    @exclusivity(unchecked) final var storeView = StoreView()
    /// The settings of reads, and the failures of reads that could not throw.
    @exclusivity(unchecked) final var rowReading = RowReading()
    /// The homes that the context used last, and the forms of the rows that it writes.
    @exclusivity(unchecked) final var homeCache = HomeCache()
    /// The registered objects that the context keeps alive.
    @exclusivity(unchecked) final var retention = ObjectRetention()
    /// The changes since the last save, and since the last event.
    @exclusivity(unchecked) final var pendingChanges = PendingChanges()
    /// The saves that run at the moment.
    @exclusivity(unchecked) final var saveState = SaveState()
    /// The undo manager, and what undoing deletions needs.
    @exclusivity(unchecked) final var undoRecording = UndoRecording()
    /// The observers of the context's events, and the context's own observation of other contexts.
    @exclusivity(unchecked) final var observers = ContextObservers()
    /// The end of the main thread's turns, of blocks and of jobs.
    @exclusivity(unchecked) final var turns: TurnFollowing

    // MARK: Making

    /// Makes a context without a coordinator.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        concurrencyType = ct
        turns = TurnFollowing(watchesNextChange: ct == .mainQueueConcurrencyType)
        if ct == .mainQueueConcurrencyType { MainQueueWork.shared.prepare() }
        queue =
            ct == .privateQueueConcurrencyType
            // A private queue would take a thread of its own as soon as it has work; the global queue has as many
            // threads as processors.
            ? DispatchQueue(label: "NSManagedObjectContext", autoreleaseFrequency: .workItem, target: .global()) : nil
        super.init()
        registry = ObjectRegistry(context: self)
        registryAddress = Unmanaged.passUnretained(registry).toOpaque()
    }

    /// Makes a context that is confined to whatever thread its user chooses.
    @available(*, deprecated, message: "Use init(concurrencyType:)")
    public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

    deinit {
        stopObserving()
        registry.contextWillGo()
        registry.emptyObjects()
    }

    // MARK: Settings

    /// A name for messages and logs.
    open var name: String?
    /// The author of the changes, as persistent history records it.
    open var transactionAuthor: String?
    /// Values that the program keeps with the context.
    public let userInfo = NSMutableDictionary()
    /// Whether delete rules are applied when changes are processed; otherwise they are applied by saves.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether an object whose row was deleted becomes a deleted object, instead of an error.
    open var shouldDeleteInaccessibleFaults = true
    /// The policy of a save for rows that another writer changed, and for values that must be unique: an
    /// ``NSMergePolicy``, by default the one that throws.
    open var mergePolicy: Any = NSErrorMergePolicy
    /// The number of seconds that a row in memory may be old when a fault fires; negative: any age.
    open var stalenessInterval: TimeInterval {
        get { rowReading.staleness }
        set { rowReading.staleness = newValue }
    }
    /// Whether the context keeps registered objects alive; otherwise it keeps changed ones alive only.
    open var retainsRegisteredObjects: Bool {
        get { retention.isEnabled }
        set {
            retention.isEnabled = newValue
            retention.objects = newValue ? registry.objects : []
        }
    }
    /// Whether the context merges the saves of its parent and its siblings; without a parent, those of the
    /// coordinator's other contexts.
    open var automaticallyMergesChangesFromParent: Bool {
        get { observers.mergeObserver != nil }
        set { setMergesAutomatically(newValue) }
    }

    // MARK: Coordinator and parent

    /// The coordinator whose stores the context reads and writes.
    ///
    /// A context with a parent has the parent's coordinator.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set { setCoordinator(newValue) }
    }

    /// The context whose objects this one reads and to which it saves; nil for a context on a coordinator.
    ///
    ///     let editor = NSManagedObjectContext(.mainQueue)
    ///     editor.parent = container.viewContext
    ///     let draft = editor.object(with: item.objectID) as! Item
    ///     draft.name = "Oat milk"
    ///     try editor.save()                   // item.name is "Oat milk"; nothing is written to the store yet
    ///     try container.viewContext.save()    // UPDATE ZITEM SET ZNAME = ? …
    ///
    /// A child fetches through its parent and sees the parent's unsaved changes. A save hands its changes to the
    /// parent, all or none. New objects have temporary IDs until the last ancestor has saved;
    /// `obtainPermanentIDs(for:)` gives them permanent ones earlier. Later changes of the parent are visible after a
    /// refresh or a fetch, or with ``automaticallyMergesChangesFromParent``.
    ///
    /// Each access to the store waits for the parent's queue. If a parent and its child wait for each other's queues
    /// with `performAndWait`, both wait forever, as on Apple's platforms.
    ///
    /// - Precondition: both have queues, and the context has no objects yet.
    open var parent: NSManagedObjectContext? {
        get { parentLink.parent }
        set { setParent(newValue) }
    }

    // MARK: Undo

    /// The undo manager with which the context registers changes; `nil` by default: then nothing is registered.
    ///
    ///     context.undoManager = UndoManager()
    ///     item.name = "Milk"
    ///     context.undo()                      // item has its former name
    ///
    /// Each event (see ``processPendingChanges()``) is registered as one action, which keeps its objects alive: set nil
    /// for imports. Saving does not clear the registered actions; `rollback()` and `reset()` do.
    open var undoManager: UndoManager? {
        get { undoRecording.manager }
        set { setUndoManager(newValue) }
    }

    /// Undoes the last group of changes of the undo manager. Without an undo manager, nothing happens.
    open func undo() { undoLastGroup() }

    /// Redoes the last group of changes that was undone. Without an undo manager, nothing happens.
    open func redo() { redoLastGroup() }

    // MARK: What has changed

    /// Whether anything was inserted, changed or deleted since the last save; also by a value set to itself.
    open var hasChanges: Bool {
        pendingChanges.inserted.contains { $0.isInserted && !$0.isDeleted }
            || pendingChanges.updated.contains { $0.isUpdated }
            || pendingChanges.deleted.contains { $0.isDeleted }
    }

    /// The objects that the next save inserts.
    open var insertedObjects: Set<NSManagedObject> {
        Set(pendingChanges.inserted.lazy.filter { $0.isInserted && !$0.isDeleted })
    }

    /// The objects that the next save updates.
    open var updatedObjects: Set<NSManagedObject> { Set(pendingChanges.updated.lazy.filter(\.isUpdated)) }

    /// The objects that the next save deletes.
    open var deletedObjects: Set<NSManagedObject> { Set(pendingChanges.deleted.lazy.filter(\.isDeleted)) }

    /// The objects that the context knows at the moment.
    open var registeredObjects: Set<NSManagedObject> { Set(registry.objects) }

    // MARK: Changing

    /// Registers an object that was made outside a context; the next save inserts it.
    open func insert(_ object: NSManagedObject) { insertObject(object) }

    /// Marks an object to be deleted by the next save; an object that was never saved is forgotten.
    ///
    /// Its `prepareForDeletion` runs at once, its delete rules when changes are processed.
    open func delete(_ object: NSManagedObject) { deleteObject(object) }

    /// Says in which store a new object shall be saved.
    ///
    /// - Precondition: the object is new and the store's configuration has its entity.
    open func assign(_ object: Any, to store: NSPersistentStore) { assignStore(object, to: store) }

    /// Ends an event: applies delete rules and posts `NSManagedObjectContextObjectsDidChange`.
    ///
    /// Runs automatically after blocks of `perform`, before fetches and inside `save()`; for a main context also at the
    /// end of the main thread's turn in which something changed.
    open func processPendingChanges() { processChanges() }

    // MARK: Finding

    /// The object with that ID, if the context knows it already; reads nothing.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { knownObject(for: objectID) }

    /// Returns the object with that ID, as a fault if the context does not know it. Reads nothing.
    ///
    /// A missing row is noticed when the fault fires; `existingObject(with:)` reads immediately.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { objectOrFault(with: objectID) }

    /// The object with that ID, with its values.
    ///
    /// - Throws: error 133000 when there is no such row any more.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try realisedObject(with: objectID)
    }

    /// Executes the request.
    ///
    ///     let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    ///     let result = try context.execute(request) as? NSPersistentHistoryResult
    ///
    /// - Returns: an ``NSPersistentHistoryResult`` for a history request, an ``ExecutedFetchResult`` for a fetch
    ///   request, an ``NSAsynchronousFetchResult`` immediately for an asynchronous one, and an ``NSBatchInsertResult``,
    ///   ``NSBatchUpdateResult`` or ``NSBatchDeleteResult`` for a batch request.
    /// - Throws: 134091 for requests of other kinds, and for batch requests if a store is no SQL store; the errors of
    ///   the request.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try executeRequest(request)
    }

    // MARK: Refreshing and rolling back

    /// Reads an object's values again, with or without its unsaved changes.
    ///
    /// - Parameters:
    ///   - object: an object of the context.
    ///   - flag: `false` makes the object a fault and loses its changes; `true` puts them on top of the values that are
    ///     read.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { refreshObject(object, mergeChanges: flag) }

    /// Refreshes every registered object; changed objects keep their changes. A pinned context stays in its generation,
    /// unless that cannot be read any more.
    open func refreshAllObjects() { refreshObjects() }

    /// Discards every unsaved change: inserted objects leave the context, deleted ones are restored, and changed ones
    /// get the values that were last read or saved.
    open func rollback() { rollBackChanges() }

    /// Forgets every object. Objects that the program still holds are of no use any more.
    ///
    /// Inside the part of a save that writes, as in a value transformer, it takes effect when the save has ended.
    open func reset() { resetNowOrAtEndOfSave() }

    // MARK: Generations

    /// The generation that the context reads. `nil` if it reads the newest data, and in a context with a parent, which
    /// reads its parent's data; ``NSQueryGenerationToken/current`` if it was set to that and nothing was read yet.
    open var queryGenerationToken: NSQueryGenerationToken? { tokenOfGeneration }

    /// Pins the context to a generation of the stores' data, so that it does not see later saves of other writers.
    ///
    ///     try context.setQueryGenerationFrom(.current)                        // at the next read
    ///     try other.setQueryGenerationFrom(context.queryGenerationToken)      // reads the same data
    ///     try context.setQueryGenerationFrom(nil)                             // reads the newest data again
    ///
    /// Fetches, faults, relationships, counts and dictionaries then read the generation. Objects that have their values
    /// keep them until ``refreshAllObjects()``, which reads them from the generation. After a save, `mergeChanges` and
    /// ``reset()`` the next read pins the newest generation. A save finds conflicts with rows that other writers
    /// changed, as usual. Batch requests leave the generation. Stores that are added later are not read.
    ///
    /// Only an SQLite file with a write-ahead log, the default of `NSSQLitePragmasOption`, keeps former states; other
    /// stores are read in their current state. The first read throws 134070 if a store already keeps its maximum number
    /// of generations.
    ///
    /// - Throws: 134070 for a token of another coordinator, one with a store that was removed, and one that is no
    ///   longer kept; an error in a context with a parent. The context then reads what it read before.
    open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(to: generation) }

    // MARK: Queue

    /// Runs the block on the context's queue, later; changes are processed after it.
    ///
    ///     context.perform { try? context.save() }
    @preconcurrency
    open nonisolated func perform(_ block: @escaping @Sendable () -> Void) { enqueue(block) }

    /// Runs the block on the context's queue and waits for it; immediately if the caller is already on the queue.
    open nonisolated func performAndWait(_ block: () -> Void) { runAndWait(block) }

    // MARK: Saving

    /// Writes all insertions, changes and deletions: one transaction per store, or nothing.
    ///
    ///     try context.save()
    ///     // BEGIN IMMEDIATE; UPDATE Z_PRIMARYKEY …; INSERT INTO ZITEM …; UPDATE ZUNIT …; COMMIT
    ///
    /// Hooks, validation methods, observers and merge policies that run inside a save cannot save the same context:
    /// their call throws 132001, and the running save continues. `didSave()` and observers of
    /// ``didSaveObjectsNotification`` may save their own changes.
    ///
    /// - Throws: validation errors (1550–1690; several as 1560 with `NSDetailedErrors`), 133020 if another writer
    ///   changed a row, 133021 for a uniqueness constraint, 134030 and others for the store. After an error store and
    ///   context are unchanged, and the context keeps its changes.
    open func save() throws { try CoreDataErrors.converting { try saveChanges() } }

    /// Gives new objects their permanent IDs before they are saved; they stay inserted.
    ///
    /// - Throws: an error if no store accepts an object, or if the keys cannot be reserved; then no object has changed.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try givePermanentIDs(for: objects) }

    /// Makes the next save fail if another writer changes or deletes the object's row before, although this context
    /// does not change it.
    ///
    /// For objects on which the save depends without writing them; each costs the save one statement:
    ///
    ///     context.detectConflicts(for: account)
    ///     order.total = account.discounted(total)
    ///     try context.save()                  // SELECT 1 FROM ZACCOUNT … WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?
    ///
    /// The object's row must have the version that was last read; an object that was not read is read now. A successful
    /// save, `rollback()` and `reset()` end it.
    open func detectConflicts(for object: NSManagedObject) { checkAtNextSave(for: object) }

    // MARK: Merging

    /// Merges the changes that another context saved: refreshes changed objects, deletes deleted ones, and registers
    /// inserted ones. Unsaved changes of this context stay, and the next save does not report conflicts with the merged
    /// changes.
    ///
    ///     NotificationCenter.default.addObserver(
    ///         forName: .NSManagedObjectContextDidSave, object: background, queue: nil
    ///     ) { note in
    ///         view.perform { view.mergeChanges(fromContextDidSave: note) }
    ///     }
    ///
    /// Accepts sets of objects and of object IDs, also those of ``didSaveObjectIDsNotification``. After the merge one
    /// ``didChangeObjectsNotification`` reports it: inserted objects as inserted, changed objects whose values this
    /// context has as refreshed, deleted objects that it knows as deleted. Then
    /// ``didMergeChangesObjectIDsNotification`` reports the IDs.
    open func mergeChanges(fromContextDidSave notification: Notification) {
        mergeSave(fromContextDidSave: notification)
    }

    /// Merges the changes of another process or coordinator, or of a batch request, into several contexts: reads the
    /// rows again, then merges as ``mergeChanges(fromContextDidSave:)`` does.
    ///
    ///     NSManagedObjectContext.mergeChanges(
    ///         fromRemoteContextSave: [NSUpdatedObjectsKey: ids, NSDeletedObjectsKey: urls], into: [view, background])
    ///
    /// May be called on any queue: the contexts merge one after the other, and the call returns when all have.
    ///
    /// - Parameters:
    ///   - changeNotificationData: `NSManagedObjectID`s or their URIs as `URL`s under `NSInsertedObjectsKey`,
    ///     `NSUpdatedObjectsKey`, `NSDeletedObjectsKey`, `NSRefreshedObjectsKey` and `NSInvalidatedObjectsKey`;
    ///     `NSInvalidatedAllObjectsKey` has every object read anew. IDs of other stores are passed over.
    ///   - contexts: the contexts into which the changes are merged.
    open class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) { mergeRemoteSave(fromRemoteContextSave: changeNotificationData, into: contexts) }

    // MARK: Faults that cannot fire

    /// Decides about an object whose row was deleted when its fault fires; if the result is `true`, the object becomes
    /// deleted and its values nil.
    ///
    /// Override it to log or to decide differently. The default logs and returns ``shouldDeleteInaccessibleFaults``.
    open func shouldHandleInaccessibleFault(
        _ fault: NSManagedObject, for oid: NSManagedObjectID,
        triggeredByProperty property: NSPropertyDescription?
    ) -> Bool {
        CoreDataLog.general.warning(
            "CoreData could not fulfill a fault for \(oid): its row is gone (property '\(property?.name ?? "")').")
        return shouldDeleteInaccessibleFaults
    }

    open override var description: String { "<NSManagedObjectContext: \(contextName)>" }
}
