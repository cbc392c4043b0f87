import CoreDataModel
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

extension MemoryEngine {
    package func forEachTuple(
        _ plan: FetchPlan, columns: [FetchColumn], distinct: Bool, groupBy: [ExpressionNode],
        having: PredicateNode?, _ body: (FetchTuple) throws -> Void
    ) throws {
        let graph = graph
        let request = MemoryTuples(plan: plan, columns: columns, distinct: distinct, groupBy: groupBy, having: having)
        try request.check(model)
        for tuple in try request.tuples(of: objects(plan, in: graph), in: graph) { try body(FetchTuple(tuple)) }
    }
}

/// A dictionary fetch that memory evaluates.
struct MemoryTuples {
    var plan: FetchPlan
    var columns: [FetchColumn]
    var distinct: Bool
    var groupBy: [ExpressionNode]
    var having: PredicateNode?

    private func isGrouped(_ model: CompiledModel) -> Bool {
        let entity = model.entities[plan.entity]
        return !groupBy.isEmpty || columns.contains { $0.expression.aggregates(entity, model) }
    }

    /// - Throws: ``PredicateFailure`` for unknown names, and for columns that are not in the groups.
    func check(_ model: CompiledModel) throws {
        let keys = MemoryKeys(model: model, entity: plan.entity)
        try keys.check(columns, groupBy: groupBy, having: having)
        if !isGrouped(model) { try keys.check(plan.sorts) }
    }

    /// Returns the tuples of the objects that satisfy the plan's predicate, in its order and within its limit.
    func tuples(of objects: [MemoryObject], in graph: any RowGraph) throws -> [[Value]] {
        var tuples: [[Value]]
        if isGrouped(graph.model) {
            tuples = try groups(objects, graph.model)
        } else {
            let evaluators = try columns.map { ExpressionEvaluator(try $0.expression.lookingUpKeys(in: graph)) }
            tuples = try plan.sorts.sorted(objects).map { object in
                try zip(columns, evaluators).map { try Self.value(of: $1.value(for: .object(object)), $0) }
            }
        }
        if distinct {
            var seen: Set<[Value]> = []
            tuples = tuples.filter { seen.insert($0).inserted }
        }
        return plan.window(tuples)
    }

    // MARK: Groups

    /// The rows of one tuple, and its values by name for predicates.
    fileprivate struct Group {
        let model: CompiledModel
        let entity: CompiledEntity
        var objects: [MemoryObject]
        var operands: [Operand] = []
    }

    private func groups(_ objects: [MemoryObject], _ model: CompiledModel) throws -> [[Value]] {
        var groups = try divided(objects, model)
        for index in groups.indices {
            groups[index].operands = try columns.map { try groups[index].operand($0.expression) }
        }
        if let having {
            groups = try groups.filter { group in
                let frame = EvaluationFrame(
                    variables: Dictionary(
                        zip(columns.map(\.name), group.operands), uniquingKeysWith: { first, _ in first }))
                let evaluator = PredicateEvaluator(
                    having.mapExpressions { $0.aggregating(group.objects, group.entity, group.model) })
                return try evaluator.evaluate(group.first, in: frame)
            }
        }
        // A sort may refer to a column by name.
        groups = try plan.sorts.sorted(groups) { sort, group in
            if sort.keyPath.count == 1, let place = columns.firstIndex(where: { $0.name == sort.keyPath[0] }) {
                return group.operands[place].sortable
            }
            return try group.operand(.keyPath(operand: .evaluatedObject, sort.keyPath)).sortable
        }
        return try groups.map { group in
            try zip(columns, group.operands).map { try Self.value(of: $1, $0) }
        }
    }

    /// Groups the objects by equal values, in the order of their first objects; without expressions, all are one group.
    private func divided(_ objects: [MemoryObject], _ model: CompiledModel) throws -> [Group] {
        let expressions = groupBy
        let entity = model.entities[plan.entity]
        guard !expressions.isEmpty else { return [Group(model: model, entity: entity, objects: objects)] }
        let evaluators = expressions.map { ExpressionEvaluator($0) }
        var places: [[Value]: Int] = [:]
        var groups: [Group] = []
        for object in objects {
            let values = try zip(expressions, evaluators).map { expression, evaluator in
                try Self.value(of: evaluator.value(for: .object(object)), FetchColumn(name: "", expression: expression))
            }
            if let place = places[values] {
                groups[place].objects.append(object)
            } else {
                places[values] = groups.count
                groups.append(Group(model: model, entity: entity, objects: [object]))
            }
        }
        return groups
    }

