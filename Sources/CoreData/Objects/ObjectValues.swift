import CoreDataPrimitives
import Foundation
import Synchronization

/// What differs from an object's row: made when the first value is set, gone when the object is clean again.
///
/// ```
///  object header | masks, rare | value of slot 0 | value of slot 1 | …      made where `live` says so
/// ```
/// One allocation: a class of the standard library's, because only that can be followed by elements.
final class ObjectValues: ManagedBuffer<ObjectValues.Masks, Value> {
    struct Masks {
        /// The attributes that have a value here; for the others the row, or for a new object the default, still holds.
        var live = IndexMask()
        /// The properties that were set since the last save.
        var changed = IndexMask()
        /// The properties that were set since changes were last processed.
        var event = IndexMask()
        fileprivate var rare: Rare?
    }

    /// What few objects have.
    fileprivate final class Rare {
        var eventOld: [ValueBeforeEvent] = []
        var orders: [Int: Int64] = [:]
        var owners: [Int: OwnerChange] = [:]

        func copy() -> Rare {
            let copy = Rare()
            (copy.eventOld, copy.orders, copy.owners) = (eventOld, orders, owners)
            return copy
        }
    }

    static func make(slotCount: Int) -> ObjectValues {
        unsafeDowncast(create(minimumCapacity: slotCount) { _ in Masks() }, to: ObjectValues.self)
    }

    deinit {
        for slot in live { (storage + slot).deinitialize(count: 1) }
    }

    // As with the fields of an object, no other code reads a mask while it changes. The masks are reached by their
    // address, since each access of a property would be checked for overlaps.

    @inline(__always)
    private var masks: UnsafeMutablePointer<Masks> { withUnsafeMutablePointerToHeader { $0 } }

    @inline(__always)
    private var storage: UnsafeMutablePointer<Value> { withUnsafeMutablePointerToElements { $0 } }

    @inline(__always)
    private(set) var live: IndexMask {
        _read { yield masks.pointee.live }
        _modify { yield &masks.pointee.live }
    }

    @inline(__always)
    var changed: IndexMask {
        _read { yield masks.pointee.changed }
        _modify { yield &masks.pointee.changed }
    }

    @inline(__always)
    var event: IndexMask {
        _read { yield masks.pointee.event }
        _modify { yield &masks.pointee.event }
    }

    @inline(__always)
    private var rare: Rare? {
        _read { yield masks.pointee.rare }
        _modify { yield &masks.pointee.rare }
    }

    subscript(slot: Int) -> Value? {
        @inline(__always) get { live.contains(slot) ? storage[slot] : nil }
        set {
            if let newValue {
                set(newValue, slot)
            } else if live.contains(slot) {
                (storage + slot).deinitialize(count: 1)
                live.remove(slot)
            }
        }
    }

    @inline(__always)
    func set(_ value: Value, _ slot: Int) {
        if live.contains(slot) {
            storage[slot] = value
        } else {
            (storage + slot).initialize(to: value)
            live.insert(slot)
        }
    }

    /// Forgets every value, and keeps the room for them.
    func removeAll() {
        for slot in live { (storage + slot).deinitialize(count: 1) }
        live.removeAll()
        changed.removeAll()
        event.removeAll()
        forgetRare()
    }

    /// The same values, which change apart from these.
    func copy() -> ObjectValues {
        let copy = unsafeDowncast(Self.create(minimumCapacity: capacity) { _ in Masks() }, to: ObjectValues.self)
        for slot in live { copy.set(storage[slot], slot) }
        copy.changed = changed
        copy.event = event
        copy.rare = rare?.copy()
        return copy
    }

    /// The same values, with nothing of the event in which they were set.
    func copyWithoutEvent() -> ObjectValues {
        let copy = copy()
        copy.event.removeAll()
        if copy.hasRare { copy.eventOld = [] }
        return copy
    }

    // MARK: What few objects have

    /// Whether any of the following is not empty.
    var hasRare: Bool { rare != nil }

    /// The values before this event of the properties in `event` that already differed from the committed values.
    var eventOld: [ValueBeforeEvent] {
        get { rare?.eventOld ?? [] }
        set { madeRare().eventOld = newValue }
    }
    /// The order values of this object's to-one relationships whose inverse is ordered, by slot.
    var orders: [Int: Int64] {
        get { rare?.orders ?? [:] }
        set { madeRare().orders = newValue }
    }
    /// Keys and orders of owners whose one-way to-many relationships have this object, by column.
    var owners: [Int: OwnerChange] {
        get { rare?.owners ?? [:] }
        set { madeRare().owners = newValue }
    }

    /// Whether it has got a place in an ordered relationship, or an owner.
    var isPlaced: Bool { rare.map { !$0.orders.isEmpty || !$0.owners.isEmpty } ?? false }

    /// Orders and owners are assigned anew by the next save.
    func forgetAssigned() {
        guard let rare else { return }
        rare.orders = [:]
        rare.owners = [:]
    }

    func forgetRare() {
        if rare != nil { rare = nil }
    }

    private func madeRare() -> Rare {
        if let rare { return rare }
        let made = Rare()
        rare = made
        return made
    }
}

/// A property's value at the beginning of the current event.
struct ValueBeforeEvent {
    enum Content {
        case attribute(Value)
        case toOne(NSManagedObject?)
        /// The members' journal has the former members.
        case toMany(ToManyMembers)
        /// A relationship that was not read: its former value is the committed one.
        case unread
    }

