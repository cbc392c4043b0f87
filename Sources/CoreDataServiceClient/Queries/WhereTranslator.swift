import CoreData
import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Translates predicates into the language of the service: constants become arguments, objects become IDs.
///
///     day > CAST(725846400, "NSDate") AND unit == <object>    →    day > $v1 AND unit == $v2
///
/// The service evaluates a part of the language. ``split(_:)`` returns the parts of a conjunction that it cannot
/// evaluate, each with its reason; memory evaluates these.
struct WhereTranslator {
    let model: ServiceModel
    let entity: ServiceEntity
    /// The ID of an object in the service; `nil` for an object that has not been saved, or is of another store.
    let reference: (any PredicateObject) -> UUID?

    /// The result: the part for the service, and the part for memory.
    struct Split {
        var clause: WhereClause?
        var rest: PredicateNode?
        /// The reasons why the service does not evaluate the rest.
        var reasons: [String] = []
    }

    func split(_ predicate: PredicateNode) -> Split {
        var texts: [PredicateNode] = []
        var arguments: [WhereClause.Argument] = []
        var split = Split()
        var rest: [PredicateNode] = []
        for part in Self.conjuncts(predicate) {
            var translation = WhereTranslation(translator: self, nextArgument: arguments.count + 1)
            do throws(Unsupported) {
                let node = try translation.predicate(part, .init(entity: entity), depth: 1)
                let clause = WhereClause(
                    text: PredicateNode.and(texts + [node]).predicateFormat,
                    arguments: arguments + translation.arguments)
                guard clause.fits else { throw Unsupported("it is longer than a request may be") }
                texts.append(node)
                arguments = clause.arguments
                split.clause = clause
            } catch {
                rest.append(part)
                split.reasons.append("\(part.predicateFormat.prefix(200)): \(error.words)")
            }
        }
        if !rest.isEmpty { split.rest = rest.count == 1 ? rest[0] : .and(rest) }
        return split
    }

    private static func conjuncts(_ node: PredicateNode) -> [PredicateNode] {
        switch node {
        case .and(let nodes): nodes.flatMap(conjuncts)
        case .constant(true): []
        default: [node]
        }
    }

    /// A part of a predicate that the service does not evaluate.
    struct Unsupported: Error {
        let words: String

        init(_ words: String) { self.words = words }
    }
}

/// The translation of one predicate.
struct WhereTranslation {
    typealias Unsupported = WhereTranslator.Unsupported

    let translator: WhereTranslator
    var nextArgument: Int
    var arguments: [WhereClause.Argument] = []
    private var nodes = 0
    private var collections = 0

    init(translator: WhereTranslator, nextArgument: Int) {
        self.translator = translator
        self.nextArgument = nextArgument
    }

    struct Scope {
        var entity: ServiceEntity
        var variables: [String: ServiceEntity] = [:]
        var subqueries = 0
    }

    /// What an expression is.
    enum Kind {
        case attribute(AttributeForm)
        case object
        case objects(ServiceEntity)
        case number
        case constant(Constant)
        case constants([Constant])
    }

    struct Typed {
        var node: ExpressionNode
        var kind: Kind
        /// Whether a key path passes several objects.
        var isMany = false

        var isConstant: Bool {
            switch kind {
            case .constant, .constants: true
            default: false
            }
        }
    }

    private mutating func enter(_ depth: Int) throws(Unsupported) {
        nodes += 1
        guard depth <= 14, nodes <= 500 else { throw Unsupported("it is more complex than the service allows") }
    }

    // MARK: Predicates

    mutating func predicate(_ node: PredicateNode, _ scope: Scope, depth: Int) throws(Unsupported) -> PredicateNode {
        try enter(depth)
        switch node {
        case .constant: return node
        case .and(let parts): return .and(try predicates(parts, scope, depth))
        case .or(let parts): return .or(try predicates(parts, scope, depth))
        case .not(let part): return .not(try predicate(part, scope, depth: depth + 1))
        case .comparison(let comparison): return try compare(comparison, scope, depth)
        case .block: throw Unsupported("it contains code")
        }
    }

    private mutating func predicates(
        _ nodes: [PredicateNode], _ scope: Scope, _ depth: Int
    ) throws(Unsupported) -> [PredicateNode] {
        var result: [PredicateNode] = []
        for node in nodes { result.append(try predicate(node, scope, depth: depth + 1)) }
        return result
    }

    private mutating func compare(
        _ comparison: PredicateNode.Comparison, _ scope: Scope, _ depth: Int
    ) throws(Unsupported) -> PredicateNode {
        switch comparison.comparator {
        case .matches, .customSelector:
            throw Unsupported("the service does not know \(comparison.comparator.spelling)")
        default: break
        }
        guard !comparison.options.contains(.localeSensitive) else {
            throw Unsupported("the service does not know the option [l]")
        }
        let left = try expression(comparison.left, scope, depth + 1)
        let right = try expression(comparison.right, scope, depth + 1)
        guard !(left.isConstant && right.isConstant) else { throw Unsupported("it compares constants") }
        if left.isMany || right.isMany, comparison.modifier == .direct,
            comparison.comparator != .contains, comparison.comparator != .in
        {
            throw Unsupported("several values are compared without ANY or ALL")
        }
        // `IN {}` is never true, as in a store; a list without values cannot be sent.
        if comparison.comparator == .in, case .constants(let values) = right.kind, values.isEmpty,
            comparison.modifier == .direct
        {
            return .constant(false)
        }
        var result = comparison
        result.left = left.isConstant ? try argument(left, as: right, comparison) : left.node
        result.right = right.isConstant ? try argument(right, as: left, comparison) : right.node
        return .comparison(result)
    }

