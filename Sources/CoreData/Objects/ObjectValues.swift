import CoreDataPrimitives

/// A set of slots; the first 64 without an allocation.
struct SlotSet {
    private var low: UInt64 = 0
    private var high: [UInt64] = []

    var isEmpty: Bool { low == 0 && high.allSatisfy { $0 == 0 } }

    func contains(_ slot: Int) -> Bool {
        if slot < 64 { return low & (1 << UInt64(slot)) != 0 }
        let index = slot >> 6 - 1
        return index < high.count && high[index] & (1 << UInt64(slot & 63)) != 0
    }

    mutating func insert(_ slot: Int) {
        if slot < 64 {
            low |= 1 << UInt64(slot)
            return
        }
        let index = slot >> 6 - 1
        while high.count <= index { high.append(0) }
        high[index] |= 1 << UInt64(slot & 63)
    }

    mutating func remove(_ slot: Int) {
        if slot < 64 {
            low &= ~(1 << UInt64(slot))
        } else if slot >> 6 - 1 < high.count {
            high[slot >> 6 - 1] &= ~(1 << UInt64(slot & 63))
        }
    }

    mutating func removeAll() {
        low = 0
        high = []
    }

    mutating func formUnion(_ other: SlotSet) { other.forEach { insert($0) } }

    func forEach(_ body: (Int) throws -> Void) rethrows {
        try Self.forEachBit(low, from: 0, body)
        for (index, word) in high.enumerated() { try Self.forEachBit(word, from: (index + 1) * 64, body) }
    }

    private static func forEachBit(_ word: UInt64, from base: Int, _ body: (Int) throws -> Void) rethrows {
        var rest = word
        while rest != 0 {
            try body(base + rest.trailingZeroBitCount)
            rest &= rest - 1
        }
    }
}

/// What differs from an object's row: made when the first value is set, gone when the object is clean again.
final class ObjectValues {
    // As with the fields of an object, nobody else looks at one while it changes.

    /// Attributes by slot; `nil` where the row, or for a new object the default, still holds.
    @exclusivity(unchecked) var live: [Value?]
    /// What was set since the last save.
    @exclusivity(unchecked) var changed = SlotSet()
    /// What was set since changes were last processed.
    @exclusivity(unchecked) var event = SlotSet()
    /// The values before this event of those in `event` that differed from the committed ones already.
    var eventOld: [ValueBeforeEvent] = []
    /// Order values given to this object's to-one relationships whose inverse is ordered, by slot.
    var orders: [Int: Int64] = [:]
    /// Keys and orders of owners whose one-way to-many relationships have this object, by column.
    var owners: [Int: OwnerChange] = [:]

    init(slotCount: Int) { live = [Value?](repeating: nil, count: slotCount) }
}

/// A property's value as it was when the current event began.
struct ValueBeforeEvent {
    enum Content {
        case attribute(Value)
        case toOne(NSManagedObject?)
        case toMany([NSManagedObject])
        /// A relationship that nobody had read: it was as it is committed.
        case unread
    }

    var slot: Int
    var content: Content
}

/// What only some objects have; each field on its own would cost every object a word.
final class ObjectExtras {
    var id: NSManagedObjectID?
    var batch: FaultBatch?
}

/// Where an object stands; see ``NSManagedObject``.
struct ObjectFlags: OptionSet {
    let rawValue: UInt32

    /// Values have not been read, or have been let go.
    static let fault = ObjectFlags(rawValue: 1 << 0)
    static let inserted = ObjectFlags(rawValue: 1 << 1)
    static let updated = ObjectFlags(rawValue: 1 << 2)
    static let deleted = ObjectFlags(rawValue: 1 << 3)
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
    /// `awakeFromFetch` and its kin run: attributes set there are not changes.
    static let ignoresChanges = ObjectFlags(rawValue: 1 << 10)
    /// The row is gone; every property reads as nil.
    static let inaccessible = ObjectFlags(rawValue: 1 << 11)
    /// Between `willTurnIntoFault` and `didTurnIntoFault`, or while a fault fires.
    static let inTransition = ObjectFlags(rawValue: 1 << 12)
    /// Registered in the context under its key.
    static let registered = ObjectFlags(rawValue: 1 << 13)
}
