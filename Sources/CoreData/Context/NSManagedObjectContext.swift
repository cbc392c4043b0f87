import CoreDataPrimitives
import CoreDataStore
import Foundation
import Synchronization

/// How a context is confined.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// To whatever thread its user chooses; nothing is checked. Deprecated on Apple's platforms.
    case confinementConcurrencyType = 0
    case privateQueueConcurrencyType = 1
    case mainQueueConcurrencyType = 2
}

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
///
/// Differs from Apple: `setQueryGenerationFrom(_:)` does not exist yet.
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
    /// The coordinator's stores as seen through the parent, by index.
    final var parentStores: [Int32: AttachedStore] = [:]
    /// How often objects here that a child may know have got permanent keys.
    final let renamings = Atomic<Int>(0)
    /// How many of the parent's renamings have been followed.
    final var seenRenamings = 0

    final func takeCoordinator(_ newCoordinator: NSPersistentStoreCoordinator?) {
        coordinator = newCoordinator
        registry.coordinator = newCoordinator
        lastHome = nil
        (lastNewHome, lastNewType) = (nil, nil)
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

    /// Takes back the last group of changes that the undo manager has; without one nothing happens.
    open func undo() {
        processPendingChanges()
        keptUndoManager?.undo()
    }

    /// Does again what was undone last; without an undo manager nothing happens.
    open func redo() {
        processPendingChanges()
        keptUndoManager?.redo()
    }

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
    /// How often a row was found to be gone.
    final var losses = 0
    /// What could not be read where no error could be thrown, until a save has told it or the changes are taken back.
    final var readFailure: (any Error)?
    /// Who is told of values that cannot be read, in place of the log.
    package final var unreadableValueListener: ((String) -> Void)?
    final var isSaving = false
    /// New objects that a merge policy gave up for others, in the save that runs, by their temporary keys.
    final var absorbed: [(temporaryKey: Int64, survivor: NSManagedObject)] = []
    final var retained: [NSManagedObject] = []
    final var merging: (any NSObjectProtocol)?
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

    /// Makes a context without a coordinator.
    public init(concurrencyType ct: NSManagedObjectContextConcurrencyType) {
        concurrencyType = ct
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

    /// The type of a context, as an overlay of its raw type.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        public let rawValue: NSManagedObjectContextConcurrencyType

        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }

        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    // MARK: What has changed

    /// Whether anything was inserted, changed or deleted since the last save; also by a value set to itself.
    open var hasChanges: Bool {
        insertedList.contains { $0.isInserted } || updatedList.contains { $0.isUpdated }
            || deletedList.contains { $0.isDeleted }
    }

    /// The objects that the next save inserts.
    open var insertedObjects: Set<NSManagedObject> { Set(insertedList.lazy.filter(\.isInserted)) }

    /// The objects that the next save updates.
    open var updatedObjects: Set<NSManagedObject> { Set(updatedList.lazy.filter(\.isUpdated)) }

    /// The objects that the next save deletes.
    open var deletedObjects: Set<NSManagedObject> { Set(deletedList.lazy.filter(\.isDeleted)) }

    /// The objects that the context knows at the moment.
    open var registeredObjects: Set<NSManagedObject> { Set(registry.objects) }

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
    /// - Throws: validation errors (1550–1690; several as 1560 with `NSDetailedErrors`), 133020 when a row was
    ///   changed by somebody else, 133021 for a uniqueness constraint, 134030 and others for the store. After an error
    ///   store and context are as they were before, and the context keeps its changes.
    open func save() throws { try CoreDataErrors.converting { try saveChanges() } }

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

    final var contextName: String {
        name.map { "'\($0)'" } ?? "\(Unmanaged.passUnretained(self).toOpaque())"
    }

    open override var description: String { "<NSManagedObjectContext: \(contextName)>" }
}

/// The objects that one event touched; each at most once a list, flags tell which lists it is in.
struct ChangeEvent {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    var refreshed: [NSManagedObject] = []
    var invalidated: [NSManagedObject] = []
    /// Inserted by another context, and made known to this one.
    var mergedInsertions: [NSManagedObject] = []
    /// Rows that another context changed, also of objects that this one does not know; noted for followers only.
    var mergedUpdates: [NSManagedObjectID] = []
    /// Deleted before, and not any more.
    var restored: [NSManagedObject] = []
    /// What undo needs of the objects that leave; recorded while there is an undo manager.
    var leaving: [LeavingObject] = []

    /// Calls `body` with what was inserted, updated and deleted.
    func forEachObject(_ body: (NSManagedObject) -> Void) {
        inserted.forEachHeld(body)
        updated.forEachHeld(body)
        deleted.forEachHeld(body)
    }

    var isEmpty: Bool {
        inserted.isEmpty && updated.isEmpty && deleted.isEmpty && refreshed.isEmpty && invalidated.isEmpty
            && mergedInsertions.isEmpty && mergedUpdates.isEmpty && restored.isEmpty
    }
}
