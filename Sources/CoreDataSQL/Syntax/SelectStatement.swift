/// A SELECT as a value.
///
///     SELECT [DISTINCT] columns FROM source joins WHERE … GROUP BY … HAVING … ORDER BY … LIMIT … OFFSET …
package struct SelectStatement: Hashable, Sendable {
    package struct ResultColumn: Hashable, Sendable {
        package var expression: SQLExpression
        package var alias: String?

        package init(_ expression: SQLExpression, as alias: String? = nil) {
            self.expression = expression
            self.alias = alias
        }
    }

    package struct Source: Hashable, Sendable {
        package var table: String
        /// For lists: the members of a JSON array, in a column `value`. The dialect must support it.
        package var members: Members?
        /// For constants: `(VALUES (0), (1))`, whose columns are `column1`, `column2`, ….
        package var rows: [[SQLExpression]] = []
        /// For arrays that are bound, one per column with the type: `UNNEST(?, ?)`. See ``arrayColumn(_:)``.
        package var arrays: [SQLType] = []
        package var alias: String

        /// The alias defaults to the table's name.
        package init(_ table: String, as alias: String = "") {
            self.table = table
            self.alias = alias
        }

        package init(membersOf array: SQLExpression, type: SQLType, as alias: String) {
            self.init("", as: alias)
            members = Members(array: array, type: type)
        }

        package init(rows: [[SQLExpression]], as alias: String) {
            self.init("", as: alias)
            self.rows = rows
        }

        /// Rows whose columns are bound as arrays; the dialect must support it.
        package init(arrays: [SQLType], as alias: String) {
            self.init("", as: alias)
            self.arrays = arrays
        }

        /// Returns a column of rows that are bound as arrays. Decimals are texts.
        package func arrayColumn(_ index: Int) -> SQLExpression {
            let column = SQLExpression.column(alias, Self.nameOfArray(index))
            return arrays[index] == .decimal ? .cast(column, to: .decimal) : column
        }

        static func nameOfArray(_ index: Int) -> String { "column\(index + 1)" }

        package struct Members: Hashable, Sendable {
            package var array: SQLExpression
            package var type: SQLType
        }
    }

    package struct Join: Hashable, Sendable {
        package enum Kind: Sendable {
            case inner
            case leftOuter
            /// Like `inner`, with the first table as the outer loop.
            case cross
        }

        package var kind: Kind
        package var source: Source
        package var condition: SQLExpression

        package init(_ kind: Kind, _ source: Source, on condition: SQLExpression) {
            self.kind = kind
            self.source = source
            self.condition = condition
        }
    }

    package struct Order: Hashable, Sendable {
        package var expression: SQLExpression
        package var isAscending: Bool

        package init(_ expression: SQLExpression, isAscending: Bool = true) {
            self.expression = expression
            self.isAscending = isAscending
        }
    }

    package var isDistinct = false
    package var columns: [ResultColumn]
    package var source: Source
    package var joins: [Join] = []
    package var condition: SQLExpression?
    package var groups: [SQLExpression] = []
    package var having: SQLExpression?
    package var orders: [Order] = []
    /// SELECTs whose rows follow its own: `UNION ALL …`.
    package var others: [SelectStatement] = []
    package var limit: Int?
    package var offset: Int?
    /// The operations of concurrent writers that the rows are locked against until the transaction ends.
    package var lock: Lock?

    package enum Lock: Hashable, Sendable {
        /// Locks against changing and deleting.
        case share
        /// Locks against changing, deleting and locking.
        case update
    }

    package init(_ columns: [ResultColumn], from source: Source) {
        self.columns = columns
        self.source = source
    }
}
