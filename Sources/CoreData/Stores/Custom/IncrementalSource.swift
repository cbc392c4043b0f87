import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation
import Synchronization

/// The rows of an ``NSIncrementalStore``, which it makes of the store's nodes.
///
/// ```
///  rows by key ──▶ node of the store ──▶ row, kept with the node's version
///  fetch       ──▶ request to the store ──▶ IDs ──▶ rows by key
///  save        ──▶ are the nodes still of the versions that are known? ──▶ request to the store
/// ```
final class IncrementalSource: RowSource, ObjectSource, @unchecked Sendable {
    // Safe because `lock` guards everything that changes.

    let references: ReferenceTable
    let rowCache: RowCache
    let runtime: ModelRuntime
    let clock: StoreClock
    weak var attached: AttachedStore?
    let store: NSIncrementalStore
    private let entities: Set<Int>
    /// Held while the store is asked: one thread at a time.
    private let lock = NSRecursiveLock()
    var rows: [RowKey: Known] = [:]
    var saved: SavedRequest?
    /// What requests go to the store with; its objects are only looked at for their IDs. As long as the store is asked,
    /// since it holds the coordinator.
    private var ownContext: NSManagedObjectContext?
    private var depth = 0
    /// Whether a caller on the main queue waits for the store's answer.
    private(set) var isAskedOnMain = false

    /// A row, and the version of the node that it was made of.
    struct Known {
        var row: RowSnapshot
        var version: UInt64
        var time: Double
        /// Whether the store is to be asked again all the same; the row is what its versions are counted by.
        var isForgotten = false
    }

    /// Registered and unregistered objects that the store has not been notified of: the next caller of the store
    /// notifies it.
    private let registrations = Mutex<[(isRegistered: Bool, ids: [NSManagedObjectID])]>([])

    init(_ store: NSIncrementalStore, runtime: ModelRuntime, entities: [Int], clock: StoreClock) {
        self.store = store
        self.runtime = runtime
        self.clock = clock
        self.entities = Set(entities)
        references = ReferenceTable.of(store: store.identifier ?? "")
        rowCache = RowCache(model: runtime.model)
    }

    var identifier: String { store.identifier }
    /// The name of the store's class, for messages.
    var storeName: String { "\(type(of: store))" }
    var isReadOnly: Bool { store.isReadOnly }
    var traits: SourceTraits {
        SourceTraits(readsRowsLater: true, readsManyRowsAtOnce: store is any BatchReadingIncrementalStore)
    }

    func includes(entity: Int) -> Bool { entities.contains(entity) }
    func root(ofEntity entity: Int) -> Int { runtime.model.entities[entity].root }
    func number(ofEntity entity: Int) -> Int64 { includes(entity: entity) ? Int64(entity) + 1 : 0 }
    func entity(numbered number: Int64) -> Int? {
        guard number > 0, number <= Int64(runtime.model.entities.count) else { return nil }
        return includes(entity: Int(number) - 1) ? Int(number) - 1 : nil
    }

    func enter() {
        lock.lock()
        depth += 1
    }

    func leave() {
        depth -= 1
        let isOutermost = depth == 0
        // Its objects report nothing when they are deallocated.
        let context = isOutermost ? ownContext : nil
        if isOutermost { ownContext = nil }
        lock.unlock()
        withExtendedLifetime(context) {}
        if isOutermost { tellRegistrations() }
    }

    /// Runs the body while no other thread asks the store.
    func whileAlone(_ body: () -> Void) {
        enter()
        defer { leave() }
        body()
    }

    func locked<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        enter()
        defer { leave() }
        return try body(try context())
    }

    private func context() throws -> NSManagedObjectContext {
        if let ownContext { return ownContext }
        guard let coordinator = store.persistentStoreCoordinator else {
            throw CoreDataErrors.coreData("The store is not attached to a coordinator any more.")
        }
        let context = NSManagedObjectContext(.privateQueue)
        context.registry.isOfStore = true
        context.persistentStoreCoordinator = coordinator
        (ownContext, isAskedOnMain) = (context, Confinement.isMain)
        return context
    }

    /// Asks the store, on the queue of the context that it is asked with.
    func ask<R>(_ body: (NSIncrementalStore, NSManagedObjectContext) throws -> R) throws -> R {
        try locked { context in try context.performAndWait { try body(store, context) } }
    }

    func objectID(_ key: Int64, root: Int) -> NSManagedObjectID {
        let entity = references.runtime(ofKey: key, below: runtime.entities[root], in: runtime)
        return NSManagedObjectID(runtime: entity, primaryKey: key, store: attached)
    }

    // MARK: Registrations

    var wantsRegistrations: Bool { true }

    func forget(_ primaryKey: Int64, root: Int) {
        enter()
        defer { leave() }
        rows[RowKey(entity: root, primaryKey: primaryKey)]?.isForgotten = true
    }

    func contextDid(register isRegistered: Bool, _ ids: [NSManagedObjectID]) {
        registrations.withLock { $0.append((isRegistered, ids)) }
        tellRegistrations()
    }

    /// Notifies the store without waiting for the lock: its holder reports pending notifications when it releases the
    /// lock.
    private func tellRegistrations() {
        while !registrations.withLock(\.isEmpty), lock.try() {
            guard depth == 0 else { return lock.unlock() }
            depth += 1
            let notes = registrations.withLock { notes in
                defer { notes = [] }
                return notes
            }
            for (isRegistered, ids) in notes {
                if isRegistered {
                    store.managedObjectContextDidRegisterObjects(with: ids)
                } else {
                    for id in ids {
                        rows[RowKey(entity: id.runtime.root, primaryKey: id.primaryKey)]?.isForgotten = true
                    }
                    store.managedObjectContextDidUnregisterObjects(with: ids)
                }
            }
            depth -= 1
            lock.unlock()
        }
    }

    func metadata() throws -> MetadataRow { try store.metadataRow() }

    func close() {
        enter()
        defer { leave() }
        rows = [:]
        ownContext = nil
    }
}
