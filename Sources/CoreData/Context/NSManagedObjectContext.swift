import CoreDataPrimitives
import CoreDataStore
import Foundation
import Synchronization

/// A scratch pad of objects: tracks what is inserted, changed and deleted, and saves it at once.
///
/// Use a context and its objects inside `perform` or `performAndWait`, a main-queue context also directly from the
/// main thread. With the launch argument `-com.apple.CoreData.ConcurrencyDebug 1` every other use stops the program with
/// a message; without it debug builds log it, once for each place.
///
///     let items = try await context.perform {
///         let request = NSFetchRequest<Item>(entityName: "Item")
///         request.predicate = NSPredicate(format: "listed == YES")
///         return try context.fetch(request).map(\.objectID)     // SELECT … FROM ZITEM t0 WHERE t0.ZLISTED = ?
///     }
open class NSManagedObjectContext: NSObject, @unchecked Sendable {
    // Safe because everything that changes is used on the context's queue only; the registry guards itself.

    /// How the context is confined; set once.
    public nonisolated let concurrencyType: NSManagedObjectContextConcurrencyType
    private(set) var registry: ObjectRegistry!
    /// The registry, to be compared with an object's without counting references.
    @exclusivity(unchecked) private(set) final var registryAddress: UnsafeMutableRawPointer?
    let queue: DispatchQueue?

    /// The coordinator whose stores the context reads and writes.
    ///
    /// Of a context with a parent, that of its ancestors.
    open var persistentStoreCoordinator: NSPersistentStoreCoordinator? {
        get { coordinator }
        set {
            precondition(
                keptParent == nil || newValue === coordinator,
                "A context with a parent reads and saves through it: it has no persistentStoreCoordinator of its own.")
            precondition(
                coordinator == nil || coordinator === newValue || registry.objects.isEmpty,
                "A context that has objects cannot change its coordinator; reset it first.")
            takeCoordinator(newValue)
        }
    }
    private(set) final var coordinator: NSPersistentStoreCoordinator?

    /// The context whose objects this one reads and to which it saves; nil for one on a coordinator.
    ///
    ///     let editor = NSManagedObjectContext(.mainQueue)
    ///     editor.parent = container.viewContext
    ///     let draft = editor.object(with: item.objectID) as! Item
    ///     draft.name = "Oat milk"
    ///     try editor.save()                   // item.name is "Oat milk"; nothing is written to the store yet
    ///     try container.viewContext.save()    // UPDATE ZITEM SET ZNAME = ? …
    ///
    /// A child fetches through its parent and sees the parent's unsaved changes; a save hands its changes to the parent, all or
    /// none. New objects have temporary IDs until the last ancestor has saved; `obtainPermanentIDs(for:)` gives them others before.
    /// What the parent changes later shows after a refresh or a fetch, or with ``automaticallyMergesChangesFromParent``.
    ///
    /// Each access to the store waits for the parent's queue: two contexts that wait for one another's queues with
    /// `performAndWait`, the child for its parent and the parent for its child, wait for ever, as on Apple's platforms.
    ///
    /// - Precondition: both have queues, and the context has no objects yet.
    open var parent: NSManagedObjectContext? {
        get { keptParent }
        set { setParent(newValue) }
    }
    @exclusivity(unchecked) final var keptParent: NSManagedObjectContext? {
        didSet { isChild = keptParent != nil }
    }
    /// Whether there is a parent, to be asked for each object.
    @exclusivity(unchecked) private(set) final var isChild = false
    /// Contexts that have this one as their parent.
    final let children = ContextChildren()
    /// Those whose `prepareForDeletion` runs.
    @exclusivity(unchecked) final var prepared: [NSManagedObject] = []
    /// New objects that left without having been saved, and that children may know; told with the next save.
    @exclusivity(unchecked) final var discarded: [NSManagedObjectID] = []
    /// The coordinator's stores as seen through the parent, or through ``generationReader``, by index.
    final var parentStores: [Int32: AttachedStore] = [:]
    /// Which generation is read; `nil` until one was set.
    final var generationReader: GenerationReader?
    /// Whether the context has ever been pinned; children ask from their own queues.
    final let hasBeenPinned = Atomic<Bool>(false)
    /// How often objects here that a child may know have got permanent keys.
    final let renamings = Atomic<Int>(0)
    /// How many of the parent's renamings have been followed.
    final var seenRenamings = 0