    var slot: Int
    var content: Content
}

/// The fields that only some objects need; stored in each object, every field would cost a word.
final class ObjectExtras: @unchecked Sendable {
    // Safe because the ID is taken and replaced atomically, and none goes before the object; the rest belongs to the
    // context's queue.

    private let idAddress = Atomic<UInt>(0)
    var batch: BatchPlace?
    /// The relationships that are being changed by way of their primitive values.
    var manualChanges: [ManualChange] = []
    /// The publisher that is notified before any change.
    var announcer: AnyObject?
    var announce: (() -> Void)?
    /// The observers of properties by key path.
    private(set) var observers: PropertyObservers<Int>?
    /// The slots with observers.
    var observed = IndexMask()
    /// The observed slots whose values were replaced by different ones in this event; `nil` if they were not compared.
    var differing: IndexMask?
    /// The objects of fetched properties that were read, by slot.
    var fetched: [Int: [NSManagedObject]] = [:]
    /// The object of the parent context to which this one was saved. As long as it lives, the parent knows which row
    /// the object had. With the next save it therefore does not treat changes of other writers as seen here.
    var savedTo: NSManagedObject?
    /// The recorder of an object that only shows which keys are read from it; see ``KeyPathProbe``.
    var probe: AnyObject?

    func madeObservers() -> PropertyObservers<Int> {
        if let observers { return observers }
        let made = PropertyObservers<Int>()
        observers = made
        return made
    }

    deinit { Self.id(at: idAddress.load(ordering: .relaxed))?.release() }

    private static func id(at address: UInt) -> Unmanaged<NSManagedObjectID>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }

    var id: NSManagedObjectID? { Self.id(at: idAddress.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Stores the ID unless one is stored already, and returns the stored one.
    func take(_ id: NSManagedObjectID) -> NSManagedObjectID {
        let taken = Unmanaged.passRetained(id)
        let (isFirst, address) = idAddress.compareExchange(
            expected: 0, desired: UInt(bitPattern: taken.toOpaque()), ordering: .acquiringAndReleasing)
        if isFirst { return id }
        taken.release()
        return Self.id(at: address)?.takeUnretainedValue() ?? id
    }

    /// Stores another ID. The replaced one stays alive, since another thread may be about to retain it.
    func replace(with id: NSManagedObjectID) {
        let old = Self.id(at: idAddress.load(ordering: .relaxed))
        if let old { id.replaced = old.takeRetainedValue() }
        idAddress.store(UInt(bitPattern: Unmanaged.passRetained(id).toOpaque()), ordering: .releasing)
    }
}

/// The state of an object; see ``NSManagedObject``.
struct ObjectFlags: OptionSet {
    let rawValue: UInt32

    /// Whether the context already has the object in its lists of changes, including this event's, and no observer is
    /// notified of each change.
    var isListedAsChanged: Bool {
        !isDisjoint(with: [.inserted, .updated]) && !isDisjoint(with: [.eventInserted, .eventUpdated])
            && !contains(.announces)
    }

    /// The values have not been read, or were released.
    static let fault = ObjectFlags(rawValue: 1 << 0)
    static let inserted = ObjectFlags(rawValue: 1 << 1)
    static let updated = ObjectFlags(rawValue: 1 << 2)
    static let deleted = ObjectFlags(rawValue: 1 << 3)
    /// The context's source has no row for it: it was made here and has not been saved, whatever its key.
    static let new = ObjectFlags(rawValue: 1 << 15)
    /// The context was reset: it is none of its objects any more, and counts as a fault.
    static let forgotten = ObjectFlags(rawValue: 1 << 20)
    /// In the list that is being made.
    static let collected = ObjectFlags(rawValue: 1 << 14)
    /// In the context's list of that name, whether or not it still has the state.
    static let listedInserted = ObjectFlags(rawValue: 1 << 4)
    static let listedUpdated = ObjectFlags(rawValue: 1 << 5)
    static let listedDeleted = ObjectFlags(rawValue: 1 << 6)
    /// Inserted, changed or deleted since changes were last processed.
    static let eventInserted = ObjectFlags(rawValue: 1 << 7)
    static let eventUpdated = ObjectFlags(rawValue: 1 << 8)
    static let eventDeleted = ObjectFlags(rawValue: 1 << 9)
    static let event: ObjectFlags = [.eventInserted, .eventUpdated, .eventDeleted]
    /// `awakeFromFetch` and its kin run: attributes set there are not changes.
    static let ignoresChanges = ObjectFlags(rawValue: 1 << 10)
    /// The row was deleted; every property reads as nil.
    static let inaccessible = ObjectFlags(rawValue: 1 << 11)
    /// Between `willTurnIntoFault` and `didTurnIntoFault`, or while a fault fires.
    static let inTransition = ObjectFlags(rawValue: 1 << 12)
    /// Registered in the context under its key.
    static let registered = ObjectFlags(rawValue: 1 << 13)
    /// An integer was set that its attribute may be too narrow for, or a number that is none; validation looks closer.
    static let wideInteger = ObjectFlags(rawValue: 1 << 16)
    /// A property has, or had, an observer.
    static let observed = ObjectFlags(rawValue: 1 << 17)
    /// A publisher is notified before any change.
    static let announces = ObjectFlags(rawValue: 1 << 18)
    /// Its deletion is written, and the context releases it before the save ends.
    static let leaving = ObjectFlags(rawValue: 1 << 19)
}
