import CoreDataPredicate
import CoreDataPrimitives
import CoreDataStore
import Foundation

/// Combines the answers of several stores to one dictionary fetch: decides what each store is asked, and how the
/// answers are merged.
///
///     name, age sorted by age, first 3        // each store: name, age, its first 3; sorted again, the first 3
///     team, average:(age) grouped by team     // each store: team, sum:(age), count:(age) by team; added and divided
///
/// Pure: it knows neither stores nor dictionaries.
struct TupleCombination {
    /// A row or group of one store's answer. What `values` has of keys is of that store.
    struct Tuple {
        var values: [Value]
        var store: Int
    }

    /// One thing that is known of each row or group.
    private enum Input: Hashable {
        /// The expression's value, which all rows of a group have.
        case value(ExpressionNode)
        case aggregate(PredicateFunction, ExpressionNode)
    }

    /// Distinguishes a key path to a to-many, whose functions apply to one row's members, from a column.
    typealias IsToMany = ([String]) -> Bool

    /// The columns that each store is asked for.
    private(set) var asked: [FetchColumn] = []
    /// The expressions by which each store groups.
    let groups: [ExpressionNode]
    private let names: [String]
    private let isGrouped: Bool
    private let isDistinct: Bool
    /// What `now()` is, in all rows.
    private let now: Double
    private let isToMany: IsToMany
    private var inputs: [Input] = []
    /// The first of ``asked`` that each input is made of.
    private var places: [Int] = []
    private var columns: [ExpressionEvaluator] = []
    private var condition: PredicateEvaluator?
    private var sorts: [(sort: FetchPlan.Sort, value: ExpressionEvaluator)] = []

    /// - Throws: for what cannot be made of the stores' answers exactly.
    init(
        _ columns: [FetchColumn], groupBy groups: [ExpressionNode], having: PredicateNode?, sorts: [FetchPlan.Sort],
        isDistinct: Bool, now: Double, isToMany: @escaping IsToMany
    ) throws {
        self.now = now
        names = columns.map(\.name)
        self.groups = groups
        self.isDistinct = isDistinct
        self.isToMany = isToMany
        isGrouped = !groups.isEmpty || columns.contains { Self.aggregates($0.expression, isToMany) }
        for group in groups { _ = place(of: .value(group)) }
        var sources: [String: ExpressionNode] = [:]
        for column in columns {
            let source = try source(of: column.expression, sources, "column '\(column.name)'")
            sources[column.name] = source
            self.columns.append(ExpressionEvaluator(source))
        }
        if let having {
            guard !groups.isEmpty else {
                throw CoreDataErrors.invalidRequest("havingPredicate needs propertiesToGroupBy.")
            }
            condition = PredicateEvaluator(
                try having.mapOutermost { try replacement(of: $0, sources, "havingPredicate") })
        }
        // One row has one order.
        for sort in sorts where !isGrouped || !groups.isEmpty {
            let key = ExpressionNode.keyPath(operand: .evaluatedObject, sort.keyPath)
            self.sorts.append(
                (sort, ExpressionEvaluator(try source(of: key, sources, "sort key '\(key.predicateFormat)'"))))
        }
    }

    /// Whether dictionaries are made of groups of rows, and not one of each row.
    static func aggregates(_ expression: ExpressionNode, _ isToMany: IsToMany) -> Bool {
        var found = false
        _ = expression.mapOutermost { part in
            if aggregate(part, isToMany) != nil { found = true }
            if case .subquery = part { return part }
            return nil
        }
        return found
    }

    /// Returns the plan of one store, made from the plan of all.
    func plan(_ plan: FetchPlan) -> FetchPlan {
        var plan = plan
        // Of equal rows in two stores one goes.
        plan.limit = isGrouped || isDistinct || plan.limit <= 0 ? 0 : plan.limit + max(0, plan.offset)
        plan.offset = 0
        if isGrouped { plan.sorts = [] }
        return plan
    }

    /// Whether each store may leave out equal rows.
    var asksDistinct: Bool { isDistinct && !isGrouped }

    // MARK: Combining

