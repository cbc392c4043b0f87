import CoreDataModel
import CoreDataPredicate
import CoreDataSQL

/// A SELECT under construction: the source, the joins that key paths need, the conditions.
///
/// A to-one key path joins its destination once, even if several expressions use it:
///
///     unit.name == "kg" AND unit.factor > 1   // … LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
///
/// A nested scope (an EXISTS, a scalar subselect) refers to the outer scope's aliases, and the joins of the outer row
/// are made in the outer scope: joins along to-ones never multiply rows. The join is an outer join unless the key
/// cannot be NULL.
final class QueryScope {
    let context: QueryContext
    let alias: String
    private(set) var statement: SelectStatement
    private(set) var conditions: [SQLExpression] = []
    /// The alias of each joined row, by the expression of its primary key.
    private var joined: [SQLExpression: String] = [:]

    init(table: String, context: QueryContext) {
        self.context = context
        alias = context.makeAlias()
        statement = SelectStatement([], from: .init(table, as: alias))
    }

    /// Makes a scope over the members of a JSON array, in a column `value`.
    init(valuesOf json: SQLExpression, type: SQLType, context: QueryContext) {
        self.context = context
        alias = context.makeAlias()
        statement = SelectStatement([], from: .init(membersOf: json, type: type, as: alias))
    }

    func require(_ condition: SQLExpression) {
        if condition != .alwaysTrue { conditions.append(condition) }
    }

    /// Returns the alias of the table with the row's columns, and joins it if necessary.
    func alias(of row: RowReference) throws -> String {
        if let alias = row.alias { return alias }
        if let alias = joined[row.key] { return alias }
        let table = try context.table(of: row.entity)
        let kind: SelectStatement.Join.Kind = row.isOptional ? .leftOuter : .inner
        let alias = join(kind, table) { .comparison(.equal, .column($0, "Z_PK"), row.key) }
        joined[row.key] = alias
        return alias
    }

    /// Joins a table under a new alias.
    func join(
        _ kind: SelectStatement.Join.Kind, _ table: String, on condition: (String) -> SQLExpression
    ) -> String {
        let alias = context.makeAlias()
        statement.joins.append(.init(kind, .init(table, as: alias), on: condition(alias)))
        context.noteTables(statement.joins.count + 1)
        return alias
    }

    // MARK: Results

    /// Returns the statement with these columns and all conditions so far.
    func select(_ columns: [SQLExpression]) -> SelectStatement {
        select(columns.map { SelectStatement.ResultColumn($0) })
    }

    func select(_ columns: [SelectStatement.ResultColumn]) -> SelectStatement {
        var result = statement
        result.columns = columns
        result.condition = conditions.isEmpty ? nil : SQLExpression.all(conditions)
        return result
    }

    /// Returns whether a row satisfies the conditions: `EXISTS (SELECT 1 FROM …)`.
    func exists(negated: Bool = false) -> SQLExpression {
        let exists = SQLExpression.exists(select([.integer(1)]))
        return negated ? .not(exists) : exists
    }
}

/// A row in the translator: its entity or a superentity, and its primary key as an expression.
///
/// The row of a to-one is its foreign key; its table is joined only if another column is needed.
struct RowReference {
    /// The scope that joins the row's table if a column of it is needed.
    var scope: QueryScope
    var entity: Int
    var key: SQLExpression
    /// The alias of the table, if the row is in a FROM clause.
    var alias: String?
    /// Whether `key` may be NULL.
    var isOptional: Bool

    init(_ scope: QueryScope, entity: Int, key: SQLExpression, alias: String? = nil, isOptional: Bool) {
        self.scope = scope
        self.entity = entity
        self.key = key
        self.alias = alias
        self.isOptional = isOptional
    }

    /// Makes the row of the scope's own source.
    init(sourceOf scope: QueryScope, entity: Int) {
        self.init(
            scope, entity: entity, key: .column(scope.alias, "Z_PK"), alias: scope.alias, isOptional: false)
    }
}
