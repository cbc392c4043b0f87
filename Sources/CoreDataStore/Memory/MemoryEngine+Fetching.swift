import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

// Every row of the entity is looked at: a fetch costs a step for each.
extension MemoryEngine {
    package func fetchRows(_ plan: FetchPlan, _ take: (RowList) throws -> Void) throws {
        let rows = RowList()
        for row in try self.rows(plan, in: graph) { rows.append(row) }
        guard !rows.isEmpty else { return }
        defer { for index in rows.indices { RowSnapshot.release(rows.take(index)) } }
        try take(rows)
    }

    package func keys(_ plan: FetchPlan) throws -> [RowKey] { try rows(plan, in: graph).map(\.key) }

    package func count(_ plan: FetchPlan) throws -> Int { try rows(plan, in: graph).count }

    /// The rows that the plan selects, in its order.
    private func rows(_ plan: FetchPlan, in graph: MemoryGraph) throws -> [RowSnapshot] {
        try Self.window(sortedObjects(plan, in: graph), plan).compactMap {
            graph.row($0.key.primaryKey, root: model.entities[$0.key.entity].root)
        }
    }

    /// What the plan selects, without its limit and offset, as what predicates look into.
    func objects(_ plan: FetchPlan, in graph: MemoryGraph) throws -> [MemoryObject] {
        let keys = MemoryKeys(model: model, entity: plan.entity)
        try keys.check(plan.predicate)
        var objects = graph.rows(of: plan.entity, includesSubentities: plan.includesSubentities)
            .map { MemoryObject($0, in: graph) }
        let frame = EvaluationFrame(now: Date().timeIntervalSinceReferenceDate)
        if let predicate = plan.predicate {
            let evaluator = PredicateEvaluator(predicate.mapExpressions { $0.lookingUpKeys(in: graph) })
            objects = try objects.filter { try evaluator.evaluate(.object($0), in: frame) }
        }
        return objects
    }

    /// What the plan selects, sorted as it says.
    private func sortedObjects(_ plan: FetchPlan, in graph: MemoryGraph) throws -> [MemoryObject] {
        let objects = try objects(plan, in: graph)
        try MemoryKeys(model: model, entity: plan.entity).check(plan.sorts)
        return try Self.sorted(objects, by: plan.sorts) { try Self.sortValue($0, of: $1) }
    }

    /// Elements in the order of the sorts; what is equal keeps its order.
    static func sorted<Element>(
        _ elements: [Element], by sorts: [FetchPlan.Sort], _ value: (FetchPlan.Sort, Element) throws -> Operand
    ) rethrows -> [Element] {
        guard !sorts.isEmpty else { return elements }
        let keyed = try elements.map { element in
            (element: element, keys: try sorts.map { try value($0, element) })
        }
        return keyed.enumerated().sorted { a, b in
            for (index, sort) in sorts.enumerated() {
                let order = OperandSorting.order(a.element.keys[index], b.element.keys[index], by: sort.comparison)
                if order != 0 { return sort.isAscending ? order < 0 : order > 0 }
            }
            return a.offset < b.offset
        }.map(\.element.element)
    }

    static func window<Element>(_ elements: [Element], _ plan: FetchPlan) -> [Element] {
        let rest = elements.dropFirst(max(0, plan.offset))
        return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
    }

    static func sortValue(_ sort: FetchPlan.Sort, of object: MemoryObject) throws -> Operand {
        let path = ExpressionNode.keyPath(operand: .evaluatedObject, sort.keyPath)
        return sortable(try ExpressionEvaluator(path).value(for: .object(object)))
    }

    /// Objects sort by their keys, as the column of a to-one does.
    static func sortable(_ operand: Operand) -> Operand {
        guard case .object(let object as MemoryObject) = operand else { return operand }
        return .value(.integer(object.key.primaryKey))
    }
}

extension ExpressionNode {
    /// The expression with the rows that constants name in their place.
    func lookingUpKeys(in graph: MemoryGraph) -> ExpressionNode {
        guard case .constant(let constant) = self else { return self }
        return .constant(constant.lookingUpKeys(in: graph))
    }
}

extension Constant {
    fileprivate func lookingUpKeys(in graph: MemoryGraph) -> Constant {
        switch self {
        case .key(let key?):
            // A row that is gone is nobody's equal.
            guard let row = graph.row(key.primaryKey, root: graph.model.entities[key.entity].root) else {
                return .key(key)
            }
            return .object(MemoryObject(row, in: graph))
        case .collection(let members, let isOrdered):
            return .collection(members.map { $0.lookingUpKeys(in: graph) }, isOrdered: isOrdered)
        case .value, .key, .object, .dictionary, .symbol: return self
        }
    }
}