    /// The columns' values, in order, within the plan's limit and offset.
    func combined(_ tuples: [Tuple], _ plan: FetchPlan) throws -> [Tuple] {
        var rows: [(tuple: Tuple, keys: [Operand])] = []
        for inputs in try isGrouped ? grouped(tuples) : tuples.map({ (Self.operands($0.values), $0.store) }) {
            let frame = frame(inputs.0)
            if let condition, try !condition.evaluate(.null, in: frame) { continue }
            let values = try columns.map { try value($0, frame) }
            let keys = try sorts.map { Self.sortKey(try $0.value.value(for: .null, in: frame)) }
            rows.append((Tuple(values: values, store: inputs.1), keys))
        }
        if !sorts.isEmpty { rows = sorted(rows) }
        if isDistinct {
            var seen: Set<Identity> = []
            rows = rows.filter { seen.insert(Identity($0.tuple)).inserted }
        }
        let rest = rows.dropFirst(max(0, plan.offset))
        return (plan.limit > 0 ? rest.prefix(plan.limit) : rest).map(\.tuple)
    }

    private func frame(_ operands: [Operand]) -> EvaluationFrame {
        var variables: [String: Operand] = [:]
        for (index, operand) in operands.enumerated() { variables[String(index)] = operand }
        return EvaluationFrame(variables: variables, now: now)
    }

    private static func operands(_ values: [Value]) -> [Operand] { values.map { .value($0) } }

    private func value(_ column: ExpressionEvaluator, _ frame: EvaluationFrame) throws -> Value {
        guard case .value(let value) = try column.value(for: .null, in: frame) else { return .null }
        return value
    }

    /// A key sorts as the column of a to-one does.
    private static func sortKey(_ operand: Operand) -> Operand {
        guard case .value(.opaque(let box)) = operand, let key = box.object as? RowKey else { return operand }
        return .value(.integer(key.primaryKey))
    }

    private func sorted(_ rows: [(tuple: Tuple, keys: [Operand])]) -> [(tuple: Tuple, keys: [Operand])] {
        rows.enumerated().sorted { a, b in
            for (position, entry) in sorts.enumerated() {
                let order = OperandSorting.order(
                    a.element.keys[position], b.element.keys[position], by: entry.sort.comparison)
                if order != 0 { return entry.sort.isAscending ? order < 0 : order > 0 }
            }
            return a.offset < b.offset
        }.map(\.element)
    }

    /// Values that are the same for a reader; keys are within a store.
    private struct Identity: Hashable {
        let values: [Value]
        let store: Int

        init(_ tuple: Tuple) {
            values = tuple.values
            let hasKeys = tuple.values.contains { if case .opaque = $0 { true } else { false } }
            store = hasKeys ? tuple.store : -1
        }
    }

    // MARK: Groups

    /// The inputs of each group, in the order in which the groups come.
    private func grouped(_ tuples: [Tuple]) throws -> [([Operand], Int)] {
        var positions: [Identity: Int] = [:]
        var members: [[Tuple]] = []
        for tuple in tuples {
            let identity = Identity(Tuple(values: Array(tuple.values.prefix(groups.count)), store: tuple.store))
            if let position = positions[identity] {
                members[position].append(tuple)
            } else {
                positions[identity] = members.count
                members.append([tuple])
            }
        }
        return try members.map { group in
            (try inputs.indices.map { try combined(inputs[$0], group, at: places[$0]) }, group[0].store)
        }
    }

    private func combined(_ input: Input, _ group: [Tuple], at place: Int) throws -> Operand {
        func parts(_ offset: Int = 0) -> [Operand] { Self.operands(group.map { $0.values[place + offset] }) }
        guard case .aggregate(let function, _) = input else { return .value(group[0].values[place]) }
        switch function {
        case .sum, .count: return try Aggregates.sum(parts())
        case .min, .max:
            return try function == .min ? Aggregates.minimum(parts()) : Aggregates.maximum(parts())
        default:
            guard case .value(let sum) = try Aggregates.sum(parts()),
                case .value(.integer(let count)) = try Aggregates.sum(parts(1)), count > 0
            else { return .null }
            if case .decimal(let sum) = sum { return .value(.decimal(sum / Decimal(count))) }
            return .value(.double((Numbers.double(sum) ?? 0) / Double(count)))
        }
    }

    // MARK: Asking

    /// The expression with what stores are asked for in variables.
    private mutating func source(
        of expression: ExpressionNode, _ columns: [String: ExpressionNode], _ owner: String
    ) throws -> ExpressionNode {
        try expression.mapOutermost { try replacement(of: $0, columns, owner) }
    }

