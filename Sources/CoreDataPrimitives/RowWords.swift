import Foundation
import Synchronization

/// An unretained reference to a row that another object holds.
///
/// A ``RowSnapshot`` is retained and released around each call into another module. A view is never retained, and its
/// readers of numbers are inlined into the caller: a few loads.
///
/// A view is valid only while the row is held.
@usableFromInline
package struct RowView: Equatable {
    @usableFromInline let header: UnsafePointer<RowHeader>

    /// A view of the row that the word represents; see ``RowSnapshot/retainedWord()``.
    @inlinable package init(word: UInt) {
        header = UnsafePointer(bitPattern: word).unsafelyUnwrapped
    }

    @inlinable init(header: UnsafePointer<RowHeader>) { self.header = header }

    /// The words start after the header.
    @inlinable var words: UnsafePointer<UInt64> {
        (UnsafeRawPointer(header) + RowHeader.size).assumingMemoryBound(to: UInt64.self)
    }

    @inlinable package var primaryKey: Int64 { header.pointee.primaryKey }
    @inlinable package var version: Int32 { header.pointee.version }
    @inlinable package var columnCount: Int { Int(header.pointee.columnCount) }
    @inlinable package var entity: Int { Int(header.pointee.entity) }

    @inlinable package func isNull(_ column: Int) -> Bool { words[column >> 6] & (1 << UInt64(column & 63)) != 0 }

    /// Returns whether a column that reads as NULL may have a value in the store: bytes that could not be decoded,
    /// which this row keeps, or an integer that was not requested.
    @inlinable package func isUnreadable(_ column: Int) -> Bool { isNull(column) && word(column) != 0 }

    /// Returns the integer; 0 if it is NULL and was requested from the store.
    @inlinable package func integer(_ column: Int) -> Int64 { Int64(bitPattern: word(column)) }

    /// The double, 0 when NULL.
    @inlinable package func real(_ column: Int) -> Double { Double(bitPattern: word(column)) }

    /// The text, `nil` when NULL.
    package func text(_ column: Int) -> String? {
        isNull(column) ? nil : String(decoding: bytes(column), as: UTF8.self)
    }

    /// Returns the bytes of a text or blob column, valid while the row is held. They are empty if the column is NULL,
    /// unless it is unreadable.
    @inlinable package func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let word = word(column)
        if word & HeldPlace.mark != 0 { return heldBytes(word) }
        return UnsafeRawBufferPointer(start: place(word), count: Int(word & 0xFFFF_FFFF))
    }

    /// The address in the row that a word points to.
    @inlinable @inline(__always)
    func place(_ word: UInt64) -> UnsafeRawPointer {
        let count = Int(header.pointee.columnCount)
        return UnsafeRawPointer(words + RowSnapshot.nullWords(count) + count) + Int((word >> 32) & 0x7FFF_FFFF)
    }

    /// Returns whether the column has equal values in both rows, which must have the same layout.
    package func isEqual(to other: RowView, at column: Int, kind: ColumnKind) -> Bool {
        if isNull(column) != other.isNull(column) { return false }
        switch kind {
        case .integer, .real: return word(column) == other.word(column)
        case .text, .blob:
            let (a, b) = (bytes(column), other.bytes(column))
            guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else {
                return a.count == b.count
            }
            return first == second || memcmp(first, second, a.count) == 0
        }
    }

    /// Returns whether every column has equal values in both rows; their versions do not count.
    ///
    /// Rows that were read usually have identical bytes. A row that a save made from another row may have its texts at
    /// other offsets.
    package func isEqual(to other: RowView, kinds: [ColumnKind]) -> Bool {
        guard entity == other.entity, columnCount == other.columnCount else { return false }
        let (mine, others) = (UnsafeRawPointer(header), UnsafeRawPointer(other.header))
        let size = Int(header.pointee.size)
        if size != 0, size == Int(other.header.pointee.size),
            memcmp(mine + RowHeader.size, others + RowHeader.size, size - RowHeader.size) == 0
        {
            return true
        }
        guard kinds.count == columnCount else { return false }
        return kinds.indices.allSatisfy { column in
            // An integer that one row did not request is no difference.
            if kinds[column] == .integer, isUnreadable(column) || other.isUnreadable(column) { return true }
            return isUnreadable(column) == other.isUnreadable(column)
                && isEqual(to: other, at: column, kind: kinds[column])
        }
    }

    @inlinable
    func word(_ column: Int) -> UInt64 {
        assert(column >= 0 && column < Int(header.pointee.columnCount), "column out of range")
        return words[RowSnapshot.nullWords(Int(header.pointee.columnCount)) + column]
    }
}

/// One hold on a row. Passing it on counts no references; releasing it releases the hold. The type is not copyable, so
/// the compiler enforces exactly one of the two.
@frozen @usableFromInline
package struct HeldRow: ~Copyable, @unchecked Sendable {
    // Safe because the row is immutable and its holders are counted atomically.

    @usableFromInline let header: UnsafePointer<RowHeader>

    @inlinable init(header: UnsafePointer<RowHeader>) { self.header = header }

    /// Takes over the hold of a word; fails for 0.
    @inlinable package init?(word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return nil }
        self.header = header
    }

    /// Takes over the hold of a word that represents a row.
    @inlinable package init(taking word: UInt) { header = RowView(word: word).header }

    /// Adds a hold on the row.
    @inlinable package init(_ row: RowSnapshot) { self.init(taking: row.retainedWord()) }

    @inlinable deinit { RowSnapshot.release(UInt(bitPattern: header)) }

    /// A view that is valid while this value exists.
    @inlinable package var view: RowView { RowView(header: header) }

    /// Returns the word that represents the row; the word takes over the hold.
    @inlinable package consuming func intoWord() -> UInt {
        let word = UInt(bitPattern: header)
        discard self
        return word
    }

    /// Returns the word of a row, as ``intoWord()`` does; 0 for `nil`.
    @inlinable package static func word(of row: consuming HeldRow?) -> UInt {
        switch consume row {
        case .some(let row): row.intoWord()
        case .none: 0
        }
    }

    /// Returns the row as a reference; the snapshot takes over the hold.
    @inlinable package consuming func snapshot() -> RowSnapshot { RowSnapshot(taking: intoWord()) }
}