    private static func value(of operand: Operand, _ column: FetchColumn) throws -> Value {
        switch operand {
        // An average is never an integer.
        case .value(.integer(let value)) where column.expression.isAverage: return .double(Double(value))
        // As in databases, an undefined result is nil.
        case .value(.double(let value)) where value.isNaN && column.expression.isFunction: return .null
        case .value(let value): return value
        case .object(let object as MemoryObject):
            let key = object.key
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

extension MemoryTuples.Group {
    /// A value that is not aggregated is the same for all rows of a group; no rows have only aggregates.
    fileprivate var first: Operand { objects.first.map { .object($0) } ?? .null }

    fileprivate func operand(_ expression: ExpressionNode) throws -> Operand {
        try ExpressionEvaluator(expression.mapExpressions { $0.aggregating(objects, entity, model) }).value(for: first)
    }
}

extension ExpressionNode {
    /// The functions that compute one value from a group's rows.
    private static let aggregateNames: Set<String> = [
        "sum:", "count:", "min:", "max:", "average:", "median:", "mode:", "stddev:",
    ]

    /// Returns whether this function, as a column, aggregates rows: its argument has one value per row. For a
    /// collection (`books`, SUBQUERY), it computes one value per row; for `books.@count`, again one of all rows.
    private func isAggregate(_ entity: CompiledEntity, _ model: CompiledModel) -> Bool {
        guard case .function(let name, let arguments) = self, arguments.count == 1, Self.aggregateNames.contains(name)
        else { return false }
        switch arguments[0] {
        case .evaluatedObject, .conditional: return true
        case .keyPath(let operand, let keys):
            if let last = keys.last(where: { $0.hasPrefix("@") }) { return Self.singleOperators.contains(last) }
            if case .evaluatedObject = operand { return !Self.isToMany(keys, entity, model) }
            return false
        case .function("distinct:", let inner): return ExpressionNode.function(name, inner).isAggregate(entity, model)
        case .function: return !arguments[0].aggregates(entity, model)
        default: return false
        }
    }

    private static let singleOperators: Set<String> = ["@count", "@sum", "@avg", "@min", "@max"]

    private static func isToMany(_ keys: [String], _ entity: CompiledEntity, _ model: CompiledModel) -> Bool {
        var entity = entity
        var rest = keys[...]
        while !rest.isEmpty, let (property, remainder) = entity.property(at: rest),
            let relationship = property.relationship
        {
            if relationship.isToMany { return true }
            entity = model.entities[relationship.destination]
            rest = remainder
        }
        return false
    }

    fileprivate var isFunction: Bool {
        if case .function = self { true } else { false }
    }

    fileprivate var isAverage: Bool {
        if case .function("average:", _) = self { true } else { false }
    }

    /// Returns whether the expression aggregates the rows of a group.
    func aggregates(_ entity: CompiledEntity, _ model: CompiledModel) -> Bool {
        if isAggregate(entity, model) { return true }
        guard case .function(_, let arguments) = self else { return false }
        return arguments.contains { $0.aggregates(entity, model) }
    }

    /// Returns the function with its argument replaced by the group's values.
    fileprivate func aggregating(
        _ group: [MemoryObject], _ entity: CompiledEntity, _ model: CompiledModel
    ) -> ExpressionNode {
        guard isAggregate(entity, model), case .function(let name, let arguments) = self else { return self }
        var of = arguments[0]
        if case .function("distinct:", let inner) = of, inner.count == 1 { of = inner[0] }
        let evaluator = ExpressionEvaluator(of)
        let values = group.compactMap { object -> Constant? in
            switch try? evaluator.value(for: .object(object)) {
            case .value(.null), nil: nil
            case .value(let value): .value(value)
            case .object(let object): .object(object)
            case .collection, .dictionary: nil
            }
        }
        // As in databases, the average of no rows is nil.
        if name == "average:", values.isEmpty { return .constant(.value(.null)) }
        let list = ExpressionNode.constant(.collection(values, isOrdered: true))
        let function = ExpressionNode.function(name, [of == arguments[0] ? list : .function("distinct:", [list])])
        // As a column it is one value; in a predicate, the list of all equally frequent values.
        return name == "mode:" ? .function("min:", [function]) : function
    }
}
