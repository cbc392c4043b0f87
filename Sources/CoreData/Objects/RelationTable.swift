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
///  ┌───────┬────────────┬────────────┬─
///  │ count │ relation 0 │ relation 1 │ …
///  └───────┴────────────┴────────────┴─
/// ```
/// It belongs to one object, which empties it before it goes; a copy of it, as a loop makes one, is of use only until then.
/// An array would ask the runtime for its storage's type each time and count references to that storage.
struct RelationTable: RandomAccessCollection, MutableCollection {
    private var memory: UnsafeMutableRawPointer?

    private static var headerSize: Int { 16 }

    var isEmpty: Bool { memory == nil }
    var startIndex: Int { 0 }
    var endIndex: Int { memory?.load(as: Int.self) ?? 0 }

    subscript(index: Int) -> RelationValue {
        get { place(index).pointee }
        nonmutating set { place(index).pointee = newValue }
    }

    @inline(__always)
    private func place(_ index: Int) -> UnsafeMutablePointer<RelationValue> {
        assert(index >= 0 && index < endIndex, "no such relationship")
        let values = memory.unsafelyUnwrapped + Self.headerSize
        return values.assumingMemoryBound(to: RelationValue.self) + index
    }

    /// Makes room for that many, none of which has been looked at.
    mutating func make(_ count: Int) {
        removeAll()
        guard count > 0 else { return }
        guard let made = malloc(Self.headerSize + count * MemoryLayout<RelationValue>.stride) else {
            fatalError("out of memory")
        }
        made.storeBytes(of: count, as: Int.self)
        (made + Self.headerSize).bindMemory(to: RelationValue.self, capacity: count)
            .initialize(repeating: .unread, count: count)
        memory = made
    }

    mutating func removeAll() {
        guard let old = memory else { return }
        let count = endIndex
        // First out of reach: whoever goes with the last reference to him finds it empty.
        memory = nil
        (old + Self.headerSize).assumingMemoryBound(to: RelationValue.self).deinitialize(count: count)
        free(old)
    }
}
