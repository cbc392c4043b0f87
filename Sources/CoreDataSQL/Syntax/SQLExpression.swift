import CoreDataPrimitives

/// An SQL expression as a value; it contains no text that could be misread as SQL.
///
///     .comparison(.equal, .column("t0", "ZNAME"), .bind(.text("Milk")))     // t0.ZNAME = ?
package indirect enum SQLExpression: Hashable, Sendable {
    /// A bound value: `?`.
    case bind(SQLValue)
    /// A small integer or NULL written into the text, for cases where a bound value would prevent the use of an index.
    case integer(Int64)
    case null
    /// A column; the first value is the table's alias, or nil if only one table is in scope.
    case column(String?, String)
    /// `COUNT(*)`.
    case countAll
    case comparison(Comparison, SQLExpression, SQLExpression)
    case arithmetic(Arithmetic, SQLExpression, SQLExpression)
    case negation(SQLExpression)
    /// `~ e`.
    case onesComplement(SQLExpression)
    /// `e1 AND e2 …`; empty is true.
    case and([SQLExpression])
    /// `e1 OR e2 …`; empty is false.
    case or([SQLExpression])
    case not(SQLExpression)
    case isNull(SQLExpression)
    case isNotNull(SQLExpression)
    case between(SQLExpression, SQLExpression, SQLExpression)
    case inList(SQLExpression, [SQLExpression])
    case inSelect(SQLExpression, SelectStatement)
    case exists(SelectStatement)
    case scalar(SelectStatement)
    /// `column MATCH query`: whether a text of a full-text search table matches. Only SQLite has such tables.
    case matches(SQLExpression, SQLExpression)
    /// Whether a pattern matches the text, for databases with regular expressions: see ``SQLDialect/findsPatterns``.
    case fits(SQLExpression, FoldedPattern)
    case function(SQLFunction, [SQLExpression])
    /// An aggregate over rows; `distinct` counts each value once: `COUNT(DISTINCT e)`.
    case aggregate(SQLAggregate, SQLExpression, distinct: Bool)
    case cast(SQLExpression, to: SQLType)
    case collate(SQLExpression, SQLCollation)
    /// `CASE WHEN c THEN v … ELSE e END`.
    case caseWhen([When], otherwise: SQLExpression)

    package struct When: Hashable, Sendable {
        package var condition: SQLExpression
        package var value: SQLExpression

        package init(_ condition: SQLExpression, _ value: SQLExpression) {
            self.condition = condition
            self.value = value
        }
    }

    package enum Comparison: String, Sendable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        /// Equality in which NULL equals NULL; the dialect decides the syntax.
        case identical = "IS"
        case notIdentical = "IS NOT"
    }

    package enum Arithmetic: String, Sendable, CaseIterable {
        case add = "+"
        case subtract = "-"
        case multiply = "*"
        case divide = "/"
        case remainder = "%"
        case bitAnd = "&"
        case bitOr = "|"
        case shiftLeft = "<<"
        case shiftRight = ">>"
        case concatenate = "||"
    }
}

extension SQLExpression {
    /// A placeholder of a statement that is prepared once and bound for each row.
    package static var parameter: SQLExpression { .bind(.null) }
}
