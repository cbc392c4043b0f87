import CoreDataPrimitives
import CoreDataSQL

/// The columns of one result of ``RowSource/forEachTuple(_:columns:distinct:groupBy:having:_:)``: values that are at hand, or
/// of the row that a query is at.
package struct FetchTuple {
    private enum Storage {
        case values([Value])
        case row(any SQLStatement, [TupleColumn], StoreLayout)
    }

    private let storage: Storage

    package init(_ values: [Value]) { storage = .values(values) }

    init(statement: any SQLStatement, columns: [TupleColumn], layout: StoreLayout) {
        storage = .row(statement, columns, layout)
    }

    package subscript(column: Int) -> Value {
        switch storage {
        case .values(let values): values[column]
        case .row(let statement, let columns, let layout): columns[column].read(statement, layout)
        }
    }
}
