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
        try Self.window(objects(plan, in: graph), plan).map(\.row)
    }

    /// What the plan selects, without its limit and offset, as what predicates look into.
    private func objects(_ plan: FetchPlan, in graph: MemoryGraph) throws -> [MemoryObject] {
        var objects = graph.rows(of: plan.entity, includesSubentities: plan.includesSubentities)
            .map { MemoryObject($0, in: graph) }
        let frame = EvaluationFrame(now: Date().timeIntervalSinceReferenceDate)
        if let predicate = plan.predicate {
            let evaluator = PredicateEvaluator(predicate.mapExpressions { $0.lookingUpKeys(in: graph) })
            objects = try objects.filter { try evaluator.evaluate(.object($0), in: frame) }
        }
        guard !plan.sorts.isEmpty else { return objects }
        let keyed = try objects.map { object in
            (object: object, keys: try plan.sorts.map { try Self.sortValue($0, of: object) })
        }
        // Rows come by key, and sorting keeps what is equal in order.
        return keyed.enumerated().sorted { a, b in
            for (index, sort) in plan.sorts.enumerated() {
                let order = OperandSorting.order(a.element.keys[index], b.element.keys[index], by: sort.comparison)
                if order != 0 { return sort.isAscending ? order < 0 : order > 0 }
            }
            return a.offset < b.offset
        }.map(\.element.object)
    }

    private static func window<Element>(_ elements: [Element], _ plan: FetchPlan) -> [Element] {
        let rest = elements.dropFirst(max(0, plan.offset))
        return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
    }

    private static func sortValue(_ sort: FetchPlan.Sort, of object: MemoryObject) throws -> Operand {
        var operand = Operand.object(object)
        for key in sort.keyPath {
            guard case .object(let owner) = operand else { return .null }
            operand = try owner.predicateOperand(forKey: key)
        }
        // Objects sort by their keys, as the column of a to-one does.
        guard case .object(let object as MemoryObject) = operand else { return operand }
        return .value(.integer(object.row.primaryKey))
    }

    // MARK: Tuples

    package func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws {
        let graph = graph
        let objects = try objects(plan, in: graph)
        let isGrouped = !groupBy.isEmpty || columns.contains { $0.expression.aggregates }
        var tuples: [[Value]] = []
        if isGrouped {
            for group in try Self.groups(objects, by: groupBy) {
                if let having {
                    let evaluator = PredicateEvaluator(having.mapExpressions { $0.aggregating(group) })
                    guard let first = group.first, try evaluator.evaluate(.object(first)) else { continue }
                }
                tuples.append(try columns.map { try Self.value($0, of: group) })
            }
        } else {
            let evaluators = columns.map { ExpressionEvaluator($0.expression.lookingUpKeys(in: graph)) }
            tuples = try objects.map { object in
                try zip(columns, evaluators).map { try Self.value(of: $1.value(for: .object(object)), $0) }
            }
        }
        if distinct {
            var seen: Set<[Value]> = []
            tuples = tuples.filter { seen.insert($0).inserted }
        }
        for tuple in Self.window(tuples, plan) { try body(FetchTuple(tuple)) }
    }

    /// The objects that have the same values, in the order in which their first ones come; all of them without expressions.
    private static func groups(_ objects: [MemoryObject], by expressions: [ExpressionNode]) throws -> [[MemoryObject]] {
        guard !expressions.isEmpty else { return [objects] }
        let evaluators = expressions.map { ExpressionEvaluator($0) }
        var places: [[Value]: Int] = [:]
        var groups: [[MemoryObject]] = []
        for object in objects {
            let values = try zip(expressions, evaluators).map { expression, evaluator in
                try value(of: evaluator.value(for: .object(object)), FetchColumn(name: "", expression: expression))
            }
            if let place = places[values] {
                groups[place].append(object)
            } else {
                places[values] = groups.count
                groups.append([object])
            }
        }
        return groups
    }

    private static func value(_ column: FetchColumn, of group: [MemoryObject]) throws -> Value {
        let expression = column.expression.aggregating(group)
        // What is not aggregated is the same for all of a group; no rows at all have aggregates only.
        let object = group.first.map { Operand.object($0) } ?? .null
        return try value(of: ExpressionEvaluator(expression).value(for: object), column)
    }

    private static func value(of operand: Operand, _ column: FetchColumn) throws -> Value {
        switch operand {
        case .value(let value): return value
        case .object(let object as MemoryObject):
            let key = object.row.key
            return .opaque(OpaqueValue(key) { $0.object as? RowKey == key })
        case .object, .collection, .dictionary:
            throw PredicateFailure(
                .unsupported,
                Diagnostic(
                    .error, "to-many key not allowed here: '\(column.name)'",
                    hint: "count it: @count, or take an aggregate"))
        }
    }
}

extension ExpressionNode {
    /// The expression with the rows that constants name in their place.
    fileprivate func lookingUpKeys(in graph: MemoryGraph) -> ExpressionNode {
        guard case .constant(let constant) = self else { return self }
        return .constant(constant.lookingUpKeys(in: graph))
    }

    /// The functions that make one value of a group's rows.
    private static let aggregateNames: Set<String> = [
        "sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:",
    ]

    /// Whether the expression, as a column, makes one value of many rows: a function of a path that is not to-many is meant.
    fileprivate var aggregates: Bool {
        guard case .function(let name, let arguments) = self, arguments.count == 1 else { return false }
        guard Self.aggregateNames.contains(name) else { return arguments[0].aggregates }
        switch arguments[0] {
        case .keyPath(_, let keys): return !keys.contains { $0.hasPrefix("@") }
        case .evaluatedObject: return true
        default: return false
        }
    }

    /// The expression with the group's values in place of what the functions are of.
    fileprivate func aggregating(_ group: [MemoryObject]) -> ExpressionNode {
        guard aggregates, case .function(let name, let arguments) = self, Self.aggregateNames.contains(name) else {
            return self
        }
        let evaluator = ExpressionEvaluator(arguments[0])
        let values = group.compactMap { object -> Constant? in
            switch try? evaluator.value(for: .object(object)) {
            case .value(.null), nil: nil
            case .value(let value): .value(value)
            case .object(let object): .object(object)
            case .collection, .dictionary: nil
            }
        }
        return .function(name, [.constant(.collection(values, isOrdered: true))])
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
