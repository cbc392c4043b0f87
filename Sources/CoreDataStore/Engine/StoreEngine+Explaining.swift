import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

extension StoreEngine {
    /// Returns the statement that a fetch of the plan would run, without running it.
    ///
    /// - Throws: ``PredicateFailure`` for a request that no store supports.
    package func statement(_ plan: FetchPlan, _ form: FetchedForm) throws -> PlannedStatement {
        let (text, memory) = try text(plan, form)
        return PlannedStatement(sql: text.sql, bindings: text.bindings, memory: memory)
    }

    /// Returns the statement that a fetch of the plan would run, and the database's plan for it.
    package func explain(_ plan: FetchPlan, _ form: FetchedForm) throws -> ExplainedStatement {
        let (text, memory) = try text(plan, form)
        let steps = try database.plan(of: text)
        var tables = Self.tables(in: text.sql)
        for index in tables.indices where steps.contains(where: { $0.hasPrefix("SCAN \(tables[index].alias)") }) {
            let count = SelectStatement([.init(.countAll)], from: .init(tables[index].name, as: "t0"))
            tables[index].rows = try query(count) { Int($0.integer(0)) }.first
        }
        return ExplainedStatement(
            statement: PlannedStatement(sql: text.sql, bindings: text.bindings, memory: memory), plan: steps,
            tables: tables)
    }

    private func text(_ plan: FetchPlan, _ form: FetchedForm) throws -> (SQLText, memory: String?) {
        let planner = planner
        switch form {
        case .rows, .keys:
            let split = try planner.split(plan)
            let text =
                if case .keys = form, split.isWhole { try planner.keys(split.plan).text(in: dialect) } else {
                    try planner.rows(split.plan).statement.text(in: dialect)
                }
            return (text, split.isWhole ? nil : split.explanation)
        case .count:
            let split = try planner.splitPredicate(plan)
            return (try planner.count(split.plan).text(in: dialect), split.isWhole ? nil : split.explanation)
        case .columns(let columns, let distinct, let groupBy, let having):
            let split = try planner.split(plan)
            let statement = try planner.tuples(
                split.plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having
            ).statement
            return (statement.text(in: dialect), split.isWhole ? nil : split.explanation)
        }
    }

    /// Returns the tables by their aliases in the statement: `FROM ZITEM t0`.
    private static func tables(in sql: String) -> [ExplainedStatement.Table] {
        var tables: [ExplainedStatement.Table] = []
        var previous = ""
        for word in sql.split(whereSeparator: { " (),".contains($0) }) {
            let isAlias = word.first == "t" && word.count > 1 && word.dropFirst().allSatisfy(\.isNumber)
            let alias = String(word)
            if isAlias, previous.first == "Z" || previous.first == "\"", !previous.contains("."),
                !tables.contains(where: { $0.alias == alias })
            {
                tables.append(.init(alias: alias, name: previous.filter { $0 != "\"" }))
            }
            previous = alias
        }
        return tables
    }
}
