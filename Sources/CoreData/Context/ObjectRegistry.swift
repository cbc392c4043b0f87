import CObjectRuntime
import CoreDataPrimitives
import Foundation
import Synchronization

/// The objects that a context knows, by identity; what objects hold instead of their context.
///
/// A context registers its objects weakly: an object takes itself out when it is deallocated, on whatever thread
/// that happens. Each object retains its home and by it the registry, and the registry knows the context as long as it
/// lives, so an object that outlives its context finds none instead of a dangling pointer.
///
/// Identity is the store's index, the root entity's ordinal and the primary key; keys of unsaved objects are
/// negative and lie in a table of their own.
final class ObjectRegistry: @unchecked Sendable {
    // Safe because `state` guards the tables, `coordinator` and `observations` are set before there are objects, and
    // `context` is written once more, by the context's deinitialiser.

    /// The context, while it lives.
    private(set) unowned(unsafe) var context: NSManagedObjectContext?
    /// Whether the context lives; reading the weak reference would retain it.
    @exclusivity(unchecked) private(set) var isContextAlive = true
    /// The context's coordinator, which the last object may need after the context was deallocated.
    var coordinator: NSPersistentStoreCoordinator? {
        didSet { state.withLock { $0.homes = [:] } }
    }
    /// Whether a changed relationship may refer to an object that is deleted or in no context: then validation checks.
    /// It is stored here and not in the context, so that objects read it without counting a reference; it belongs to
    /// the context's queue.
    @exclusivity(unchecked) var mayHaveDangling = false
    /// Whether changes are recorded, so that they can be undone; as ``mayHaveDangling`` here for the objects.
    @exclusivity(unchecked) var recordsUndo = false
    let state = Mutex(State())
    /// Whether a store uses the context for its own requests: its objects are not observable.
    @exclusivity(unchecked) var isOfStore = false
    /// Whether stores of the program's own classes must be notified of registered and unregistered objects.
    private let tellsStores = Atomic<Bool>(false)

    struct State {
        /// Addresses of objects by primary key; see ``key(_:_:)``.
        var tables: [Int: KeyTable] = [:]
        let temporary = KeyTable()
        /// By store and entity. Homes hold the registry: that circle ends with the context.
        var homes: [Int: ObjectHome] = [:]
        /// Where detached objects live, by store and entity.
        var outside: [Int: ObjectHome] = [:]
        /// The permanent IDs of objects whose temporary IDs had been handed out.
        var aliases: [Int64: NSManagedObjectID] = [:]
        /// Of these, the keys of objects that another object replaced.
        var absorbed: Set<Int64> = []

        /// The identities of the destinations of a relationship of the home's objects.
        mutating func destinations(of home: ObjectHome, _ relation: Int, root: Int) -> Unmanaged<KeyTable> {
            if let known = home.destinations[relation] { return known }
            let table = Unmanaged.passRetained(table(store: home.storeIndex, root: root))
            home.destinations[relation] = table
            return table
        }

        mutating func table(store: Int32, root: Int) -> KeyTable {
            let key = ObjectRegistry.key(store, root)
            if let known = tables[key] { return known }
            let made = KeyTable()
            tables[key] = made
            return made
        }
    }

    private static func key(_ store: Int32, _ ordinal: Int) -> Int { Int(store) << 16 | ordinal }

    /// The observations of the context's objects; `nil` if they cannot be observed.
    private(set) var observations: ObjectObservations?

    init(context: NSManagedObjectContext) {
        self.context = context
        if context.concurrencyType == .mainQueueConcurrencyType { observations = ObjectObservations() }
    }

    /// - Precondition: the context has no objects.
    func setObservable(_ isObservable: Bool) {
        observations = isObservable ? ObjectObservations() : nil
        state.withLock { $0.homes = [:] }
    }

    func contextWillGo() {
        context = nil
        isContextAlive = false
        state.withLock {
            $0.homes = [:]
            $0.outside = [:]
        }
    }

