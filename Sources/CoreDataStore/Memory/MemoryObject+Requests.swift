import CoreDataPredicate
import CoreDataPrimitives

// Filters, sorts and limits rows in memory.

extension PredicateNode {
    /// Returns the objects for which the predicate is true, in their order; keys in the predicate are rows of the
    /// graph.
    func filter(_ objects: [MemoryObject], in graph: any RowGraph, now: Double) throws -> [MemoryObject] {
        let frame = EvaluationFrame(now: now)
        let evaluator = PredicateEvaluator(try mapExpressions { try $0.lookingUpKeys(in: graph) })
        return try objects.filter { try evaluator.evaluate(.object($0), in: frame) }
    }
}

extension FetchPlan {
    /// Returns the elements within limit and offset.
    func window<Element>(_ elements: [Element]) -> [Element] {
        let rest = elements.dropFirst(max(0, offset))
        return Array(limit > 0 ? rest.prefix(limit) : rest)
    }
}

extension [FetchPlan.Sort] {
    /// Returns the objects in the order of the sorts; the sort is stable.
    func sorted(_ objects: [MemoryObject]) throws -> [MemoryObject] {
        try sorted(objects) { sort, object in try object.sortValue(sort) }
    }

    /// Sorts any values like ``sorted(_:)``.
    func sorted<Sorted>(
        _ elements: [Sorted], by value: (FetchPlan.Sort, Sorted) throws -> Operand
    ) rethrows -> [Sorted] {
        guard !isEmpty else { return elements }
        let keyed = try elements.map { element in
            (element: element, keys: try map { try value($0, element) })
        }
        return keyed.enumerated().sorted { a, b in
            for (index, sort) in enumerated() {
                let order = OperandSorting.order(a.element.keys[index], b.element.keys[index], by: sort.comparison)
                if order != 0 { return sort.isAscending ? order < 0 : order > 0 }
            }
            return a.offset < b.offset
        }.map(\.element.element)
    }
}

extension MemoryObject {
    func sortValue(_ sort: FetchPlan.Sort) throws -> Operand {
        let path = ExpressionNode.keyPath(operand: .evaluatedObject, sort.keyPath)
        return try ExpressionEvaluator(path).value(for: .object(self)).sortable
    }
}

extension Operand {
    /// Objects sort by their keys, like the column of a to-one.
    var sortable: Operand {
        guard case .object(let object as MemoryObject) = self else { return self }
        return .value(.integer(object.key.primaryKey))
    }
}

extension ExpressionNode {
    /// Returns the expression with keys in constants replaced by their rows.
    func lookingUpKeys(in graph: any RowGraph) throws -> ExpressionNode {
        guard case .constant(let constant) = self else { return self }
        return .constant(try constant.lookingUpKeys(in: graph))
    }
}

extension Constant {
    fileprivate func lookingUpKeys(in graph: any RowGraph) throws -> Constant {
        switch self {
        case .key(let key?):
            // A missing row equals nothing.
            guard let row = try graph.row(key.primaryKey, root: graph.model.entities[key.entity].root) else {
                return .key(key)
            }
            return .object(MemoryObject(row, in: graph))
        case .collection(let members, let isOrdered):
            return .collection(try members.map { try $0.lookingUpKeys(in: graph) }, isOrdered: isOrdered)
        case .value, .key, .object, .dictionary, .symbol: return self
        }
    }
}
