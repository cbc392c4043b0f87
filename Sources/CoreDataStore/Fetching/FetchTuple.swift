import CoreDataPrimitives
import CoreDataSQL

/// The columns of one result of ``RowSource/forEachTuple(_:columns:distinct:groupBy:having:_:)``: either values, or a
/// query's current row.
package struct FetchTuple {
    private enum Storage {
        case values([Value])
        /// The caller holds the reader during the iteration: reference counting would take longer than reading a
        /// number.
        case row(Unmanaged<TupleReader>)
    }

    private let storage: Storage

    package init(_ values: [Value]) { storage = .values(values) }

    /// A tuple that refers to the current row of the reader's statement, valid while the reader is retained.
    init(_ reader: TupleReader) { storage = .row(.passUnretained(reader)) }

    package subscript(column: Int) -> Value {
        switch storage {
        case .values(let values): values.indices.contains(column) ? values[column] : .null
        case .row(let reader): reader._withUnsafeGuaranteedRef { $0.read(column) }
        }
    }

    /// The row's key in a column of keys; `nil` for NULL and in other columns.
    package func key(_ column: Int) -> RowKey? {
        switch storage {
        case .values(let values):
            guard values.indices.contains(column), case .opaque(let key) = values[column] else { return nil }
            return key.object as? RowKey
        case .row(let reader): return reader._withUnsafeGuaranteedRef { $0.key(column) }
        }
    }

    /// Writes the fields, whose columns are those of the tuple, to a row in the caller's memory; bit *i* is set if
    /// field *i* was written.
    @inline(__always)
    package func write(_ fields: TypedFields, to row: UnsafeMutableRawPointer) -> UInt64 {
        guard case .row(let reader) = storage else { return 0 }
        return reader._withUnsafeGuaranteedRef { $0.write(fields, to: row) }
    }

    /// Writes the current row and those after it to the caller's memory, as far as they are complete: one call for many
    /// rows. `rows` counts them, also on failure. If it stops at an incomplete row, the tuple is that row.
    package func write(
        _ fields: TypedFields, to place: UnsafeMutableRawPointer, stride: Int, room: Int, rows: inout Int
    ) throws -> TypedRowsEnd {
        guard case .row(let reader) = storage else { return room > 0 ? .part(0) : .full }
        return try reader._withUnsafeGuaranteedRef {
            try $0.write(fields, to: place, stride: stride, room: room, rows: &rows)
        }
    }
}

/// The fields of the rows that a fetch writes, for all statements that it runs.
package final class TypedFields {
    /// The fields with the tuple's columns.
    private let wanted: [TypedField]
    /// The fields with the current statement's columns.
    private let found: UnsafeMutableBufferPointer<TypedField>
    @exclusivity(unchecked) private var reader: TupleReader?

    package init(_ wanted: [TypedField]) {
        self.wanted = wanted
        found = .allocate(capacity: wanted.count)
        _ = found.initialize(from: wanted)
    }

    deinit { found.deallocate() }

    @inline(__always)
    fileprivate func fields(of reader: TupleReader) -> UnsafeBufferPointer<TypedField> {
        if self.reader !== reader { find(in: reader) }
        return UnsafeBufferPointer(found)
    }

    private func find(in reader: TupleReader) {
        self.reader = reader
        for (index, field) in wanted.enumerated() { found[index] = reader.field(field) }
    }
}

/// Reads the columns of a query's rows; one reader serves all rows.
final class TupleReader {
    private let statement: any SQLStatement
    private let columns: [TupleColumn]
    private let layout: StoreLayout

    init(_ statement: any SQLStatement, columns: [TupleColumn], layout: StoreLayout) {
        self.statement = statement
        self.columns = columns
        self.layout = layout
    }

    func read(_ column: Int) -> Value { columns[column].read(statement, layout) }

    func key(_ column: Int) -> RowKey? { columns[column].key(statement, layout) }

    @inline(__always)
    fileprivate func write(_ fields: TypedFields, to row: UnsafeMutableRawPointer) -> UInt64 {
        statement.write(fields.fields(of: self), to: row)
    }

    fileprivate func write(
        _ fields: TypedFields, to place: UnsafeMutableRawPointer, stride: Int, room: Int, rows: inout Int
    ) throws -> TypedRowsEnd {
        try statement.write(fields.fields(of: self), to: place, stride: stride, room: room, rows: &rows)
    }

    /// Returns the field with the statement's column; its kind is `other` if the values need a conversion.
    fileprivate func field(_ field: TypedField) -> TypedField {
        var found = field
        found.kind = .other
        guard case .value(let kind, let column) = columns[field.column] else { return found }
        found.column = column
        switch (kind, field.kind) {
        case (.string, .text), (.link, .text), (.date, .date), (.real, .real), (.real, .single),
            (.integer, .flag), (.integer, .short), (.integer, .medium), (.integer, .long), (.integer, .real),
            (.integer, .single):
            found.kind = field.kind
        default: break
        }
        return found
    }
}