    /// Empties the objects of a context that is deallocated.
    ///
    /// Objects refer to each other in circles. A program that still holds one finds it without values.
    func emptyObjects() {
        for object in objects {
            object.relations.removeAll()
            object.forgetFetchedProperties()
            object.values = nil
            object.flags.remove(.registered)
        }
    }

    // MARK: Homes

    /// Returns the home of the entity's objects in the store, or of new objects without a store.
    func home(of runtime: EntityRuntime, in store: AttachedStore?) -> ObjectHome {
        let key = Self.key(store?.index ?? 0, runtime.ordinal)
        if store?.objectSource?.wantsRegistrations == true, !isOfStore { tellsStores.store(true, ordering: .relaxed) }
        return state.withLock { state in
            if let known = state.homes[key], known.runtime === runtime { return known }
            let made = ObjectHome(
                runtime: runtime, registry: self, store: store,
                identities: store.map { state.table(store: $0.index, root: runtime.root) })
            if context != nil { state.homes[key] = made }
            return made
        }
    }

    /// Where objects of a home go that leave the context.
    func homeOutside(_ home: ObjectHome) -> ObjectHome {
        let key = Self.key(home.storeIndex, home.runtime.ordinal)
        return state.withLock { state in
            if let known = state.outside[key], known.runtime === home.runtime { return known }
            let made = ObjectHome(runtime: home.runtime, registry: nil, store: home.store, identities: nil)
            state.outside[key] = made
            return made
        }
    }

    /// Homes are made anew, since stores are seen otherwise.
    func forgetHomes() { state.withLock { $0.homes = [:] } }

    /// The objects of stores that are to be told when they go.
    func told(_ objects: [NSManagedObject]) -> [(store: AttachedStore, id: NSManagedObjectID)] {
        guard tellsStores.load(ordering: .relaxed) else { return [] }
        return objects.compactMap { object in
            guard !object.hasTemporaryKey, let store = object.home.store else { return nil }
            return (store, object.objectID)
        }
    }

    // MARK: Looking up

    /// How many objects there are.
    var count: Int {
        state.withLock { state in state.tables.values.reduce(state.temporary.count) { $0 + $1.count } }
    }

    /// Returns whether objects with rows exist in the home's table, including those of related entities.
    func hasObjects(in home: ObjectHome) -> Bool {
        state.withLock { _ in (home.uncountedIdentities?._withUnsafeGuaranteedRef { $0.count } ?? 0) > 0 }
    }

    /// The registered object, retained; `nil` also while it is being deallocated.
    func object(store: Int32, root: Int, primaryKey: Int64) -> NSManagedObject? {
        state.withLock { state in
            let table = primaryKey < 0 ? state.temporary : state.tables[Self.key(store, root)]
            return table.flatMap { Self.object($0.word(primaryKey)) }
        }
    }

    /// Returns the registered objects of the keys; fastest if stores and roots come in runs.
    func objects(_ keys: [StoredKey]) -> [NSManagedObject] {
        state.withLock { state in
            var found: [NSManagedObject] = []
            found.reserveCapacity(keys.count)
            var (run, table): (Int, KeyTable?) = (-1, nil)
            for key in keys {
                let next = Self.key(key.store, Int(key.root))
                if next != run { (run, table) = (next, state.tables[next]) }
                if let table, let object = Self.object(table.word(key.primaryKey)) { found.append(object) }
            }
            return found
        }
    }

    func object(in home: ObjectHome, primaryKey: Int64) -> NSManagedObject? {
        state.withLock { state in
            guard let table = primaryKey < 0 ? .passUnretained(state.temporary) : home.uncountedIdentities
            else { return nil }
            return table._withUnsafeGuaranteedRef { Self.object($0.word(primaryKey)) }
        }
    }

    /// The object at an address of a table, unless it is being deallocated.
    private static func object(_ address: UInt) -> NSManagedObject? {
        UnsafeRawPointer(bitPattern: retained(address)).map { Unmanaged.fromOpaque($0).takeRetainedValue() }
    }

