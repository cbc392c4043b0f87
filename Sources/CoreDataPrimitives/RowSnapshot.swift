import Foundation

/// How one column of a row is kept in memory and bound to a statement.
@usableFromInline
package enum ColumnKind: UInt8, Sendable {
    /// A signed 64-bit integer: integers, booleans, primary keys, entity numbers, order values.
    case integer
    /// A double: floats, doubles, dates.
    case real
    /// UTF-8 text: strings, URIs, decimals.
    case text
    /// Bytes: data, UUIDs, transformed values.
    case blob
}

/// The facts of a row that are not columns.
@usableFromInline
struct RowHeader {
    @usableFromInline var primaryKey: Int64
    /// The optimistic-locking counter (`Z_OPT`) at which these values were read or written.
    @usableFromInline var version: Int32
    /// The ordinal of the row's own entity in the model.
    @usableFromInline var entity: UInt16
    @usableFromInline var columnCount: UInt16
}

/// The values of one row at one version: immutable, shared between contexts, one allocation.
///
/// ```
///  object header | RowHeader | null words | column words      | bytes
///  16 bytes      | 16 bytes  | ⌈n/64⌉ × 8 | n × 8             | text and blobs, back to back
/// ```
/// Bit *i* of the null words is set when column *i* is NULL; its word is then 0. The word of an integer or real
/// column is its bit pattern; the word of a text or blob column is `offset << 32 | length` into the bytes.
/// Columns are those of the entity's ``RowLayout``, in its order.
@usableFromInline
package struct RowSnapshot: @unchecked Sendable {
    // Safe because only RowBuilder writes, before the row is published.

    /// The one allocation; a class of the standard library's because only that can be followed by elements.
    @usableFromInline final class Storage: ManagedBuffer<RowHeader, UInt64> {}

    @usableFromInline let storage: Storage

    @inlinable init(storage: Storage) { self.storage = storage }

    // By way of a view: to read the header as a property would have each access checked for overlaps.
    @inlinable package var primaryKey: Int64 { withView { $0.primaryKey } }
    @inlinable package var version: Int32 { withView { $0.version } }
    @inlinable package var entity: Int { withView { $0.entity } }
    @inlinable package var key: RowKey { RowKey(entity: entity, primaryKey: primaryKey) }
    @inlinable package var columnCount: Int { withView { $0.columnCount } }

    /// Calls `body` with a view of the row.
    @inlinable @inline(__always)
    package func withView<R>(_ body: (RowView) throws -> R) rethrows -> R {
        try Unmanaged.passUnretained(storage)._withUnsafeGuaranteedRef {
            try body(RowView(word: UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque())))
        }
    }

    /// Whether both are the same allocation, not only equal.
    @inlinable package func isIdentical(to other: RowSnapshot) -> Bool { storage === other.storage }

    @inlinable package func isNull(_ column: Int) -> Bool {
        withView { $0.isNull(column) }
    }

    /// The column's word, whatever its kind; 0 when it is NULL.
    @inlinable package func word(_ column: Int) -> UInt64 {
        withView { $0.word(column) }
    }

    /// The integer, 0 when NULL.
    @inlinable package func integer(_ column: Int) -> Int64 { Int64(bitPattern: word(column)) }

    /// The double, 0 when NULL.
    @inlinable package func real(_ column: Int) -> Double { Double(bitPattern: word(column)) }

    /// Calls `body` with the bytes of a text or blob column; empty when NULL.
    @inlinable package func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try withView { try body($0.bytes(column)) }
    }

    /// The text, empty when NULL.
    @inlinable package func text(_ column: Int) -> String {
        withBytes(column) { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether the column holds the same in both rows; the rows must be of one layout.
    package func isEqual(to other: RowSnapshot, at column: Int, kind: ColumnKind) -> Bool {
        if isNull(column) != other.isNull(column) { return false }
        switch kind {
        case .integer, .real: return word(column) == other.word(column)
        case .text, .blob:
            return withBytes(column) { a in
                other.withBytes(column) { b in
                    guard a.count == b.count, let first = a.baseAddress, let second = b.baseAddress else {
                        return a.count == b.count
                    }
                    return memcmp(first, second, a.count) == 0
                }
            }
        }
    }

    @inlinable static func nullWords(_ columns: Int) -> Int { (columns + 63) >> 6 }
}

/// Collects the columns of one row after another and makes a ``RowSnapshot`` of each.
///
/// One builder serves a whole result: its buffers are reused. Columns that are not set are NULL.
///
///     let builder = RowBuilder(columnCount: layout.columns.count)
///     builder.setInteger(1, at: 0)
///     builder.setText("Milk", at: 1)
///     let row = builder.finish(primaryKey: 7, version: 1, entity: 3)   // the builder is empty again
@usableFromInline
package final class RowBuilder {
    @usableFromInline let columnCount: Int
    @usableFromInline let nullWords: Int
    @usableFromInline let words: UnsafeMutablePointer<UInt64>
    // A builder is used by one thread and calls nobody back: to have every access checked would cost as much as
    // setting a column.
    @exclusivity(unchecked) @usableFromInline var bytes: UnsafeMutableRawPointer
    @exclusivity(unchecked) @usableFromInline var byteCount = 0
    @exclusivity(unchecked) @usableFromInline var byteCapacity = 256

    package init(columnCount: Int) {
        self.columnCount = columnCount
        nullWords = RowSnapshot.nullWords(columnCount)
        words = .allocate(capacity: max(1, nullWords + columnCount))
        bytes = .allocate(byteCount: byteCapacity, alignment: 8)
        reset()
    }

    deinit {
        words.deallocate()
        bytes.deallocate()
    }

    @inlinable package func setNull(at column: Int) {
        words[column >> 6] |= 1 << UInt64(column & 63)
        words[nullWords + column] = 0
    }

    @inlinable package func setInteger(_ value: Int64, at column: Int) {
        set(word: UInt64(bitPattern: value), at: column)
    }

    @inlinable package func setReal(_ value: Double, at column: Int) {
        set(word: value.bitPattern, at: column)
    }

    @inlinable package func setText(_ value: String, at column: Int) {
        var value = value
        value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), at: column) }
    }

    @inlinable package func setBytes(_ source: UnsafeRawBufferPointer, at column: Int) {
        let end = byteCount + source.count
        precondition(end < Int(Int32.max), "a row's text and blobs exceed 2 GiB")
        if end > byteCapacity { grow(to: end) }
        if let base = source.baseAddress, source.count > 0 {
            (bytes + byteCount).copyMemory(from: base, byteCount: source.count)
        }
        set(word: UInt64(byteCount) << 32 | UInt64(source.count), at: column)
        byteCount = end
    }

    /// Takes every column of another row of the same layout.
    package func copy(_ row: RowSnapshot, kinds: [ColumnKind]) {
        row.withView { view in
            let source = view.words
            words.update(from: source, count: nullWords + columnCount)
            var end = 0
            for column in 0..<columnCount where kinds[column] == .text || kinds[column] == .blob {
                let word = words[nullWords + column]
                end = max(end, Int(word >> 32) + Int(word & 0xFFFF_FFFF))
            }
            if end > byteCapacity { grow(to: end) }
            bytes.copyMemory(from: source + nullWords + columnCount, byteCount: end)
            byteCount = end
        }
    }

    /// Copies a column of another row of the same layout.
    package func copy(_ column: Int, kind: ColumnKind, from row: RowSnapshot) {
        row.withView { copy(column, kind: kind, from: $0) }
    }

    /// Copies a column of another row of the same layout, which somebody holds.
    package func copy(_ column: Int, kind: ColumnKind, from row: RowView) {
        if row.isNull(column) {
            setNull(at: column)
        } else if kind == .integer || kind == .real {
            set(word: row.word(column), at: column)
        } else {
            setBytes(row.bytes(column), at: column)
        }
    }

    /// Makes the row and empties the builder.
    package func finish(primaryKey: Int64, version: Int32, entity: Int) -> RowSnapshot {
        let wordCount = nullWords + columnCount
        let storage = unsafeDowncast(
            RowSnapshot.Storage.create(minimumCapacity: wordCount + (byteCount + 7) >> 3) { _ in
                RowHeader(
                    primaryKey: primaryKey, version: version, entity: UInt16(truncatingIfNeeded: entity),
                    columnCount: UInt16(truncatingIfNeeded: columnCount))
            }, to: RowSnapshot.Storage.self)
        storage.withUnsafeMutablePointerToElements { target in
            target.update(from: words, count: wordCount)
            if byteCount > 0 {
                UnsafeMutableRawPointer(target + wordCount).copyMemory(from: bytes, byteCount: byteCount)
            }
        }
        reset()
        return RowSnapshot(storage: storage)
    }

    @inlinable @inline(__always)
    func set(word: UInt64, at column: Int) {
        assert(column >= 0 && column < columnCount, "column out of range")
        words[column >> 6] &= ~(1 << UInt64(column & 63))
        words[nullWords + column] = word
    }

    private func reset() {
        for index in 0..<nullWords { words[index] = ~0 }
        for index in nullWords..<(nullWords + columnCount) { words[index] = 0 }
        byteCount = 0
    }

    @usableFromInline func grow(to needed: Int) {
        byteCapacity = max(needed, byteCapacity * 2)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 8)
        larger.copyMemory(from: bytes, byteCount: byteCount)
        bytes.deallocate()
        bytes = larger
    }
}
