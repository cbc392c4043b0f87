import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Fetches scan every row of the entity.
extension MemoryEngine {
    package func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws {
        let rows = RowList()
        for row in try self.rows(plan, in: graph) { rows.append(row) }
        guard !rows.isEmpty else { return }
        defer { rows.removeAll() }
        try take(rows)
    }

    package func keys(_ plan: FetchPlan) throws -> [RowKey] { try rows(plan, in: graph).map(\.key) }

    package func count(_ plan: FetchPlan) throws -> Int { try rows(plan, in: graph).count }

    /// Returns the rows that the plan selects, in its order.
    private func rows(_ plan: FetchPlan, in graph: MemoryGraph) throws -> [RowSnapshot] {
        try plan.window(sortedObjects(plan, in: graph)).compactMap {
            graph.row($0.key.primaryKey, root: model.entities[$0.key.entity].root)
        }
    }

    /// Returns the objects that the plan selects, without its limit and offset, for evaluating predicates.
    func objects(_ plan: FetchPlan, in graph: MemoryGraph) throws -> [MemoryObject] {
        try MemoryKeys(model: model, entity: plan.entity).check(plan.predicate)
        let objects = graph.rows(of: plan.entity, includesSubentities: plan.includesSubentities)
            .filter { plan.keys?.contains($0.key.primaryKey) ?? true }.map { MemoryObject($0, in: graph) }
        return try plan.predicate.map { try $0.filter(objects, in: graph, now: clock.now) } ?? objects
    }

    /// Returns the objects that the plan selects, sorted.
    private func sortedObjects(_ plan: FetchPlan, in graph: MemoryGraph) throws -> [MemoryObject] {
        let objects = try objects(plan, in: graph)
        try MemoryKeys(model: model, entity: plan.entity).check(plan.sorts)
        return try plan.sorts.sorted(objects)
    }
}