    final func takeCoordinator(_ newCoordinator: NSPersistentStoreCoordinator?) {
        coordinator = newCoordinator
        registry.coordinator = newCoordinator
        if generationReader != nil {
            generationReader = nil
            parentStores = [:]
        }
        forgetHomes()
        for child in children.contexts { child.takeCoordinator(newCoordinator) }
    }

    /// What changes are registered with, so that they can be undone; nil, and nothing is recorded, until it is set.
    ///
    ///     context.undoManager = UndoManager()
    ///     item.name = "Milk"
    ///     context.undo()                      // item has its former name
    ///
    /// Each event (see ``processPendingChanges()``) is registered as one action, which keeps the objects that it touched: set nil
    /// for imports. Saving does not clear what is registered, `rollback()` and `reset()` do.
    open var undoManager: UndoManager? {
        get { keptUndoManager }
        set { setUndoManager(newValue) }
    }
    final var keptUndoManager: UndoManager?
    final var checkpoints: (any NSObjectProtocol)?
    /// Whether the event that ends is what a merge policy did.
    @exclusivity(unchecked) final var isResolved = false

    /// Takes back the last group of changes that the undo manager has; without one nothing happens.
    open func undo() {
        if isRefusedWhileWriting("undo()") { return }
        processPendingChanges()
        keptUndoManager?.undo()
    }

    /// Does again what was undone last; without an undo manager nothing happens.
    open func redo() {
        if isRefusedWhileWriting("redo()") { return }
        processPendingChanges()
        keptUndoManager?.redo()
    }

    /// Counts the faults that fire one by one; `nil` while nobody asks.
    @exclusivity(unchecked) final var faultWatch: FaultWatch?

    /// Whether a fault of a store on a server is read together with its siblings: the objects that came with it by the same fetch or
    /// relationship, up to a hundred, in one statement.
    ///
    ///     for item in try context.fetch(request) { print(item.unit?.name ?? "") }
    ///     // SELECT … FROM "Item"; SELECT … FROM "Unit" WHERE "_id" = ANY (…)      once for every hundred items
    ///
    /// Each way to a server and back takes as long as a hundred rows. A sibling has then the row of that moment, as after a fetch. It makes
    /// no difference for stores in files and in memory; a ``BatchReadingIncrementalStore`` is read so, too. No part of Apple's framework.
    public final var readsSiblingsOfFaults = true
    /// What came together, where that is of use.
    @exclusivity(unchecked) final var siblings = SiblingLists()

    /// A name for messages and logs.
    open var name: String?
    /// Who changes things, as persistent history records it.
    open var transactionAuthor: String?
    /// The user's own.
    public let userInfo = NSMutableDictionary()

    /// Whether delete rules are applied when changes are processed; else when they are saved.
    open var propagatesDeletesAtEndOfEvent = true
    /// Whether registered objects are kept alive; else only changed ones are.
    open var retainsRegisteredObjects: Bool {
        get { keepsObjects }
        set {
            keepsObjects = newValue
            retained = newValue ? registry.objects : []
        }
    }
    @exclusivity(unchecked) private(set) final var keepsObjects = false
    /// How many seconds a row in memory may be old when a fault fires; negative: any age.
    open var stalenessInterval: TimeInterval {
        get { staleness }
        set { staleness = newValue }
    }
    @exclusivity(unchecked) private(set) final var staleness: TimeInterval = -1
    /// Whether an object whose row is gone becomes deleted instead of an error.
    open var shouldDeleteInaccessibleFaults = true
    /// Whether saves of other contexts of the coordinator are merged into this one.
    open var automaticallyMergesChangesFromParent: Bool {
        get { merging != nil }
        set { setMergesAutomatically(newValue) }
    }
    /// What a save does about rows that somebody else changed meanwhile, and about values that must be unique: an
    /// ``NSMergePolicy``, by default the one that throws.
    open var mergePolicy: Any = NSErrorMergePolicy

