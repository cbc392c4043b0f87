import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// What the database's dialect lacks is done here, with the rows that come: see ``PlanSplit``. They are all read before the first is looked
// at, so that no connection waits for another.
extension StoreEngine {
    /// The rows that the plan selects, in one portion.
    func fetchRows(
        _ plan: FetchPlan, _ split: PlanSplit, now: Double, _ take: (RowList) throws -> Void
    ) throws {
        let selected = RowList()
        try withSelected(plan, split, now: now) { for row in $0.compactMap(\.row) { selected.append(row) } }
        guard !selected.isEmpty else { return }
        defer { giveUp(selected) }
        try take(selected)
    }

    /// The keys of the rows that the plan selects, in its order.
    func keys(_ plan: FetchPlan, _ split: PlanSplit, now: Double) throws -> [RowKey] {
        try withSelected(plan, split, now: now) { $0.map(\.key) }
    }

    /// Those of some rows of a table that meet the predicate's remainder.
    func keys(of keys: [Int64], root: Int, meeting split: PlanSplit, now: Double) throws -> [RowKey] {
        let came = try rows(forKeys: keys, root: root)
        defer { giveUp(came) }
        let graph = EngineGraph(self)
        var objects = came.indices.filter(came.hasRow).map { MemoryObject(came[$0], in: graph) }
        if let predicate = split.predicate { objects = try predicate.filter(objects, in: graph, now: now) }
        return objects.map(\.key)
    }

    /// As ``keys(of:root:meeting:now:)``; those that come first in the plan's order are kept, as many as it may need.
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

    /// The plan with the predicate's remainder as a list of keys, `nil` where other parts of a dictionary fetch have gaps, too.
    func answerable(_ request: MemoryTuples, _ planner: FetchPlanner) throws -> FetchPlan? {
        let split = try planner.splitPredicate(request.plan)
        var plan = request.plan
        plan.predicate = split.plan.predicate
        let columns = try planner.tuples(
            plan, columns: request.columns, distinct: request.distinct, groupBy: request.groupBy,
            having: request.having
        ).statement
        guard columns.gap(in: planner.dialect) == nil else { return nil }
        if split.isWhole { return plan }
        let keys = try keys(request.plan.withoutOrderAndWindow, split, now: planner.now)
        // More would meet the limit of bound values.
        guard dialect.jsonArrays != nil || keys.count < dialect.maximumBindings / 2 else { return nil }
        plan.predicate = .comparison(
            .init(
                .evaluatedObject, .in, .constant(.collection(keys.map { .key($0) }, isOrdered: true))))
        return plan
    }

    /// The tuples of a dictionary fetch, made of whole rows.
    func tuplesInMemory(_ request: MemoryTuples, _ planner: FetchPlanner) throws -> [[Value]] {
        try request.check(model)
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

    /// Reads the rows that SQL's part of a request selects, and hands over those that the whole of it selects, in its order.
    ///
    /// Where SQL has the order and few of its rows are rejected, no more rows are read than the limit needs; each time that they are
    /// not enough, more are, by a statement of their own, so that the result is of one moment.
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

    /// Beyond it all rows are read at once.
    private static let longestWindow = 10_000
}

/// The first of many rows in an order that memory makes, which come in portions: as many as a plan's limit and offset need.
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

extension FetchPlan {
    /// All that the predicate selects, in no order.
    var withoutOrderAndWindow: FetchPlan {
        var plan = self
        plan.sorts = []
        plan.limit = 0
        plan.offset = 0
        return plan
    }
}

/// The rows around those of a fetch, each read once, when a predicate asks for it.
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
