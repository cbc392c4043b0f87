import Foundation
import Synchronization

/// A row without a reference to it: what reads from a row that somebody else holds.
///
/// A ``RowSnapshot`` is retained and released around each call into another module; a view never is, and what reads
/// numbers is inlined into the caller: a few loads.
///
/// A view is valid only as long as the row is held.
@usableFromInline
package struct RowView: Equatable {
    @usableFromInline let header: UnsafePointer<RowHeader>

    /// A view of the row that the word stands for; see ``RowSnapshot/retainedWord()``.
    @inlinable package init(word: UInt) {
        header = UnsafePointer(bitPattern: word).unsafelyUnwrapped
    }

    @inlinable init(header: UnsafePointer<RowHeader>) { self.header = header }

    /// Behind the header.
    @inlinable var words: UnsafePointer<UInt64> {
        (UnsafeRawPointer(header) + RowHeader.size).assumingMemoryBound(to: UInt64.self)
    }

    @inlinable package var primaryKey: Int64 { header.pointee.primaryKey }
    @inlinable package var version: Int32 { header.pointee.version }
    @inlinable package var columnCount: Int { Int(header.pointee.columnCount) }
    @inlinable package var entity: Int { Int(header.pointee.entity) }

    @inlinable package func isNull(_ column: Int) -> Bool { words[column >> 6] & (1 << UInt64(column & 63)) != 0 }

    /// Whether a column that counts as NULL may have a value in the store: bytes that could not be read, which are what the store has for
    /// it, or a whole number that nobody has asked the store for.
    @inlinable package func isUnreadable(_ column: Int) -> Bool { isNull(column) && word(column) != 0 }

    /// The integer, 0 when NULL, unless nobody has asked for it.
    @inlinable package func integer(_ column: Int) -> Int64 { Int64(bitPattern: word(column)) }

    /// The double, 0 when NULL.
    @inlinable package func real(_ column: Int) -> Double { Double(bitPattern: word(column)) }

    /// The text, `nil` when NULL.
    package func text(_ column: Int) -> String? {
        isNull(column) ? nil : String(decoding: bytes(column), as: UTF8.self)
    }

    /// The bytes of a text or blob column, as long as the row is held; empty when NULL, unless it is unreadable.
    @inlinable package func bytes(_ column: Int) -> UnsafeRawBufferPointer {
        let word = word(column)
        if word & HeldPlace.mark != 0 { return heldBytes(word) }
        return UnsafeRawBufferPointer(start: place(word), count: Int(word & 0xFFFF_FFFF))
    }

    /// Where in the row a word leads.
    @inlinable @inline(__always)
    func place(_ word: UInt64) -> UnsafeRawPointer {
        let count = Int(header.pointee.columnCount)
        return UnsafeRawPointer(words + RowSnapshot.nullWords(count) + count) + Int((word >> 32) & 0x7FFF_FFFF)
    }

    /// Whether the column holds the same in both rows; the rows must be of one layout.
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

    /// Whether every column holds the same in both rows, whatever their versions.
    ///
    /// Rows that were read are mostly the same bytes; one that was made of another, for a save, may have its texts elsewhere.
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
            // What one of them does not know yet is no difference.
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

/// A row that is held once, by whoever has this: handed on, it counts nothing; let go of, it gives the row up. The compiler sees that
/// nobody does both, or neither.
@frozen @usableFromInline
package struct HeldRow: ~Copyable, @unchecked Sendable {
    // Safe because the row is immutable and its holders are counted atomically.

    @usableFromInline let header: UnsafePointer<RowHeader>

    @inlinable init(header: UnsafePointer<RowHeader>) { self.header = header }

    /// Takes over the hold of a word; `nil` for 0.
    @inlinable package init?(word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return nil }
        self.header = header
    }

    /// Takes over the hold of a word that stands for a row.
    @inlinable package init(taking word: UInt) { header = RowView(word: word).header }

    /// Holds the row once more.
    @inlinable package init(_ row: RowSnapshot) { self.init(taking: row.retainedWord()) }

    @inlinable deinit { RowSnapshot.release(UInt(bitPattern: header)) }

    /// Valid as long as this is here.
    @inlinable package var view: RowView { RowView(header: header) }

    /// The word that stands for the row, and holds it from now on.
    @inlinable package consuming func intoWord() -> UInt {
        let word = UInt(bitPattern: header)
        discard self
        return word
    }

    /// As ``intoWord()``; 0 for no row.
    @inlinable package static func word(of row: consuming HeldRow?) -> UInt {
        switch consume row {
        case .some(let row): row.intoWord()
        case .none: 0
        }
    }

    /// The row with a reference.
    @inlinable package consuming func snapshot() -> RowSnapshot { RowSnapshot(taking: intoWord()) }
}