    // What has changed since the last save. Lists may hold objects that left the state again; flags decide. They belong to
    // the context's queue, and nothing is called while one changes: to have each access checked for overlaps would cost as
    // much as setting a property.
    @exclusivity(unchecked) final var insertedList: [NSManagedObject] = []
    @exclusivity(unchecked) final var updatedList: [NSManagedObject] = []
    @exclusivity(unchecked) final var deletedList: [NSManagedObject] = []
    /// Objects whose rows the next save checks, whether or not they changed: see ``detectConflicts(for:)``.
    final var checkedList: [NSManagedObject] = []
    /// What has changed since changes were last processed.
    @exclusivity(unchecked) final var event = ChangeEvent()
    @exclusivity(unchecked) final var unpropagated: [NSManagedObject] = []
    @exclusivity(unchecked) final var isProcessing = false
    /// Whether the next change has the end of the turn waited for: of a main context that does not wait for it already.
    @exclusivity(unchecked) final var followsTurns: Bool
    /// How often a row was found to be gone.
    final var losses = 0
    /// What could not be read where no error could be thrown, until a save has told it or the changes are taken back.
    final var readFailure: (any Error)?
    /// Who is told of values that cannot be read, in place of the log.
    package final var unreadableValueListener: ((String) -> Void)?
    /// What the save that runs does; what may be called back depends on it.
    @exclusivity(unchecked) final var savePhase = SavePhase.none
    final var isSaving: Bool { savePhase != .none }
    /// The number of saves that run, one inside the other.
    final var savesInProgress = 0
    /// The objects of the events that ended while a save calls hooks and validates; `nil` at other times.
    @exclusivity(unchecked) final var touchedBySave: [NSManagedObject]?
    /// Whether `reset()` was called while rows were written, and is done when the save ends.
    final var resetsAfterSave = false
    /// New objects that a merge policy gave up for others, in the save that runs, by their temporary keys.
    final var absorbed: [(temporaryKey: Int64, survivor: NSManagedObject)] = []
    final var retained: [NSManagedObject] = []
    final var merging: (any NSObjectProtocol)?
    /// Whether nobody observes the context's notifications, though the program has asked for their names.
    package final var isUnobserved = false
    /// What undoes the deletion of objects that are still here, and those whose rules a merge had applied again.
    final var deletionRecords: [ObjectIdentifier: WeakUndoRecord] = [:]
    final var mergedDeletions: Set<ObjectIdentifier> = []
    /// What counts the rows of the fetch that runs, and can stop it.
    final var fetchProgress: Progress?
    /// Who is told of events beyond what notifications tell.
    final var followers = ChangeFollowers()
    /// The home of the object that was last asked for by its ID, or made of a row.
    final var lastHome: ObjectHome? {
        didSet { uncountedLastHome = lastHome.map { .passUnretained($0) } }
    }
    /// As ``lastHome``, for as long as nothing calls back.
    @exclusivity(unchecked) private(set) final var uncountedLastHome: Unmanaged<ObjectHome>?
    /// By entity; made by the first save of one.
    final var rowForms: [RowForm?] = []
    /// The class that was last inserted by `init(context:)`, and where its new objects live.
    @exclusivity(unchecked) final var lastNewHome: ObjectHome?
    @exclusivity(unchecked) final var lastNewType: ObjectIdentifier?