    /// Returns the replacement of a part of an expression; `nil` if its own parts must be examined.
    private mutating func replacement(
        of part: ExpressionNode, _ columns: [String: ExpressionNode], _ owner: String
    ) throws -> ExpressionNode? {
        if !isGrouped || groups.contains(part) { return place(of: .value(part)) }
        if let (function, argument) = Self.aggregate(part, isToMany) {
            // Keys of two stores have no order.
            guard [.sum, .count, .min, .max, .average].contains(function), function == .count || argument.isValue
            else { throw Self.inexact(part) }
            return place(of: .aggregate(function, argument))
        }
        switch part {
        case .variable(let name): if let column = columns[name] { return column }
        case .keyPath(.evaluatedObject, let keys) where keys.count == 1:
            if let column = columns[keys[0]] { return column }
        case .keyPath(.evaluatedObject, _), .evaluatedObject, .subquery: break
        default: return nil
        }
        throw CoreDataErrors.invalidRequest(
            "\(owner) is neither grouped nor an aggregate: add \(part.predicateFormat) to propertiesToGroupBy, or take its "
                + "sum:, min:, max: or count:.")
    }

    /// The variable that has the input's value.
    private mutating func place(of input: Input) -> ExpressionNode {
        if let known = inputs.firstIndex(of: input) { return .variable(String(known)) }
        places.append(asked.count)
        inputs.append(input)
        let name = "part \(asked.count)"
        switch input {
        case .value(let expression): asked.append(FetchColumn(name: name, expression: expression))
        case .aggregate(.average, let argument):
            for (suffix, function) in [("", PredicateFunction.sum), (" count", .count)] {
                asked.append(
                    FetchColumn(name: name + suffix, expression: .function(function.rawValue, [argument])))
            }
        case .aggregate(let function, let argument):
            asked.append(FetchColumn(name: name, expression: .function(function.rawValue, [argument])))
        }
        return .variable(String(inputs.count - 1))
    }

    /// The function of a column's values over many rows, if it is one: `sum:(price)`, `@sum.price`.
    private static func aggregate(
        _ expression: ExpressionNode, _ isToMany: IsToMany
    ) -> (PredicateFunction, ExpressionNode)? {
        switch expression {
        case .function(let name, let arguments) where arguments.count == 1:
            guard let function = PredicateFunction(spelled: name), function.isOfMany else { return nil }
            var isOfMembers = false
            _ = arguments[0].mapOutermost { part in
                switch part {
                // One value of each row: sum:(count:(books)).
                case .function(let inner, let members)
                where members.count == 1
                    && PredicateFunction(spelled: inner).map { $0.isOfMany && $0 != .distinct } == true:
                    return part
                case .keyPath(_, let keys) where isToMany(keys) || keys.contains { $0.hasPrefix("@") }:
                    isOfMembers = true
                case .subquery, .aggregate: isOfMembers = true
                default: break
                }
                return isOfMembers ? part : nil
            }
            return isOfMembers ? nil : (function, arguments[0])
        case .keyPath(.evaluatedObject, let keys) where keys[0].hasPrefix("@"):
            guard let function = operators[keys[0]], !isToMany(Array(keys.dropFirst())) else { return nil }
            let rest = Array(keys.dropFirst())
            return (function, rest.isEmpty ? .evaluatedObject : .keyPath(operand: .evaluatedObject, rest))
        default: return nil
        }
    }

    private static let operators: [String: PredicateFunction] = [
        "@sum": .sum, "@count": .count, "@min": .min, "@max": .max, "@avg": .average,
    ]

    private static func inexact(_ part: ExpressionNode) -> any Error {
        CoreDataErrors.invalidRequest(
            "\(part.predicateFormat) cannot be made of the answers of several stores: ask each with affectedStores, or take "
                + "sum:, min:, max:, count: or average:.")
    }
}

extension ExpressionNode {
    /// Whether it is no object.
    fileprivate var isValue: Bool {
        switch self {
        case .evaluatedObject: false
        case .keyPath(_, let keys): !["objectID", "self", "SELF"].contains(keys.last)
        default: true
        }
    }
}

extension PredicateFunction {
    /// Whether it makes one value of many.
    fileprivate var isOfMany: Bool {
        switch self {
        case .sum, .count, .min, .max, .average, .median, .mode, .standardDeviation, .distinct: true
        default: false
        }
    }
}
