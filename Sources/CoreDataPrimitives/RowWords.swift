import Foundation

/// A row without a reference to it: what reads from a row that somebody else holds.
///
/// A ``RowSnapshot`` is retained and released around each call into another module; a view never is, so reading a
/// number through it costs a load and a call.
///
/// A view is valid only as long as the row is held.
package struct RowView: Equatable {
    private let header: UnsafePointer<RowHeader>
    private let words: UnsafePointer<UInt64>

    /// A view of the row that the word stands for; see ``RowSnapshot/retainedWord()``.
    package init(word: UInt) {
        // A row's header and words lie behind the two words of every object's header, as ManagedBuffer lays them out.
        let start = UnsafeRawPointer(bitPattern: word).unsafelyUnwrapped + RowView.headerOffset
        header = start.assumingMemoryBound(to: RowHeader.self)
        words = (start + MemoryLayout<RowHeader>.size).assumingMemoryBound(to: UInt64.self)
    }

    private static let headerOffset = 16

    package var primaryKey: Int64 { header.pointee.primaryKey }
    package var version: Int32 { header.pointee.version }
    package var entity: Int { Int(header.pointee.entity) }

    package func isNull(_ column: Int) -> Bool { words[column >> 6] & (1 << UInt64(column & 63)) != 0 }

    /// The integer, 0 when NULL.
    package func integer(_ column: Int) -> Int64 { Int64(bitPattern: word(column)) }

    /// The double, 0 when NULL.
    package func real(_ column: Int) -> Double { Double(bitPattern: word(column)) }

    /// The text, `nil` when NULL.
    package func text(_ column: Int) -> String? {
        if isNull(column) { return nil }
        let word = word(column)
        let count = Int(header.pointee.columnCount)
        let start = UnsafeRawPointer(words + RowSnapshot.nullWords(count) + count) + Int(word >> 32)
        return String(
            decoding: UnsafeRawBufferPointer(start: start, count: Int(word & 0xFFFF_FFFF)), as: UTF8.self)
    }

    private func word(_ column: Int) -> UInt64 {
        assert(column >= 0 && column < Int(header.pointee.columnCount), "column out of range")
        return words[RowSnapshot.nullWords(Int(header.pointee.columnCount)) + column]
    }
}

/// Rows as words: what tables, lists and objects keep instead of references, so that handing a row on counts nothing.
/// A word that stands for a row holds it.
extension RowSnapshot {
    /// The word that stands for the row; give it to ``release(_:)`` in the end.
    package consuming func retainedWord() -> UInt { UInt(bitPattern: Unmanaged.passRetained(storage).toOpaque()) }

    /// The row that the word stands for and goes on holding; `nil` for 0.
    package init?(word: UInt) {
        guard let storage = Self.storage(word) else { return nil }
        self.init(storage: storage.takeUnretainedValue())
    }

    /// Holds the row that the word stands for once more.
    package static func retain(_ word: UInt) { _ = storage(word)?.retain() }

    /// Gives up the row that the word stood for.
    package static func release(_ word: UInt) { storage(word)?.release() }

    /// Whether nobody but the word holds the row.
    package static func isHeldOnly(by word: UInt) -> Bool {
        guard var storage = storage(word)?.takeRetainedValue() else { return false }
        let isUnique = isKnownUniquelyReferenced(&storage)
        _ = Unmanaged.passRetained(storage)
        return isUnique
    }

    private static func storage(_ word: UInt) -> Unmanaged<Storage>? {
        UnsafeRawPointer(bitPattern: word).map(Unmanaged.fromOpaque)
    }
}

/// The rows of a result, each held once; whoever takes one out holds it from then on.
package final class RowList: RandomAccessCollection {
    private var words: ContiguousArray<UInt> = []

    package init() {}

    deinit {
        for word in words where word != 0 { RowSnapshot.release(word) }
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { words.count }

    package subscript(index: Int) -> RowSnapshot {
        guard let row = RowSnapshot(word: words[index]) else { preconditionFailure("the row was taken out") }
        return row
    }

    package func append(_ row: consuming RowSnapshot) { words.append(row.retainedWord()) }

    /// The word of a row; the list goes on holding it.
    package func word(_ index: Int) -> UInt { words[index] }

    /// Puts another word in the place of one; the list holds the new one and no longer the old.
    package func exchange(_ index: Int, _ word: UInt) -> UInt {
        let old = words[index]
        words[index] = word
        return old
    }

    /// The word of a row, which the caller holds from now on.
    package func take(_ index: Int) -> UInt { exchange(index, 0) }
}
