import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// Converts a ``FetchPlan`` to a SELECT: a pure function of plan, model and layout.
///
///     Item where quantity > 2, by unit.name, first 20
///     // SELECT t0.Z_PK, t0.Z_ENT, t0.Z_OPT, t0.ZNAME, … FROM ZITEM t0 LEFT OUTER JOIN ZUNIT t1 ON t1.Z_PK = t0.ZUNIT
///     // WHERE t0.ZQUANTITY > ? ORDER BY t1.ZNAME LIMIT ?
package struct FetchPlanner {
    let model: CompiledModel
    private let layout: StoreLayout
    let now: Double
    let dialect: SQLDialect

    /// Makes a planner; `now` is the value of `now()`, in seconds since 2001-01-01 UTC.
    package init(model: CompiledModel, layout: StoreLayout, now: Double, dialect: SQLDialect) {
        self.model = model
        self.layout = layout
        self.now = now
        self.dialect = dialect
    }

    /// Whether the dialect may lack a feature of the request; then the plan must be split first.
    var mayLackFeatures: Bool { !dialect.hasEverything }

    // MARK: Rows, keys, counts

    /// Returns the statement for whole rows: `Z_PK`, `Z_ENT`, `Z_OPT` and the columns of the shape.
    package func rows(_ plan: FetchPlan) throws -> (statement: SelectStatement, shape: RowShape) {
        let fetch = try start(plan)
        let shape = try RowShape(of: plan.entity, plan.includesSubentities, fetch.scope.context)
        let row = RowReference(sourceOf: fetch.scope, entity: plan.entity)
        return (try finish(fetch, plan, fetch.scope.context.selection(of: shape, row)), shape)
    }

    /// Returns the statement for `Z_PK` and `Z_ENT`.
    package func keys(_ plan: FetchPlan) throws -> SelectStatement {
        let fetch = try start(plan)
        return try finish(fetch, plan, ["Z_PK", "Z_ENT"].map { .column(fetch.scope.alias, $0) })
    }

    /// Returns the statement for the number of rows without limit and offset, see ``counted(_:_:)``.
    package func count(_ plan: FetchPlan) throws -> SelectStatement {
        try start(plan).scope.select([.countAll])
    }

    /// Returns the number of rows after limit and offset, for a total number.
    package static func counted(_ total: Int, _ plan: FetchPlan) -> Int {
        let rest = max(0, total - max(0, plan.offset))
        return plan.limit > 0 ? min(rest, plan.limit) : rest
    }

    struct Start {
        var scope: QueryScope
        var translator: PredicateTranslator
    }

    /// Returns the FROM clause with the conditions of the entity and the predicate.
    func start(_ plan: FetchPlan) throws -> Start {
        let context = QueryContext(model: model, layout: layout, now: now, dialect: dialect)
        context.security = plan.security
        let scope = QueryScope(table: try context.table(of: plan.entity), context: context)
        let row = RowReference(sourceOf: scope, entity: plan.entity)
        let translator = PredicateTranslator(context: context, root: row)
        let restriction = try context.restriction(
            to: plan.entity, includesSubentities: plan.includesSubentities, alias: scope.alias)
        if let restriction { scope.require(restriction) }
        if let condition = try context.selectCondition(of: row) { scope.require(condition) }
        if let keys = plan.keys {
            scope.require(
                .between(
                    .column(scope.alias, "Z_PK"), .bind(.integer(keys.lowerBound)), .bind(.integer(keys.upperBound))))
        }
        if let predicate = plan.predicate {
            let condition = try translator.condition(predicate)
            if let candidates = try candidates(condition, plan, scope) { scope.require(candidates) }
            scope.require(condition)
        }
        for predicate in plan.narrowing { scope.require(try translator.superset(of: predicate)) }
        return Start(scope: scope, translator: translator)
    }

    /// Returns the rows that an R-tree finds in the ranges of a condition.
    private func candidates(
        _ condition: SQLExpression, _ plan: FetchPlan, _ scope: QueryScope
    ) throws -> SQLExpression? {
        guard !layout.rTrees.isEmpty else { return nil }
        let table = try scope.context.table(of: plan.entity)
        let trees = layout.rTrees.filter { $0.table == table }
        return trees.isEmpty ? nil : ColumnRanges(condition, of: scope.alias).candidates(in: trees)
    }

    private func finish(_ start: Start, _ plan: FetchPlan, _ columns: [SQLExpression]) throws -> SelectStatement {
        let orders = try plan.sorts.map { try order($0, start.translator) }
        var statement = start.scope.select(columns)
        statement.orders = orders
        page(&statement, plan)
        return statement
    }

    private func page(_ statement: inout SelectStatement, _ plan: FetchPlan) {
        if plan.limit > 0 { statement.limit = plan.limit }
        if plan.offset > 0 { statement.offset = plan.offset }
    }

    /// Nil sorts first in ascending order, the databases' default.
    func order(_ sort: FetchPlan.Sort, _ translator: PredicateTranslator) throws -> SelectStatement.Order {
        let expression = ExpressionNode.keyPath(operand: .evaluatedObject, sort.keyPath)
        let sql: SQLExpression
        switch try translator.term(expression) {
        case .scalar(let scalar):
            sql = scalar.kind.isText ? sort.comparison.collated(scalar.sql) : scalar.sql
        case .row(let row):
            sql = row.key
        case .entity(let row):
            sql = try placeOfName(of: row, sort.comparison, translator.context)
        case .collection:
            throw translator.failure(
                "to-many key not allowed here", expression, hint: "sort by an attribute or by @count")
        case .constant, .key, .list:
            throw translator.unsupported(expression)
        }
        if translator.context.joinsTooMany { throw translator.joinsTooMany(expression.predicateFormat) }
        return SelectStatement.Order(sql, isAscending: sort.isAscending)
    }

    /// Sorts by the entity's name, which the store does not contain, through the rank of each possible entity:
    ///
    ///     CASE WHEN t0.Z_ENT = 2 THEN 0 WHEN t0.Z_ENT = 1 THEN 1 END
    private func placeOfName(
        of row: RowReference, _ comparison: FetchPlan.Sort.Comparison, _ context: QueryContext
    ) throws -> SQLExpression {
        let column = SQLExpression.column(try row.scope.alias(of: row), "Z_ENT")
        let named = context.rowEntities(of: row.entity).map { (entity: $0, name: context.model.entities[$0].name) }
            .sorted { TextComparison.compare($0.name, $1.name, by: comparison) < 0 }
        var place: Int64 = 0
        var whens: [SQLExpression.When] = []
        for (index, candidate) in named.enumerated() {
            // Names that compare as equal have the same rank, so that the next sort descriptor decides.
            if index > 0, TextComparison.compare(named[index - 1].name, candidate.name, by: comparison) != 0 {
                place += 1
            }
            let number = SQLExpression.integer(try context.number(of: candidate.entity))
            whens.append(.init(.comparison(.equal, column, number), .integer(place)))
        }
        return whens.isEmpty ? column : .caseWhen(whens, otherwise: .null)
    }

    // MARK: Dictionaries

    /// Returns the statement for the columns of a dictionary fetch.
    package func tuples(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?
    ) throws -> (statement: SelectStatement, columns: [TupleColumn]) {
        let fetch = try start(plan)
        let translator = fetch.translator
        translator.aggregatesRows = true
        var selected: [SQLExpression] = []
        var results: [TupleColumn] = []
        for column in columns {
            let term = try translator.term(column.expression)
            results.append(try TupleColumn(term, column, &selected, translator))
            if translator.context.joinsTooMany { throw translator.joinsTooMany(column.expression.predicateFormat) }
            translator.variables[column.name] = term
            translator.columns[column.name] = term
        }
        guard !selected.isEmpty else {
            throw PredicateFailure(
                .unsupported,
                Diagnostic(.error, "a dictionary fetch needs a column", hint: "name one in propertiesToFetch"))
        }
        var groups = try groupBy.map { try group($0, translator) }
        if !groups.isEmpty { try checkGroups(columns, selected, results, groups) }
        let condition = try having.map { try translator.condition($0) }
        if condition != nil && groups.isEmpty {
            throw PredicateFailure(
                .unsupported, Diagnostic(.error, "havingPredicate needs propertiesToGroupBy"))
        }
        for case .key(_, let column, let entityColumn?) in results
        where groups.contains(selected[column]) && !groups.contains(selected[entityColumn]) {
            // The row's key determines it, but not every database knows that.
            groups.append(selected[entityColumn])
        }
        var statement = try finish(fetch, plan, selected)
        statement.isDistinct = distinct
        statement.groups = groups
        statement.having = condition
        return (statement, results)
    }

    /// Checks that each column is the same for all rows of a group, or an aggregate of them.
    private func checkGroups(
        _ columns: [FetchColumn], _ selected: [SQLExpression], _ results: [TupleColumn], _ groups: [SQLExpression]
    ) throws {
        for (column, result) in zip(columns, results) {
            let index: Int
            switch result {
            case .constant: continue
            case .value(_, let column), .key(_, let column, _), .entityName(_, let column): index = column
            }
            if groups.contains(selected[index]) || selected[index].hasAggregate { continue }
            throw PredicateFailure(
                .unsupported,
                Diagnostic(
                    .error, "column '\(column.name)' is neither grouped nor an aggregate",
                    hint: "add it to propertiesToGroupBy, or take its sum:, min:, max: or count:"))
        }
    }

    private func group(_ expression: ExpressionNode, _ translator: PredicateTranslator) throws -> SQLExpression {
        switch try translator.term(expression) {
        case .scalar(let scalar): return scalar.sql
        case .row(let row): return row.key
        case .entity(let row): return .column(try row.scope.alias(of: row), "Z_ENT")
        case .collection: throw translator.failure("to-many key not allowed here", expression)
        case .constant, .key, .list: throw translator.unsupported(expression)
        }
    }
}

extension FetchPlan.Sort.Comparison {
    fileprivate func collated(_ sql: SQLExpression) -> SQLExpression {
        switch self {
        case .literal: sql
        case .caseInsensitive: .collate(sql, .caseInsensitive)
        case .localized: .collate(sql, .localized)
        case .localizedCaseInsensitive: .collate(sql, .localizedCaseInsensitive)
        case .localizedStandard: .collate(sql, .localizedStandard)
        }
    }
}
