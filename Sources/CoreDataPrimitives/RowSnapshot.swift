import Foundation

/// The representation of a column in memory and as a statement's parameter.
@usableFromInline
package enum ColumnKind: UInt8, Sendable, BitwiseCopyable {
    /// A signed 64-bit integer: integers, booleans, primary keys, entity numbers, order values.
    case integer
    /// A double: floats, doubles, dates.
    case real
    /// UTF-8 text: strings, URIs, decimals.
    case text
    /// Bytes: data, UUIDs, transformed values.
    case blob
}

/// The values of one row at one version: immutable, shared between contexts.
///
/// ```
///  RowHeader | null words | column words | bytes
///  24 bytes  | ⌈n/64⌉ × 8 | n × 8        | text and blobs, back to back
/// ```
/// Bit *i* of the null words is set when column *i* is NULL; its word is then 0. The word of an integer or real
/// column is its bit pattern; the word of a text or blob column is `offset << 32 | length` into the bytes. A stored
/// blob that could not be decoded is NULL, and its word points to the stored bytes. For a large blob, the bytes are a
/// ``HeldPlace``, and a bit of the word marks it. The columns are those of the entity's ``RowLayout``, in its order.
/// Rows that were made one after another share an allocation, their ``RowSlab``.
@usableFromInline
package struct RowSnapshot: @unchecked Sendable {
    // Safe because only the code that makes the row writes to it, before it is published, and the holders are counted
    // atomically.

    @usableFromInline let slab: RowSlab
    @usableFromInline let header: UnsafePointer<RowHeader>

    @inlinable init(slab: RowSlab, header: UnsafePointer<RowHeader>) {
        self.slab = slab
        self.header = header
    }

    // Through a view: reading the header as a property would check each access for overlaps.
    @inlinable package var primaryKey: Int64 { withView { $0.primaryKey } }
    @inlinable package var version: Int32 { withView { $0.version } }
    @inlinable package var entity: Int { withView { $0.entity } }
    @inlinable package var key: RowKey { RowKey(entity: entity, primaryKey: primaryKey) }
    @inlinable package var columnCount: Int { withView { $0.columnCount } }

    /// Sets the row's key. Only the code that makes the row may call it, before it publishes the row.
    package func assign(primaryKey: Int64) { UnsafeMutablePointer(mutating: header).pointee.primaryKey = primaryKey }

    /// Replaces the double of a column that has one. Only the code that makes the row may call it, before it publishes
    /// the row.
    package func assign(real value: Double, at column: Int) {
        withView { view in
            let word = view.words + Self.nullWords(view.columnCount) + column
            UnsafeMutablePointer(mutating: word).pointee = value.bitPattern
        }
    }

    /// Replaces the integer of a column that has one. Only the code that makes the row may call it, before it publishes
    /// the row.
    package func assign(integer value: Int64, at column: Int) {
        assign(real: Double(bitPattern: UInt64(bitPattern: value)), at: column)
    }

    /// Calls `body` with a view of the row.
    @inlinable @inline(__always)
    package func withView<R>(_ body: (RowView) throws -> R) rethrows -> R {
        try Unmanaged.passUnretained(slab)._withUnsafeGuaranteedRef { _ in try body(RowView(header: header)) }
    }

    /// Returns whether both are the same row in memory, not only equal.
    @inlinable package func isIdentical(to other: RowSnapshot) -> Bool { header == other.header }

    @inlinable package func isNull(_ column: Int) -> Bool {
        withView { $0.isNull(column) }
    }

    /// Returns whether a column that reads as NULL may have a value in the store; see ``RowView/isUnreadable(_:)``.
    package func isUnreadable(_ column: Int) -> Bool { withView { $0.isUnreadable(column) } }

    /// Returns the column's word for any kind; 0 if it is NULL.
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

    /// Returns whether the column has equal values in both rows, which must have the same layout.
    package func isEqual(to other: RowSnapshot, at column: Int, kind: ColumnKind) -> Bool {
        withView { view in other.withView { view.isEqual(to: $0, at: column, kind: kind) } }
    }

    @inlinable static func nullWords(_ columns: Int) -> Int { (columns + 63) >> 6 }
}