    /// Whether whoever has the context uses it, one thread at a time, though it has a queue: until something runs there.
    @exclusivity(unchecked) package final var isUnbound = false
    /// Called when the changes of a turn of the main thread, of a block or of a job of an actor were processed.
    @exclusivity(unchecked) package final var turnDidEnd: (() -> Void)?

    /// Makes a context without a coordinator.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        concurrencyType = ct
        followsTurns = ct == .mainQueueConcurrencyType
        if followsTurns { MainQueueWork.shared.prepare() }
        queue =
            ct == .privateQueueConcurrencyType
            // By itself a queue takes a thread as soon as it has work; those of a global queue are as many as processors.
            ? DispatchQueue(label: "NSManagedObjectContext", autoreleaseFrequency: .workItem, target: .global()) : nil
        super.init()
        registry = ObjectRegistry(context: self)
        registryAddress = Unmanaged.passUnretained(registry).toOpaque()
    }

    /// Makes a context that is confined to whatever thread its user chooses.
    @available(*, deprecated, message: "Use init(concurrencyType:)")
    public convenience override init() { self.init(concurrencyType: .confinementConcurrencyType) }

    /// Makes a context without a coordinator.
    public nonisolated convenience init(_ type: ConcurrencyType) {
        self.init(concurrencyType: type.rawValue)
    }

    deinit {
        if let merging { NotificationCenter.default.removeObserver(merging) }
        if let checkpoints { NotificationCenter.default.removeObserver(checkpoints) }
        keptUndoManager?.removeAllActions(withTarget: self)
        registry.contextWillGo()
        // Objects refer to each other in circles; whoever still holds one finds it empty.
        for object in registry.objects {
            object.relations.removeAll()
            object.forgetFetchedProperties()
            object.values = nil
            object.flags.remove(.registered)
        }
    }

    // MARK: What has changed

    /// Whether anything was inserted, changed or deleted since the last save; also by a value set to itself.
    open var hasChanges: Bool {
        insertedList.contains { $0.isInserted && !$0.isDeleted } || updatedList.contains { $0.isUpdated }
            || deletedList.contains { $0.isDeleted }
    }

    /// The objects that the next save inserts.
    open var insertedObjects: Set<NSManagedObject> { Set(insertedList.lazy.filter { $0.isInserted && !$0.isDeleted }) }

    /// The objects that the next save updates.
    open var updatedObjects: Set<NSManagedObject> { Set(updatedList.lazy.filter(\.isUpdated)) }

    /// The objects that the next save deletes.
    open var deletedObjects: Set<NSManagedObject> { Set(deletedList.lazy.filter(\.isDeleted)) }

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

    /// Ends an event: applies delete rules, posts `NSManagedObjectContextObjectsDidChange`.
    ///
    /// Runs by itself after blocks of `perform`, before fetches and inside `save()`; for a main context also at the end of
    /// the main thread's turn in which something changed.
    open func processPendingChanges() { processChanges() }

    // MARK: Finding

    /// The object with that ID, if the context knows it already; reads nothing.
    open func registeredObject(for objectID: NSManagedObjectID) -> NSManagedObject? { knownObject(for: objectID) }

    /// The object with that ID, as a fault where the context does not know it; reads nothing.
    ///
    /// Whether there is such a row shows when the fault fires; `existingObject(with:)` asks at once.
    open func object(with objectID: NSManagedObjectID) -> NSManagedObject { objectOrFault(with: objectID) }

    /// The object with that ID, with its values.
    ///
    /// - Throws: error 133000 when there is no such row any more.
    open func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        try realisedObject(with: objectID)
    }

    /// Does what the request says.
    ///
    ///     let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
    ///     let result = try context.execute(request) as? NSPersistentHistoryResult
    ///
    /// - Returns: an ``NSPersistentHistoryResult`` for a history request, an ``ExecutedFetchResult`` for a fetch request, an
    ///   ``NSAsynchronousFetchResult`` at once for an asynchronous one, and an ``NSBatchInsertResult``, ``NSBatchUpdateResult``
    ///   or ``NSBatchDeleteResult`` for a batch request.
    /// - Throws: 134091 for requests of other kinds, and for batch requests where a store is no SQL store; what those may throw.
    @discardableResult
    open func execute(_ request: NSPersistentStoreRequest) throws -> NSPersistentStoreResult {
        try executeRequest(request)
    }

    // MARK: Reading again and taking back

    /// Reads an object's values again, with or without its unsaved changes.
    ///
    /// - Parameters:
    ///   - object: an object of the context.
    ///   - flag: `false` makes the object a fault and loses its changes; `true` puts them on top of the values that are
    ///     read.
    open func refresh(_ object: NSManagedObject, mergeChanges flag: Bool) { refreshObject(object, mergeChanges: flag) }

    /// Refreshes every registered object; those with changes keep them. A pinned context stays where it is pinned, unless nobody can read
    /// there any more.
    open func refreshAllObjects() { refreshObjects() }

    /// Takes back every unsaved change: inserted objects leave, deleted ones return, changed ones are as they were
    /// when they were last read or saved.
    open func rollback() { takeChangesBack() }

    /// Forgets every object; those that are still held are of no use any more.
    ///
    /// Inside the part of a save that writes, as in a value transformer, it takes effect when the save has ended.
    open func reset() {
        if savePhase == .writing { return resetsAfterSave = true }
        siblings.removeAll()
        forgetObjects()
    }

    // MARK: Generations

    /// The generation that the context reads: `nil` where it reads what is newest, and in a context with a parent, which reads its
    /// parent's; ``NSQueryGenerationToken/current`` until something is read of one that was set so.
    open var queryGenerationToken: NSQueryGenerationToken? { tokenOfGeneration }

    /// Pins the context to a generation of the stores' data, so that what others save does not show.
    ///
    ///     try context.setQueryGenerationFrom(.current)                        // at the next read
    ///     try other.setQueryGenerationFrom(context.queryGenerationToken)      // reads the same
    ///     try context.setQueryGenerationFrom(nil)                             // reads what is newest again
    ///
    /// Fetches, faults, relationships, counts and dictionaries are of the generation then; objects that have their values keep
    /// them until ``refreshAllObjects()``, which reads them from the generation. A save, `mergeChanges` and ``reset()`` have the next
    /// read pin the newest one; a save finds rows that others changed since in conflict, as ever. Batch requests leave it. Stores
    /// that are added later are not read.
    ///
    /// Only an SQLite file with a write-ahead log, as it has unless `NSSQLitePragmasOption` says otherwise, keeps former states;
    /// other stores are read as they are. The first read throws 134070 where a store has as many generations as it may.
    ///
    /// - Throws: 134070 for a token of another coordinator, one with a store that was removed, and one that is no longer kept; an
    ///   error in a context with a parent. The context reads then what it read before.
    open func setQueryGenerationFrom(_ generation: NSQueryGenerationToken?) throws { try pin(to: generation) }

    // MARK: Queue

    /// Runs the block on the context's queue, later; changes are processed after it.
    ///
    ///     context.perform { try? context.save() }
    @preconcurrency
    open nonisolated func perform(_ block: @escaping @Sendable () -> Void) { enqueue(block) }

    /// Runs the block on the context's queue and waits for it; at once where the caller is on it already.
    open nonisolated func performAndWait(_ block: () -> Void) { runAndWait(block) }

    // MARK: Saving

    /// Writes everything that was inserted, changed and deleted: one transaction per store, or nothing.
    ///
    ///     try context.save()
    ///     // BEGIN IMMEDIATE; UPDATE Z_PRIMARYKEY …; INSERT INTO ZITEM …; UPDATE ZUNIT …; COMMIT
    ///
    /// Hooks, validation methods, observers and merge policies that run inside a save cannot save the same context again: that call
    /// throws 132001, and the save that runs goes on. `didSave()` and observers of ``didSaveObjectsNotification`` may save what they
    /// changed.
    ///
    /// - Throws: validation errors (1550–1690; several as 1560 with `NSDetailedErrors`), 133020 when a row was
    ///   changed by somebody else, 133021 for a uniqueness constraint, 134030 and others for the store. After an error
    ///   store and context are as they were before, and the context keeps its changes.
    open func save() throws { try CoreDataErrors.converting { try saveChanges() } }

    /// Gives new objects their permanent IDs before they are saved; they stay inserted.
    ///
    /// - Throws: where no store takes an object, or the keys cannot be reserved; then no object has changed.
    open func obtainPermanentIDs(for objects: [NSManagedObject]) throws { try givePermanentIDs(for: objects) }

    /// Has the next save fail if somebody else changes or deletes the object's row before, though nothing of it is changed here.
    ///
    /// For what the save depends on without writing it. The save adds one statement for each such object:
    ///
    ///     context.detectConflicts(for: account)
    ///     order.total = account.discounted(total)
    ///     try context.save()                  // SELECT 1 FROM ZACCOUNT … WHERE Z_PK = ? AND IFNULL(Z_OPT, 0) = ?
    ///
    /// The object counts as it was when it was last read; one that was not is read now. A save that succeeds, `rollback()`
    /// and `reset()` end it.
    open func detectConflicts(for object: NSManagedObject) { checkAtNextSave(for: object) }

    // MARK: Merging

    /// Takes over what another context saved: changed objects are refreshed, deleted ones deleted, inserted ones
    /// made known. Unsaved changes of this context stay, and the next save does not find them in conflict with what was merged.
    ///
    ///     NotificationCenter.default.addObserver(
    ///         forName: .NSManagedObjectContextDidSave, object: background, queue: nil
    ///     ) { note in
    ///         view.perform { view.mergeChanges(fromContextDidSave: note) }
    ///     }
    ///
    /// Sets of objects and of object IDs are understood, also those of ``didSaveObjectIDsNotification``. When all is merged, one
    /// ``didChangeObjectsNotification`` tells of it: insertions as inserted, changes of objects whose values this context has as
    /// refreshed, deletions of objects that it knows as deleted; then ``didMergeChangesObjectIDsNotification`` with the IDs.
    open func mergeChanges(fromContextDidSave notification: Notification) {
        mergeSave(fromContextDidSave: notification)
    }

    /// Takes over what another process or coordinator saved, or a batch request, into several contexts: reads the rows anew, then merges
    /// as ``mergeChanges(fromContextDidSave:)`` does.
    ///
    ///     NSManagedObjectContext.mergeChanges(
    ///         fromRemoteContextSave: [NSUpdatedObjectsKey: ids, NSDeletedObjectsKey: urls], into: [view, background])
    ///
    /// May be called on any queue: each context merges on its own, one after the other, and the call returns when all have.
    ///
    /// - Parameters:
    ///   - changeNotificationData: `NSManagedObjectID`s or their URIs as `URL`s under `NSInsertedObjectsKey`, `NSUpdatedObjectsKey`,
    ///     `NSDeletedObjectsKey`, `NSRefreshedObjectsKey` and `NSInvalidatedObjectsKey`; `NSInvalidatedAllObjectsKey` has every
    ///     object read anew. IDs of stores that a context does not have are passed over.
    ///   - contexts: who takes it over.
    open class func mergeChanges(
        fromRemoteContextSave changeNotificationData: [AnyHashable: Any], into contexts: [NSManagedObjectContext]
    ) { mergeRemoteSave(fromRemoteContextSave: changeNotificationData, into: contexts) }

    // MARK: Faults that cannot fire

    /// Asked when a fault's row is gone; `true` makes the object deleted with nil values.
    ///
    /// Override it to log or to forgive. The default logs and answers ``shouldDeleteInaccessibleFaults``.
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
