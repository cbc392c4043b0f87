import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

extension BatchWriter {
    /// Whether a uniqueness constraint has the attribute for itself, so that a value of it names one row.
    package func isUnique(entity: Int, slot: Int) throws -> Bool {
        try engine.saveTables.table(of: entity).constraints.contains { $0.slots == [slot] }
    }

    /// The row of an entity, or of one below it, that has a value which no other has; `nil` where there is none.
    ///
    ///     // SELECT t0.Z_PK, t0.Z_ENT FROM ZUNIT t0 WHERE t0.ZNAME = ?
    package func row(entity: Int, slot: Int, having value: Value) throws -> RowKey? {
        let table = try engine.saveTables.table(of: entity)
        guard let constraint = table.constraints.first(where: { $0.slots == [slot] }),
            let name = constraint.columnNames.first, let wanted = QueryScalar(value, engine.dialect)
        else { return nil }
        var select = SelectStatement(
            [.init(.column("t0", "Z_PK")), .init(.column("t0", "Z_ENT"))], from: .init(table.name, as: "t0"))
        select.condition = .comparison(.equal, .column("t0", name), wanted.sql)
        let statement = try connection.statement(select)
        defer { statement.reset() }
        let subtree = engine.model.entities[entity].subtree
        while try statement.step() {
            guard let found = engine.layout.ordinalByNumber[statement.integer(1)], subtree.contains(found) else {
                continue
            }
            return RowKey(entity: found, primaryKey: statement.integer(0))
        }
        return nil
    }

    /// The rows that a plan selects of which SQL cannot say everything: a bit for each, and few rows in memory at a time.
    ///
    /// Only a limit needs all rows in memory at once, in their order.
    func selected(_ plan: FetchPlan, _ split: PlanSplit, _ planner: FetchPlanner) throws -> KeySet {
        var found = KeySet(model: engine.model)
        guard plan.limit <= 0, plan.offset <= 0 else {
            for key in try engine.keys(plan) { found.insert(key) }
            return found
        }
        engine.database.note(split.explanation)
        var candidates = KeySet(model: engine.model)
        let statement = try connection.statement(planner.keys(split.plan.withoutOrderAndWindow))
        defer { statement.reset() }
        while try statement.step() { candidates.insert(engine.key(statement, at: 0, of: plan.entity)) }
        statement.reset()
        let root = engine.model.entities[plan.entity].root
        try candidates.forEachPortion(of: Self.portion) { _, keys in
            for key in try engine.keys(of: keys, root: root, meeting: split, now: planner.now) { found.insert(key) }
        }
        return found
    }
}