    // MARK: Expressions

    private mutating func expression(
        _ node: ExpressionNode, _ scope: Scope, _ depth: Int
    ) throws(Unsupported) -> Typed {
        try enter(depth)
        switch node {
        case .constant(.collection(let members, _)): return Typed(node: node, kind: .constants(members))
        case .constant(let constant): return Typed(node: node, kind: .constant(constant))
        case .evaluatedObject: return Typed(node: node, kind: .object)
        case .aggregate(let elements):
            var constants: [Constant] = []
            for element in elements {
                guard case .constant(let constant) = element else {
                    throw Unsupported("a list contains something else than constants")
                }
                constants.append(constant)
            }
            return Typed(node: node, kind: .constants(constants))
        case .variable(let name):
            guard scope.variables[name] != nil else { throw Unsupported("$\(name) has no value") }
            return Typed(node: node, kind: .object)
        case .keyPath(let operand, let keys): return try keyPath(operand, keys, scope, depth)
        case .function(let name, let parts): return try function(name, parts, scope, depth)
        case .subquery(let collection, let variable, let predicate):
            let members = try expression(collection, scope, depth + 1)
            guard case .objects(let entity) = members.kind, scope.subqueries < 2 else {
                throw Unsupported("a SUBQUERY searches one relationship to many objects, at most two within each other")
            }
            guard variable.wholeMatch(of: /v\d+/) == nil else {
                throw Unsupported("$\(variable) is the name of an argument: use another variable")
            }
            var inner = scope
            inner.subqueries += 1
            inner.variables[variable] = entity
            let node = try self.predicate(predicate, inner, depth: depth + 1)
            return Typed(node: .subquery(members.node, variable: variable, node), kind: .objects(entity))
        default: throw Unsupported("the service does not know \(node.predicateFormat.prefix(80))")
        }
    }

    private mutating func keyPath(
        _ operand: ExpressionNode, _ keys: [String], _ scope: Scope, _ depth: Int
    ) throws(Unsupported) -> Typed {
        switch operand {
        case .evaluatedObject: return try path(operand, keys, of: scope.entity)
        case .variable(let name):
            guard let entity = scope.variables[name] else { throw Unsupported("$\(name) has no value") }
            return try path(operand, keys, of: entity)
        case .subquery where keys == ["@count"]:
            let inner = try expression(operand, scope, depth + 1)
            return Typed(node: .keyPath(operand: inner.node, keys), kind: .number)
        default: throw Unsupported("the service does not know \(operand.predicateFormat.prefix(80)) before a key path")
        }
    }

    private mutating func path(
        _ operand: ExpressionNode, _ keys: [String], of entity: ServiceEntity
    ) throws(Unsupported) -> Typed {
        let resolved: ServiceKeyPath
        do throws(ServiceKeyPath.Mistake) {
            resolved = try ServiceKeyPath(keys, of: entity, in: translator.model)
        } catch {
            throw Unsupported(error.words)
        }
        collections += resolved.collections
        guard collections <= 6 else { throw Unsupported("it passes more than six relationships to many objects") }
        let node = ExpressionNode.keyPath(operand: operand, resolved.keys)
        switch resolved.end {
        case .attribute(let form): return Typed(node: node, kind: .attribute(form), isMany: resolved.collections > 0)
        case .object: return Typed(node: node, kind: .object)
        case .objects(let entity): return Typed(node: node, kind: .objects(entity), isMany: true)
        case .number: return Typed(node: node, kind: .number)
        }
    }

    private static let functions: Set<String> = [
        "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "abs:", "ceiling:", "floor:",
        "trunc:", "uppercase:", "lowercase:", "canonical:", "length:", "now",
    ]

    private mutating func function(
        _ name: String, _ parts: [ExpressionNode], _ scope: Scope, _ depth: Int
    ) throws(Unsupported) -> Typed {
        guard Self.functions.contains(name) else {
            throw Unsupported("the service does not know the function \(name.split(separator: ":").first ?? "")")
        }
        var nodes: [ExpressionNode] = []
        for part in parts {
            let typed = try expression(part, scope, depth + 1)
            guard !typed.isMany else { throw Unsupported("a function takes one value") }
            switch typed.kind {
            case .attribute(let form):
                if case .composite = form { throw Unsupported("a function takes no composite") }
                if case .largeBytes = form { throw Unsupported("a function takes no large value") }
                nodes.append(typed.node)
            case .number: nodes.append(typed.node)
            case .constant(.value(let value)):
                guard let literal = Self.literal(value) else {
                    throw Unsupported("a function takes numbers and key paths")
                }
                nodes.append(literal)
            default: throw Unsupported("a function takes numbers and key paths")
            }
        }
        let kind: Kind =
            switch name {
            case "uppercase:", "lowercase:", "canonical:": .attribute(.string)
            case "now": .attribute(.date)
            default: .number
            }
        return Typed(node: .function(name, nodes), kind: kind)
    }

    /// A number that prints as one.
    static func literal(_ value: Value) -> ExpressionNode? {
        switch value {
        case .integer: return .constant(.value(value))
        case .double(let number): return number.isFinite ? .constant(.value(value)) : nil
        case .decimal(let number):
            let double = NSDecimalNumber(decimal: number).doubleValue
            return double.isFinite && Decimal(string: "\(double)", locale: nil) == number
                ? .constant(.value(.double(double))) : nil
        default: return nil
        }
    }
}
