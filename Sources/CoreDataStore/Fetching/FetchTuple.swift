import CoreDataPrimitives
import CoreDataSQL

/// The columns of one result of ``RowSource/forEachTuple(_:columns:distinct:groupBy:having:_:)``: values that are at hand, or
/// of the row that a query is at.
package struct FetchTuple {
    private enum Storage {
        case values([Value])
        /// Whoever goes from row to row has the reader: to count references to it would take longer than to read a number.
        case row(Unmanaged<TupleReader>)
    }

    private let storage: Storage

    package init(_ values: [Value]) { storage = .values(values) }

    /// The row that the reader's statement is at, whichever that is when it is read; for as long as somebody has the reader.
    init(_ reader: TupleReader) { storage = .row(.passUnretained(reader)) }

    package subscript(column: Int) -> Value {
        switch storage {
        case .values(let values): values.indices.contains(column) ? values[column] : .null
        case .row(let reader): reader._withUnsafeGuaranteedRef { $0.read(column) }
        }
    }

    /// Puts the fields, whose columns are the tuple's, into a row of the caller's; bit *i* is set where field *i* was put there.
    @inline(__always)
    package func write(_ fields: TypedFields, to row: UnsafeMutableRawPointer) -> UInt64 {
        guard case .row(let reader) = storage else { return 0 }
        return reader._withUnsafeGuaranteedRef { $0.write(fields, to: row) }
    }

    /// Puts the tuple's row and those after it into a caller's memory, as far as they are there whole: one call for many rows. `rows` counts
    /// them, also on failure. Where it stops in the middle of a row the tuple is that row.
    package func write(
        _ fields: TypedFields, to place: UnsafeMutableRawPointer, stride: Int, room: Int, rows: inout Int
    ) throws -> TypedRowsEnd {
        guard case .row(let reader) = storage else { return room > 0 ? .part(0) : .full }
        return try reader._withUnsafeGuaranteedRef {
            try $0.write(fields, to: place, stride: stride, room: room, rows: &rows)
        }
    }
}

/// The fields of the rows that a fetch makes, for as many statements as it runs.
package final class TypedFields {
    /// By the columns of the tuple.
    private let wanted: [TypedField]
    /// By those of the statement that is read.
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

/// Reads the columns of a query's rows: one for all of them.
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

    @inline(__always)
    fileprivate func write(_ fields: TypedFields, to row: UnsafeMutableRawPointer) -> UInt64 {
        statement.write(fields.fields(of: self), to: row)
    }

    fileprivate func write(
        _ fields: TypedFields, to place: UnsafeMutableRawPointer, stride: Int, room: Int, rows: inout Int
    ) throws -> TypedRowsEnd {
        try statement.write(fields.fields(of: self), to: place, stride: stride, room: room, rows: &rows)
    }

    /// The field by the statement's column; of another kind where the column's values need to be made otherwise.
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