/// Rows as words. Tables, lists and objects store words instead of references, so that passing a row on counts nothing.
/// A word holds the row that it represents; a ``HeldRow`` carries the hold from one place to another.
extension RowSnapshot {
    /// Returns a word that represents the row and holds it; pass it to ``release(_:)`` at the end.
    @inlinable package func retainedWord() -> UInt {
        // The first word retains the slab; the last one releases it.
        if header.pointee.holders.add(1, ordering: .relaxed).oldValue & ~Self.supersededMark == 0 {
            _ = Unmanaged.passRetained(slab)
        }
        return UInt(bitPattern: header)
    }

    /// The row that the word represents; the word keeps its hold. Fails for 0.
    @inlinable package init?(word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return nil }
        self.init(slab: Self.slab(header).takeUnretainedValue(), header: header)
    }

    /// The row that the word represented; the word's hold is released.
    @inlinable package init(taking word: UInt) {
        // Retain the slab before releasing the word: another thread may release the last other word at the same time.
        let header = RowView(word: word).header
        self.init(slab: Self.slab(header).takeUnretainedValue(), header: header)
        Self.release(word)
    }

    /// Adds a hold on the row that the word represents.
    @inlinable package static func retain(_ word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return }
        header.pointee.holders.add(1, ordering: .relaxed)
    }

    /// Releases `times` holds on the row that the word represented.
    @inlinable package static func release(_ word: UInt, times: UInt32 = 1) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return }
        let held = header.pointee.holders.subtract(times, ordering: .acquiringAndReleasing).oldValue
        assert(held & ~supersededMark >= times, "the row was given up more often than it was held")
        if held & ~supersededMark == times { slab(header).release() }
    }

    /// Returns the number of words that represent the row; other threads may change it at any time.
    @inlinable package static func holders(of word: UInt) -> UInt32 {
        RowView(word: word).header.pointee.holders.load(ordering: .acquiring) & ~supersededMark
    }

    /// Marks the row, for all its holders, as superseded: the store has another row since, or none, or its state is
    /// unknown.
    package static func supersede(_ word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return }
        header.pointee.holders.bitwiseOr(supersededMark, ordering: .relaxed)
    }

    /// Marks the row as superseded, as ``supersede(_:)`` does.
    package func supersede() { Self.supersede(UInt(bitPattern: header)) }

    /// Returns whether ``supersede(_:)`` was called for the row.
    @inlinable package static func isSuperseded(_ word: UInt) -> Bool {
        RowView(word: word).header.pointee.holders.load(ordering: .relaxed) & supersededMark != 0
    }

    /// The bit next to the number of holders.
    @usableFromInline static var supersededMark: UInt32 { 0x8000_0000 }

    @inlinable static func slab(_ header: UnsafePointer<RowHeader>) -> Unmanaged<RowSlab> {
        .fromOpaque(UnsafeRawPointer(header) - Int(header.pointee.offset))
    }
}

/// The rows of a result, each held once. A caller that takes a row out takes over its hold. Some positions may have no
/// row.
@usableFromInline
package final class RowList: RandomAccessCollection {
    @exclusivity(unchecked) @usableFromInline var words: ContiguousArray<UInt> = []

    package init() {}

    deinit { removeAll() }

    @inlinable package var startIndex: Int { 0 }
    @inlinable package var endIndex: Int { words.count }

    @inlinable package subscript(index: Int) -> RowSnapshot {
        guard let row = RowSnapshot(word: words[index]) else { preconditionFailure("the row was taken out") }
        return row
    }

    @inlinable package func append(_ row: consuming RowSnapshot) { words.append(row.retainedWord()) }

    @inlinable package func append(_ row: consuming HeldRow?) { words.append(HeldRow.word(of: row)) }

    /// Puts a row in an empty position.
    @inlinable package func put(_ row: consuming HeldRow?, at index: Int) {
        assert(words[index] == 0, "the place has a row")
        words[index] = HeldRow.word(of: row)
    }

    /// Returns whether the position has a row.
    @inlinable package func hasRow(_ index: Int) -> Bool { words[index] != 0 }

    /// Returns a view of the row in a position that has one; valid while the list holds the row.
    @inlinable package func view(_ index: Int) -> RowView { RowView(word: words[index]) }

    /// Releases every row.
    package func removeAll() {
        for word in words where word != 0 { RowSnapshot.release(word) }
        words.removeAll(keepingCapacity: true)
    }

    /// Returns the word of a row; the list keeps its hold.
    @inlinable package func word(_ index: Int) -> UInt { words[index] }

    /// Replaces the word of a position and returns the old one. The list takes over the new word's hold and hands over
    /// the old one's.
    @inlinable package func exchange(_ index: Int, _ word: UInt) -> UInt {
        let old = words[index]
        words[index] = word
        return old
    }

    /// Takes the row out of a position, with its hold; `nil` if there is none.
    @inlinable package func take(_ index: Int) -> HeldRow? { HeldRow(word: exchange(index, 0)) }

    /// References to the rows of all positions that have one.
    package var snapshots: [RowSnapshot] { words.compactMap { RowSnapshot(word: $0) } }
}
