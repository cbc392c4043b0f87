import CoreDataPredicate
import CoreDataSQL

/// The form of a fetch's results.
package enum FetchedForm {
    /// Whole rows.
    case rows
    case keys
    case count
    case columns([FetchColumn], distinct: Bool, groupBy: [ExpressionNode], having: PredicateNode?)
}

/// A statement that a fetch would run.
package struct PlannedStatement {
    package var sql: String
    package var bindings: [SQLValue]
    /// A sentence about the parts of the request that run in memory, because the database does not support them.
    package var memory: String?
}

/// A statement with the database's plan, and additional information.
package struct ExplainedStatement {
    /// A table in the plan.
    package struct Table: Hashable {
        package var alias: String
        package var name: String
        /// The number of rows; `nil` for a table that is not scanned.
        package var rows: Int?
    }

    package var statement: PlannedStatement
    /// The database's plan, one line per step.
    package var plan: [String]
    package var tables: [Table]
}
