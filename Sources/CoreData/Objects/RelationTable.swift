import Foundation

/// A relationship of an object, as far as it has been looked at.
enum RelationValue {
    /// The row, or nothing for a new object, says what it is.
    case unread
    case toOne(NSManagedObject?)
    case toMany(ToManyMembers)
}

/// What is known of an object's relationships, by their position: no memory until one of them is looked at.
///
/// ```
///  ┌───────┬────────────┬────────────┬─      0                        unread
///  │ count │ relation 0 │ relation 1 │ …     1                        a to-one that is nil
///  └───────┴────────────┴────────────┴─      address of an object     a to-one
///                                            address of members + 2   a to-many
/// ```
/// It belongs to one object, which empties it before it goes; a copy of it, as a loop makes one, is of use only until then.
/// Words and not an array of ``RelationValue``: to look at one would count references to what is in it. The words hold it.
struct RelationTable: RandomAccessCollection, MutableCollection {
    private var memory: UnsafeMutablePointer<UInt>?

    private static var noObject: UInt { 1 }
    private static var membersTag: UInt { 2 }

    var isEmpty: Bool { memory == nil }
    var startIndex: Int { 0 }
    var endIndex: Int { memory.map { Int($0.pointee) } ?? 0 }

    subscript(index: Int) -> RelationValue {
        get {
            if let members = uncountedMembers(index) { return .toMany(members.takeUnretainedValue()) }
            return isRead(index) ? .toOne(uncountedToOne(index)?.takeUnretainedValue()) : .unread
        }
        nonmutating set {
            switch newValue {
            case .unread: replace(index, 0)
            case .toOne(let object): setToOne(index, object)
            case .toMany(let members): replace(index, Self.word(members) | Self.membersTag)
            }
        }
    }

    // MARK: Without counting references

    /// Whether it has been looked at.
    @inline(__always)
    func isRead(_ index: Int) -> Bool { place(index).pointee != 0 }

    /// The destination of a to-one that has been looked at; valid until another one is set.
    @inline(__always)
    func uncountedToOne(_ index: Int) -> Unmanaged<NSManagedObject>? {
        let word = place(index).pointee
        guard word > Self.noObject, word & Self.membersTag == 0 else { return nil }
        return .fromOpaque(UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped)
    }

    /// The members of a to-many that has been looked at; valid until it is set.
    @inline(__always)
    func uncountedMembers(_ index: Int) -> Unmanaged<ToManyMembers>? {
        let word = place(index).pointee
        guard word & Self.membersTag != 0 else { return nil }
        return .fromOpaque(UnsafeRawPointer(bitPattern: word & ~Self.membersTag).unsafelyUnwrapped)
    }

    @inline(__always)
    func setToOne(_ index: Int, _ object: NSManagedObject?) {
        replace(index, object.map(Self.word) ?? Self.noObject)
    }

    /// As above, with the address of an object that was retained for this, or 0.
    @inline(__always)
    func takeToOne(_ index: Int, _ address: UInt) { replace(index, address == 0 ? Self.noObject : address) }

    // MARK: Words

    @inline(__always)
    private func place(_ index: Int) -> UnsafeMutablePointer<UInt> {
        assert(index >= 0 && index < endIndex, "no such relationship")
        return memory.unsafelyUnwrapped + 1 + index
    }

    private func replace(_ index: Int, _ word: UInt) {
        let old = place(index).pointee
        place(index).pointee = word
        Self.release(old)
    }

    private static func word(_ object: some AnyObject) -> UInt {
        UInt(bitPattern: Unmanaged.passRetained(object).toOpaque())
    }

    @inline(__always)
    private static func release(_ word: UInt) {
        guard word > noObject else { return }
        Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: word & ~membersTag).unsafelyUnwrapped).release()
    }

    // MARK: Making and emptying

    /// Makes room for that many, none of which has been looked at.
    mutating func make(_ count: Int) {
        removeAll()
        guard count > 0 else { return }
        guard let made = calloc(count + 1, MemoryLayout<UInt>.stride) else { fatalError("out of memory") }
        memory = made.bindMemory(to: UInt.self, capacity: count + 1)
        memory?.pointee = UInt(count)
    }

    mutating func removeAll() {
        guard let old = memory else { return }
        // First out of reach: whoever goes with the last reference to him finds it empty.
        memory = nil
        for index in 1...Int(old.pointee) { Self.release(old[index]) }
        free(old)
    }
}
