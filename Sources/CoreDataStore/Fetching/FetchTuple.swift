import CoreDataPrimitives
import CoreDataSQL

/// The columns of one result of ``RowSource/forEachTuple(_:columns:distinct:groupBy:having:_:)``: values that are at hand, or
/// of the row that a query is at.
package struct FetchTuple {
    private enum Storage {
        case values([Value])
        case row(TupleReader)
    }

    private let storage: Storage

    package init(_ values: [Value]) { storage = .values(values) }

    /// The row that the reader's statement is at, whichever that is when it is read.
    init(_ reader: TupleReader) { storage = .row(reader) }

    package subscript(column: Int) -> Value {
        switch storage {
        case .values(let values): values[column]
        case .row(let reader): reader.read(column)
        }
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
}
