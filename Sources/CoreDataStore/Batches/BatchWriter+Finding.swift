import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

extension BatchWriter {
    /// Returns whether a uniqueness constraint consists of only this attribute, so that a value identifies one row.
    package func isUnique(entity: Int, slot: Int) throws -> Bool {
        try engine.saveTables.table(of: entity).constraints.contains { $0.slots == [slot] }
    }

    /// Returns the row of an entity, or of a subentity, with a unique value; `nil` if there is none.
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
            let key = RowKey(entity: found, primaryKey: statement.integer(0))
            know([key.primaryKey], root: engine.model.entities[entity].root)
            return key
        }
        return nil
    }

    /// Returns the rows that a plan selects if SQL cannot express the whole plan: one bit per row, with few rows in
    /// memory at a time. For a limit or offset in an order that only memory can compute, that number of rows is in
    /// memory too.
    func selected(_ plan: FetchPlan, _ split: PlanSplit, _ planner: FetchPlanner) throws -> KeySet {
        engine.database.note(split.explanation)
        let hasWindow = plan.limit > 0 || plan.offset > 0
        if hasWindow, !split.sorts { return try firstSelected(plan, split, planner) }
        var candidates = KeySet(model: engine.model)
        try forEachKey(of: split.plan.withoutOrderAndWindow, planner) { candidates.insert($0) }
        var found = KeySet(model: engine.model)
        let root = engine.model.entities[plan.entity].root
        var first = FirstInOrder(plan)
        try candidates.forEachPortion(of: Self.portion) { _, keys in
            for key in try engine.keys(of: keys, root: root, meeting: split, now: planner.now, first: &first) {
                found.insert(key)
            }
        }
        guard hasWindow else { return found }
        var window = KeySet(model: engine.model)
        if plan.limit > 0 {
            for key in first.keys.dropFirst(max(0, plan.offset)) { window.insert(key) }
        } else {
            let passed = Set(first.keys)
            found.forEachPortion(of: Self.portion) { entity, keys in
                for key in keys.map({ RowKey(entity: entity, primaryKey: $0) }) where !passed.contains(key) {
                    window.insert(key)
                }
            }
        }
        return window
    }

    /// Returns the rows that a plan selects if SQL can express it, in their current state.
    func selected(_ plan: FetchPlan, _ planner: FetchPlanner) throws -> KeySet {
        var found = KeySet(model: engine.model)
        try forEachKey(of: plan, planner) { found.insert($0) }
        return found
    }

    /// Returns the rows if SQL has the order: reads keys in this order until the limit is reached.
    private func firstSelected(_ plan: FetchPlan, _ split: PlanSplit, _ planner: FetchPlanner) throws -> KeySet {
        var candidates: [Int64] = []
        try forEachKey(of: split.plan, planner) { candidates.append($0.primaryKey) }
        let root = engine.model.entities[plan.entity].root
        var found = KeySet(model: engine.model)
        var (passed, taken, start) = (0, 0, 0)
        while start < candidates.count {
            let portion = Array(candidates[start..<min(start + Self.portion, candidates.count)])
            start += portion.count
            let meeting = Dictionary(
                try engine.keys(of: portion, root: root, meeting: split, now: planner.now).map { ($0.primaryKey, $0) },
                uniquingKeysWith: { first, _ in first })
            for case let key? in portion.lazy.map({ meeting[$0] }) {
                passed += 1
                guard passed > plan.offset else { continue }
                found.insert(key)
                taken += 1
                if taken == plan.limit { return found }
            }
        }
        return found
    }

    private func forEachKey(of plan: FetchPlan, _ planner: FetchPlanner, _ body: (RowKey) -> Void) throws {
        let statement = try connection.statement(planner.keys(plan))
        defer { statement.reset() }
        while try statement.step() { body(engine.key(statement, at: 0, of: plan.entity)) }
    }
}
