import Synchronization

/// The header before the words of each row.
@usableFromInline
struct RowHeader: ~Copyable {
    @usableFromInline var primaryKey: Int64
    /// The number of words that represent the row; see ``RowSnapshot/retainedWord()``. While it is not 0, the words
    /// together retain the slab once. The top bit records whether the row was superseded; see
    /// ``RowSnapshot/supersede(_:)``.
    @usableFromInline let holders: Atomic<UInt32>
    /// The offset of the header from the start of its slab.
    @usableFromInline let offset: UInt16
    /// The number of bytes of the row including the header; 0 if the number does not fit.
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

/// One allocation that contains several rows. Allocating each row by itself costs a tenth of a fetch. Rows that are
/// read together should also be adjacent in memory.
///
/// ```
///  object header, capacity | row | row | row | … | room
///  24 bytes
/// ```
/// The last row to be released frees the slab, so one row in use keeps at most ``size`` bytes allocated. It subclasses
/// `ManagedBuffer`, because only that class allows elements after the object's fields.
@usableFromInline
final class RowSlab: ManagedBuffer<Int, UInt64> {
    /// Large enough that the allocation adds little to each row; small enough that one row in use wastes little memory.
    static var size: Int { 2048 }

    static func make(byteCount: Int) -> RowSlab {
        unsafeDowncast(create(minimumCapacity: byteCount >> 3) { _ in byteCount }, to: RowSlab.self)
    }

    /// Makes a slab for one row and the values outside it, which the slab retains.
    ///
    /// The number of values is in the upper bits of the capacity; the references are after the row.
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

    /// The address of the row at the offset from the slab's start.
    @inlinable func address(_ offset: Int) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(self).toOpaque() + offset
    }

    /// The offset of the first row: after the object's header and the capacity.
    static var firstOffset: Int { 24 }
}
