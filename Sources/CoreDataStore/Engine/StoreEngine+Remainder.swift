import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Evaluates in memory the parts of a request that the database's dialect does not support: see ``PlanSplit``. All rows
// are read before the first one is evaluated, so that no connection waits for another.
extension StoreEngine {
    /// Returns the rows that the plan selects, in one portion.
    func fetchRows(
        _ plan: FetchPlan, _ split: PlanSplit, now: Double, _ take: (RowList) throws -> Void
    ) throws {
        let selected = RowList()
        try withSelected(plan, split, now: now) { for row in $0.compactMap(\.row) { selected.append(row) } }
        guard !selected.isEmpty else { return }
        defer { giveUp(selected) }
        try take(selected)
    }

    /// Returns the keys of the rows that the plan selects, in its order.
    func keys(_ plan: FetchPlan, _ split: PlanSplit, now: Double) throws -> [RowKey] {
        try withSelected(plan, split, now: now) { $0.map(\.key) }
    }

    /// Returns the keys of rows that satisfy the predicate's remainder, among the given keys of a table.
    func keys(of keys: [Int64], root: Int, meeting split: PlanSplit, now: Double) throws -> [RowKey] {
        let came = try rows(forKeys: keys, root: root)
        defer { giveUp(came) }
        let graph = EngineGraph(self)
        var objects = came.indices.filter(came.hasRow).map { MemoryObject(came[$0], in: graph) }
        if let predicate = split.predicate { objects = try predicate.filter(objects, in: graph, now: now) }
        return objects.map(\.key)
    }

    /// Selects keys like ``keys(of:root:meeting:now:)``; only the first ones in the plan's order are kept, as many as
    /// the plan may need.
    func keys(
        of keys: [Int64], root: Int, meeting split: PlanSplit, now: Double, first: inout FirstInOrder
    ) throws -> [RowKey] {
        guard first.count > 0 else { return try self.keys(of: keys, root: root, meeting: split, now: now) }
        let came = try rows(forKeys: keys, root: root)
        defer { giveUp(came) }
        let graph = EngineGraph(self)
        var objects = came.indices.filter(came.hasRow).map { MemoryObject(came[$0], in: graph) }
        if let predicate = split.predicate { objects = try predicate.filter(objects, in: graph, now: now) }
        try first.add(objects.compactMap(\.row), in: graph)
        return objects.map(\.key)
    }

    /// Returns the plan with the predicate's remainder replaced by a list of keys; `nil` if other parts of a dictionary
    /// fetch are unsupported too.
    func answerable(_ request: MemoryTuples, _ planner: FetchPlanner) throws -> FetchPlan? {
        let split = try planner.splitPredicate(request.plan)
        var plan = request.plan
        plan.predicate = split.plan.predicate
        let columns = try planner.tuples(
            plan, columns: request.columns, distinct: request.distinct, groupBy: request.groupBy,
            having: request.having
        ).statement
        guard columns.unsupportedFeature(in: planner.dialect) == nil else { return nil }
        if split.isWhole { return plan }
        let keys = try keys(request.plan.withoutOrderAndWindow, split, now: planner.now)
        // More keys would exceed the limit of bound values.
        guard dialect.jsonArrays != nil || keys.count < dialect.maximumBindings / 2 else { return nil }
        plan.predicate = .rows(keys)
        return plan
    }

    /// Returns the tuples of a dictionary fetch, computed from whole rows.
    func tuplesInMemory(_ request: MemoryTuples, _ planner: FetchPlanner) throws -> [[Value]] {
        try request.check(model)
        if let security = request.plan.security {
            let expressions = request.columns.map(\.expression) + request.groupBy
            for expression in expressions where !security.isOpen(expression, of: request.plan.entity, in: model) {
                throw PredicateFailure.closed(expression.predicateFormat)
            }
            for sort in request.plan.sorts where !security.isOpen(sort.keyPath, of: request.plan.entity, in: model) {
                throw PredicateFailure.closed(sort.keyPath.joined(separator: "."))
            }
        }
        let plan = request.plan.withoutOrderAndWindow
        let split = try planner.split(plan)
        if split.isWhole { database.note("the columns of a dictionary fetch are made in memory") }
        return try withSelected(plan, split, now: planner.now) { try request.tuples(of: $0, in: $1) }
    }

