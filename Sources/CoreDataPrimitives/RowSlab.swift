import Synchronization

/// What stands before the words of each row.
@usableFromInline
struct RowHeader: ~Copyable {
    @usableFromInline var primaryKey: Int64
    /// How many words stand for the row; see ``RowSnapshot/retainedWord()``. As long as there are any, they hold the slab once. The
    /// upper bit tells whether it was superseded; see ``RowSnapshot/supersede(_:)``.
    @usableFromInline let holders: Atomic<UInt32>
    /// How far behind its slab's start the header lies.
    @usableFromInline let offset: UInt16
    /// How many bytes the header and what follows it have; 0 for more than this can say.
    let size: UInt16
    /// The optimistic-locking counter (`Z_OPT`) at which these values were read or written.
    @usableFromInline let version: Int32
    /// The ordinal of the row's own entity in the model.
    @usableFromInline let entity: UInt16
    @usableFromInline let columnCount: UInt16

    init(
        primaryKey: Int64, holders: UInt32, offset: Int, size: Int, version: Int32, entity: Int, columnCount: Int
    ) {
        self.primaryKey = primaryKey
        self.holders = Atomic(holders)
        self.offset = UInt16(truncatingIfNeeded: offset)
        self.size = UInt16(exactly: size) ?? 0
        self.version = version
        self.entity = UInt16(truncatingIfNeeded: entity)
        self.columnCount = UInt16(truncatingIfNeeded: columnCount)
    }

    @inlinable static var size: Int { 24 }
}

/// Rows that were made one after another, in one allocation: one for each row is a tenth of what a fetch executes, and rows
/// that are read together shall lie together.
///
/// ```
///  object header, capacity | row | row | row | … | room
///  24 bytes
/// ```
/// The slab goes with the last of its rows, so one row that is kept keeps at most ``size`` bytes. A class of the standard
/// library's, because only that can be followed by elements.
@usableFromInline
final class RowSlab: ManagedBuffer<Int, UInt64> {
    /// Large enough that the allocation costs each row little, small enough that a row which outlives the others keeps little.
    static var size: Int { 2048 }

    static func make(byteCount: Int) -> RowSlab {
        unsafeDowncast(create(minimumCapacity: byteCount >> 3) { _ in byteCount }, to: RowSlab.self)
    }

    /// A slab of one row, with the values beside it, which it holds.
    ///
    /// Their number is in the upper bits of the capacity, they themselves behind the row.
    static func make(byteCount: Int, holding bytes: [HeldBytes]) -> RowSlab {
        let total = byteCount + (bytes.count << 3)
        let slab = unsafeDowncast(
            create(minimumCapacity: total >> 3) { _ in total | (bytes.count << 48) }, to: RowSlab.self)
        for (index, bytes) in bytes.enumerated() {
            (slab.address(firstOffset) + byteCount).storeBytes(
                of: Unmanaged.passRetained(bytes).toOpaque(), toByteOffset: index << 3,
                as: UnsafeMutableRawPointer.self)
        }
        return slab
    }

    deinit {
        let count = header >> 48
        guard count > 0 else { return }
        let end = address(Self.firstOffset) + (header & 0xFFFF_FFFF_FFFF)
        for index in 1...count {
            let holder = (end - (index << 3)).load(as: UnsafeMutableRawPointer.self)
            Unmanaged<HeldBytes>.fromOpaque(holder).release()
        }
    }

    /// The row at that offset from the slab's start.
    @inlinable func address(_ offset: Int) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(self).toOpaque() + offset
    }

    /// Where the first row lies: behind the object's header and the capacity.
    static var firstOffset: Int { 24 }
}