/// Rows as words: what tables, lists and objects keep inside instead of references, so that handing a row on counts nothing.
/// A word that stands for a row holds it; between them it goes as a ``HeldRow``.
extension RowSnapshot {
    /// The word that stands for the row; give it to ``release(_:)`` in the end.
    @inlinable package func retainedWord() -> UInt {
        // The first word keeps the slab, the last one lets go of it.
        if header.pointee.holders.add(1, ordering: .relaxed).oldValue & ~Self.supersededMark == 0 {
            _ = Unmanaged.passRetained(slab)
        }
        return UInt(bitPattern: header)
    }

    /// The row that the word stands for and goes on holding; `nil` for 0.
    @inlinable package init?(word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return nil }
        self.init(slab: Self.slab(header).takeUnretainedValue(), header: header)
    }

    /// The row that the word stood for and holds no longer.
    @inlinable package init(taking word: UInt) {
        // The slab is held before the word is given up: another thread may give up the last one in between.
        let header = RowView(word: word).header
        self.init(slab: Self.slab(header).takeUnretainedValue(), header: header)
        Self.release(word)
    }

    /// Holds the row that the word stands for once more.
    @inlinable package static func retain(_ word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return }
        header.pointee.holders.add(1, ordering: .relaxed)
    }

    /// Gives up the row that the word stood for, `times` times.
    @inlinable package static func release(_ word: UInt, times: UInt32 = 1) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return }
        let held = header.pointee.holders.subtract(times, ordering: .acquiringAndReleasing).oldValue
        assert(held & ~supersededMark >= times, "the row was given up more often than it was held")
        if held & ~supersededMark == times { slab(header).release() }
    }

    /// How many words stand for the row; others may come and go meanwhile.
    @inlinable package static func holders(of word: UInt) -> UInt32 {
        RowView(word: word).header.pointee.holders.load(ordering: .acquiring) & ~supersededMark
    }

    /// Takes note for all who hold the row that the store has had another one since, or none, or that nobody knows.
    package static func supersede(_ word: UInt) {
        guard let header = UnsafePointer<RowHeader>(bitPattern: word) else { return }
        header.pointee.holders.bitwiseOr(supersededMark, ordering: .relaxed)
    }

    /// As ``supersede(_:)``.
    package func supersede() { Self.supersede(UInt(bitPattern: header)) }

    /// Whether ``supersede(_:)`` was called for the row.
    @inlinable package static func isSuperseded(_ word: UInt) -> Bool {
        RowView(word: word).header.pointee.holders.load(ordering: .relaxed) & supersededMark != 0
    }

    /// Beside the number of holders.
    @usableFromInline static var supersededMark: UInt32 { 0x8000_0000 }

    @inlinable static func slab(_ header: UnsafePointer<RowHeader>) -> Unmanaged<RowSlab> {
        .fromOpaque(UnsafeRawPointer(header) - Int(header.pointee.offset))
    }
}

/// The rows of a result, each held once; whoever takes one out holds it from then on. There may be places without a row.
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

    /// Puts a row in a place that has none.
    @inlinable package func put(_ row: consuming HeldRow?, at index: Int) {
        assert(words[index] == 0, "the place has a row")
        words[index] = HeldRow.word(of: row)
    }

    /// Whether there is a row in the place.
    @inlinable package func hasRow(_ index: Int) -> Bool { words[index] != 0 }

    /// The row in a place that has one, for as long as it is there.
    @inlinable package func view(_ index: Int) -> RowView { RowView(word: words[index]) }

    /// Lets go of every row.
    package func removeAll() {
        for word in words where word != 0 { RowSnapshot.release(word) }
        words.removeAll(keepingCapacity: true)
    }

    /// The word of a row; the list goes on holding it.
    @inlinable package func word(_ index: Int) -> UInt { words[index] }

    /// Puts another word in the place of one; the list holds the new one and no longer the old.
    @inlinable package func exchange(_ index: Int, _ word: UInt) -> UInt {
        let old = words[index]
        words[index] = word
        return old
    }

    /// The row of a place, which the caller holds from now on; `nil` where there is none.
    @inlinable package func take(_ index: Int) -> HeldRow? { HeldRow(word: exchange(index, 0)) }

    /// The rows that there are, with references.
    package var snapshots: [RowSnapshot] { words.compactMap { RowSnapshot(word: $0) } }
}