    private func withSelected<R>(
        _ plan: FetchPlan, _ split: PlanSplit, now: Double, _ body: ([MemoryObject]) throws -> R
    ) throws -> R {
        try withSelected(plan, split, now: now) { objects, _ in try body(objects) }
    }

    /// Reads the rows that SQL's part of a request selects, and passes on those that satisfy the whole request, in its
    /// order.
    ///
    /// If SQL sorts and rejects most rows, only as many rows are read as the limit needs. If they do not suffice, a new
    /// statement reads more from the start, so that the result is consistent.
    private func withSelected<R>(
        _ plan: FetchPlan, _ split: PlanSplit, now: Double, _ body: ([MemoryObject], EngineGraph) throws -> R
    ) throws -> R {
        if !split.isWhole { database.note(split.explanation) }
        let wanted = FirstInOrder(plan).count
        var asked = split.plan
        if split.isNarrow, plan.limit > 0, wanted < Self.longestWindow { asked.limit = wanted + wanted / 4 + 16 }
        while true {
            let came = try rows(asked)
            defer { giveUp(came) }
            let isAll = asked.limit == 0 || came.count < asked.limit
            let graph = EngineGraph(self)
            var objects = came.indices.map { MemoryObject(came[$0], in: graph) }
            if let predicate = split.predicate { objects = try predicate.filter(objects, in: graph, now: now) }
            if isAll || objects.count >= wanted {
                if split.sorts { objects = try plan.sorts.sorted(objects) }
                return try body(plan.window(objects), graph)
            }
            asked.limit = asked.limit < Self.longestWindow ? asked.limit * 4 : 0
        }
    }

    /// For a larger window, all rows are read at once.
    private static let longestWindow = 10_000
}

/// The first rows in an order that memory computes, from portions of rows: as many as a plan's limit and offset need.
struct FirstInOrder {
    let count: Int
    private let sorts: [FetchPlan.Sort]
    private var rows: [RowSnapshot] = []

    var keys: [RowKey] { rows.map(\.key) }

    init(_ plan: FetchPlan) {
        let (sum, isTooLarge) = max(0, plan.offset).addingReportingOverflow(max(0, plan.limit))
        count = isTooLarge ? .max : sum
        sorts = plan.sorts
    }

    fileprivate mutating func add(_ more: [RowSnapshot], in graph: EngineGraph) throws {
        let objects = try sorts.sorted((rows + more).map { MemoryObject($0, in: graph) })
        rows = objects.prefix(count).compactMap(\.row)
    }
}

/// The related rows of a fetch's rows; each is read once, when a predicate needs it.
final class EngineGraph: RowGraph {
    private struct Owner: Hashable {
        var key: Int64
        var entity: Int
        var slot: Int
    }

    private let engine: StoreEngine
    private var rows: [RowKey: RowSnapshot?] = [:]
    private var members: [Owner: [RowSnapshot]] = [:]

    var model: CompiledModel { engine.model }

    init(_ engine: StoreEngine) { self.engine = engine }

    deinit {
        for row in members.values.joined() {
            engine.rowCache.giveUp(nil, root: model.entities[row.entity].root, primaryKey: row.primaryKey)
        }
    }

    func row(_ key: Int64, root: Int) throws -> RowSnapshot? {
        let name = RowKey(entity: root, primaryKey: key)
        if let known = rows[name] { return known }
        let row = try engine.row(key, root: root)
        rows[name] = .some(row)
        return row
    }

    func members(of owner: Int64, entity: Int, slot: Int) throws -> [RowSnapshot] {
        let name = Owner(key: owner, entity: entity, slot: slot)
        if let known = members[name] { return known }
        let rows = try engine.destinationRows(entity: entity, slot: slot, owners: [owner]).first?.rows ?? []
        members[name] = rows
        return rows
    }
}