    /// Returns the retained address of a table entry; 0 if the object is being deallocated.
    private static func retained(_ address: UInt) -> UInt {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: address), ocd_try_retain(pointer) else { return 0 }
        return address
    }

    private static func address(of object: NSManagedObject) -> UInt {
        UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
    }

    /// Every registered object that is not being deallocated.
    var objects: [NSManagedObject] {
        state.withLock { state in
            var found: [NSManagedObject] = []
            for table in [state.temporary] + state.tables.values {
                table.forEach { if let object = Self.object($1) { found.append(object) } }
            }
            return found
        }
    }

    /// The registered objects with temporary keys.
    var temporaryObjects: [NSManagedObject] {
        state.withLock { state in
            var found: [NSManagedObject] = []
            state.temporary.forEach { if let object = Self.object($1) { found.append(object) } }
            return found
        }
    }

    // MARK: Coming and going

    /// Registers saved objects under their permanent keys instead of the temporary ones.
    func rename(_ objects: [NSManagedObject], in range: Range<Int>, temporaryKeys: [Int64]) {
        state.withLock { state in
            let temporary = state.temporary
            var index = range.lowerBound
            objects.forEachHeld(in: range) { object in
                let key = temporaryKeys[index]
                index += 1
                guard key < 0 else { return }
                temporary.remove(key)
                object.home.uncountedIdentities?._withUnsafeGuaranteedRef {
                    _ = $0.set(object.primaryKey, Self.address(of: object))
                }
            }
        }
        guard tellsStores.load(ordering: .relaxed) else { return }
        tell(
            objects[range].enumerated().filter { temporaryKeys[range.lowerBound + $0.offset] < 0 }.map(\.element), true)
    }

    func register(_ object: NSManagedObject) {
        state.withLock { state in
            guard
                let table = object.hasTemporaryKey ? .passUnretained(state.temporary) : object.home.uncountedIdentities
            else { return }
            table._withUnsafeGuaranteedRef { _ = $0.set(object.primaryKey, Self.address(of: object)) }
        }
        object.flags.insert(.registered)
        if tellsStores.load(ordering: .relaxed) { tell([object], true) }
    }

    /// Registers the objects from `start` on that are not registered, under one lock. If another object already has the
    /// identity, because a row came twice or an initialiser fetched, that object replaces the new one in the list.
    /// Returns whether this happened.
    func register(_ objects: inout [NSManagedObject], from start: Int) -> Bool {
        // Replaced objects are released outside the lock: their deinitialiser may need it.
        var replaced: [NSManagedObject] = []
        let tells = tellsStores.load(ordering: .relaxed)
        var new: [NSManagedObject] = []
        state.withLock { state in
            let temporary = Unmanaged.passUnretained(state.temporary)
            var others: [(index: Int, object: NSManagedObject)] = []
            var index = start
            objects.forEachHeld(in: start...) { object in
                defer { index += 1 }
                guard !object.flags.contains(.registered),
                    let table = object.hasTemporaryKey ? temporary : object.home.uncountedIdentities
                else { return }
                // Nearly every object is new: it is stored first, and the former one is restored if it stays.
                let word = table._withUnsafeGuaranteedRef { $0.set(object.primaryKey, Self.address(of: object)) }
                if word != 0, let known = Self.object(word) {
                    table._withUnsafeGuaranteedRef { _ = $0.set(object.primaryKey, word) }
                    others.append((index, known))
                } else {
                    object.flags.insert(.registered)
                    if tells { new.append(object) }
                }
            }
            for other in others {
                replaced.append(objects[other.index])
                objects[other.index] = other.object
            }
        }
        if tells { tell(new, true) }
        return !replaced.isEmpty
    }

    /// The registered objects of the rows, in their order; empty when there is none at all.
    func objects(of rows: RowList, in home: ObjectHome) -> [NSManagedObject?] {
        var found: [NSManagedObject?] = []
        state.withLock { state in
            guard let table = home.identities, table.count > 0 || state.temporary.count > 0 else { return }
            for index in rows.indices {
                let key = rows.view(index).primaryKey
                // A parent's row may be of an object that has no other key yet.
                let word = key < 0 ? state.temporary.word(key) : table.word(key)
                guard word != 0 else { continue }
                if found.isEmpty { found = Array(repeating: nil, count: rows.count) }
                found[index] = Self.object(word)
            }
        }
        return found
    }

    /// Returns the retained address of the registered destination of a to-one of the home's objects; 0 if there is
    /// none.
    func retainedDestination(of home: ObjectHome, _ relation: Int, root: Int, primaryKey: Int64) -> UInt {
        state.withLock { state in
            state.destinations(of: home, relation, root: root)._withUnsafeGuaranteedRef {
                Self.retained($0.word(primaryKey))
            }
        }
    }

    /// Sets the registered destinations of an unread to-one of the objects in the range that belong to the home, under
    /// one lock.
    func takeDestinations(of objects: [NSManagedObject], in range: Range<Int>, _ home: ObjectHome, _ slot: Int) {
        let facts = home.facts + slot
        let (relation, column) = (Int(facts.pointee.relation), Int(facts.pointee.column))
        guard column >= 0 else { return }
        state.withLock { state in
            let root = Int(facts.pointee.destinationRoot)
            state.destinations(of: home, relation, root: root)._withUnsafeGuaranteedRef { table in
                objects.forEachHeld(in: range) { object in
                    guard object.home === home, !object.relations.isRead(relation), let row = object.rowView,
                        !row.isNull(column)
                    else { return }
                    let address = Self.retained(table.word(row.integer(column)))
                    if address != 0 { object.relations.takeToOne(relation, address, of: home.relationCount) }
                }
            }
        }
    }

    /// Removes the object, if it is the one registered under that key.
    func unregister(_ object: NSManagedObject, primaryKey: Int64) {
        let address = Self.address(of: object)
        let isKnown = state.withLock { state in
            guard let table = primaryKey < 0 ? .passUnretained(state.temporary) : object.home.uncountedIdentities
            else { return false }
            return table._withUnsafeGuaranteedRef { $0.remove(primaryKey, ifWord: address) }
        }
        guard isKnown, primaryKey >= 0, tellsStores.load(ordering: .relaxed) else { return }
        // It may be on its way out: nothing may hold it.
        let home = object.home
        guard let store = home.store else { return }
        tell([(store, NSManagedObjectID(runtime: home.runtime, primaryKey: primaryKey, store: store))], false)
    }

    /// Removes many objects under one lock, if they are registered under their keys.
    func unregister(_ objects: [NSManagedObject]) {
        let tells = tellsStores.load(ordering: .relaxed)
        var gone: [NSManagedObject] = []
        state.withLock { state in
            let temporary = state.temporary
            objects.forEachHeld { object in
                let key = object.primaryKey
                guard let table = key < 0 ? temporary : object.home.identities else { return }
                let isKnown = table.remove(key, ifWord: Self.address(of: object))
                if tells, isKnown { gone.append(object) }
            }
        }
        if tells { tell(gone, false) }
    }

    /// Notifies the stores of their registered or unregistered objects.
    private func tell(_ objects: [NSManagedObject], _ isRegistered: Bool) {
        tell(
            objects.compactMap { object in
                guard !object.hasTemporaryKey, let store = object.home.store else { return nil }
                return (store, object.objectID)
            }, isRegistered)
    }

    private func tell(_ ids: [(store: AttachedStore, id: NSManagedObjectID)], _ isRegistered: Bool) {
        for (_, ids) in Dictionary(grouping: ids, by: { $0.store.index }) {
            guard let source = ids[0].store.objectSource, source.wantsRegistrations else { continue }
            source.contextDid(register: isRegistered, ids.map(\.id))
        }
    }

    /// - Parameter ids: the former IDs of the registered objects, if the objects do not have them any more.
    func removeAll(_ ids: [(store: AttachedStore, id: NSManagedObjectID)] = []) {
        defer { if !ids.isEmpty { tell(ids, false) } }
        state.withLock { state in
            state.tables.values.forEach { $0.removeAll() }
            state.temporary.removeAll()
        }
    }

}
