import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL

/// Reads on the connection of a transaction; other reads of an engine use connections that do not see it.
struct TransactionReader: TransactionReading {
    let engine: StoreEngine
    let connection: any SQLConnection

    func keys(_ plan: FetchPlan) throws -> [RowKey] {
        var keys: [RowKey] = []
        try forEachResult(of: engine.planner.keys(check(plan))) { keys.append(engine.key($0, at: 0, of: plan.entity)) }
        return keys
    }

    func memberKeys(entity: Int, slot: Int, owners: [Int64]) throws -> [RowKey] {
        let planner = try DestinationPlanner(
            entity: entity, slot: slot, model: engine.model, layout: engine.layout, dialect: engine.dialect)
        var keys: [RowKey] = []
        for part in owners.parts(in: connection.dialect) {
            let statement = try connection.statement(planner.keys(part.sizeClass))
            defer { statement.reset() }
            try part.sizeClass.bind(part.owners, to: statement)
            while try statement.step() { keys.append(engine.key(statement, at: 1, of: planner.destination)) }
        }
        return keys
    }

    func destinationKeys(_ plan: FetchPlan, toOne name: String) throws -> [RowKey] {
        let column = FetchColumn(name: name, expression: .keyPath(operand: .evaluatedObject, [name]))
        let (select, columns) = try engine.planner.tuples(
            check(plan), columns: [column], distinct: true, groupBy: [], having: nil)
        var keys: [RowKey] = []
        try forEachResult(of: select) { statement in
            if let key = columns.first?.key(statement, engine.layout) { keys.append(key) }
        }
        return keys
    }

    /// Memory cannot evaluate a part of the plan: it would read other connections.
    private func check(_ plan: FetchPlan) throws -> FetchPlan {
        let split = try engine.planner.split(plan)
        guard !split.isWhole else { return plan }
        throw PredicateFailure(
            .unsupported,
            Diagnostic(
                .error, "the database cannot evaluate '\(plan.predicate?.predicateFormat ?? "")' in a transaction",
                hint: "write the rule with comparisons of values"))
    }

    private func forEachResult(of select: SelectStatement, _ body: (any SQLStatement) throws -> Void) throws {
        let statement = try connection.statement(select)
        defer { statement.reset() }
        while try statement.step() { try body(statement) }
    }
}
