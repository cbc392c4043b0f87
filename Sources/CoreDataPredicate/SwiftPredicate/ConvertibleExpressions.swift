import CoreDataPrimitives
import Foundation

// What each kind of expression of Swift's predicates is in the language.

/// The expression, if the language has an equivalent for its kind.
///
/// In this file, since nothing else in it is called by name: a linker takes a file out of a static library only where somebody
/// refers to it, and without these conformances no predicate of Swift's could be converted.
@inline(never)
func convertible(_ expression: any PredicateExpression) -> (any ConvertibleExpression)? {
    expression as? any ConvertibleExpression
}

// MARK: Values and properties

extension PredicateExpressions.Value: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.constant(value))
    }
}

extension PredicateExpressions.NilLiteral: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.constant(.value(.null)))
    }
}

extension PredicateExpressions.Variable: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.variable(key))
    }
}

extension PredicateExpressions.KeyPath: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let owner = try conversion.expression(root)
        if let collection = Root.Output.self as? any CountedCollection.Type {
            if collection.countPaths.contains(keyPath) { return .expression(owner.appending("@count")) }
            if collection.isEmptyPaths.contains(keyPath) { return .predicate(owner.counted(.equalTo, 0)) }
        }
        if Root.Output.self == String.self, keyPath == \String.isEmpty {
            return .predicate(.comparison(.init(owner, .equalTo, .constant(.value(.string(""))))))
        }
        let keys = try conversion.key(keyPath).split(separator: ".")
        return .expression(keys.reduce(owner) { $0.appending(String($1)) })
    }
}

/// A collection whose size has key paths.
private protocol CountedCollection {
    static var countPaths: [AnyKeyPath] { get }
    static var isEmptyPaths: [AnyKeyPath] { get }
}

extension Set: CountedCollection {
    fileprivate static var countPaths: [AnyKeyPath] { [\Self.count] }
    fileprivate static var isEmptyPaths: [AnyKeyPath] { [\Self.isEmpty] }
}

extension Array: CountedCollection {
    fileprivate static var countPaths: [AnyKeyPath] { [\Self.count] }
    fileprivate static var isEmptyPaths: [AnyKeyPath] { [\Self.isEmpty] }
}

// MARK: Optionals

extension PredicateExpressions.OptionalFlatMap: ConvertibleExpression {
    /// A path through nil is nil.
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let wrapped = try conversion.expression(wrapped)
        return .expression(
            try conversion.binding(variable.key, to: wrapped) { () throws(Conversion.Failure) in
                try conversion.expression(transform)
            })
    }
}

extension PredicateExpressions.ForcedUnwrap: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.expression(inner))
    }
}

extension PredicateExpressions.ForceCast: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.expression(input))
    }
}

extension PredicateExpressions.NilCoalesce: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let value = try conversion.expression(lhs)
        let isPresent = PredicateNode.comparison(.init(value, .notEqualTo, .constant(.value(.null))))
        return .expression(.conditional(isPresent, value, try conversion.expression(rhs)))
    }
}

// MARK: Truth

extension PredicateExpressions.Conjunction: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let (left, right) = (try conversion.predicate(lhs), try conversion.predicate(rhs))
        // A chain is one compound, as the parser makes it.
        if case .and(let parts) = left { return .predicate(.and(parts + [right])) }
        return .predicate(.and([left, right]))
    }
}

extension PredicateExpressions.Disjunction: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let (left, right) = (try conversion.predicate(lhs), try conversion.predicate(rhs))
        if case .or(let parts) = left { return .predicate(.or(parts + [right])) }
        return .predicate(.or([left, right]))
    }
}

extension PredicateExpressions.Negation: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(.not(try conversion.predicate(wrapped)))
    }
}

extension PredicateExpressions.Conditional: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(
            .conditional(
                try conversion.predicate(test), try conversion.expression(trueBranch),
                try conversion.expression(falseBranch)))
    }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(.comparison(.init(try conversion.expression(lhs), .equalTo, try conversion.expression(rhs))))
    }
}

extension PredicateExpressions.NotEqual: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(.comparison(.init(try conversion.expression(lhs), .notEqualTo, try conversion.expression(rhs))))
    }
}

extension PredicateExpressions.Comparison: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let comparator: PredicateNode.Comparator =
            switch op {
            case .lessThan: .lessThan
            case .lessThanOrEqual: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqual: .greaterThanOrEqualTo
            @unknown default:
                throw Conversion.Failure(reason: "a comparison '\(op)' has no equivalent in a predicate's format")
            }
        return .predicate(
            .comparison(.init(try conversion.expression(lhs), comparator, try conversion.expression(rhs))))
    }
}

extension PredicateExpressions.ClosedRange: ConvertibleExpression {
    /// What BETWEEN takes.
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.aggregate([try conversion.expression(lower), try conversion.expression(upper)]))
    }
}

extension PredicateExpressions.RangeExpressionContains: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let element = try conversion.expression(element)
        let (lower, upper, isClosed): (ExpressionNode, ExpressionNode, Bool)
        if let value = range as? any RangeValue, let bounds = value.bounds {
            lower = try conversion.constant(bounds.lower)
            upper = try conversion.constant(bounds.upper)
            isClosed = bounds.isClosed
        } else if let open = range as? any OpenRange {
            (lower, upper) = try open.bounds(in: conversion)
            isClosed = false
        } else {
            guard case .aggregate(let bounds) = try conversion.expression(range), bounds.count == 2 else {
                throw Conversion.Failure(reason: "\(type(of: range)) has no equivalent in a predicate's format")
            }
            (lower, upper, isClosed) = (bounds[0], bounds[1], true)
        }
        guard !isClosed else {
            return .predicate(.comparison(.init(element, .between, .aggregate([lower, upper]))))
        }
        return .predicate(
            .and([
                .comparison(.init(element, .greaterThanOrEqualTo, lower)),
                .comparison(.init(element, .lessThan, upper)),
            ]))
    }
}

/// `lower..<upper`, each an expression.
private protocol OpenRange {
    typealias Conversion = SwiftPredicateConversion
    func bounds(in conversion: Conversion) throws(Conversion.Failure) -> (ExpressionNode, ExpressionNode)
}

extension PredicateExpressions.Range: OpenRange {
    fileprivate func bounds(in conversion: Conversion) throws(Conversion.Failure) -> (ExpressionNode, ExpressionNode) {
        (try conversion.expression(lower), try conversion.expression(upper))
    }
}

/// A range that was made outside of the predicate.
private protocol RangeValue {
    var bounds: (lower: Any, upper: Any, isClosed: Bool)? { get }
}

private protocol BoundedRange {
    var bounds: (lower: Any, upper: Any, isClosed: Bool) { get }
}

extension ClosedRange: BoundedRange {
    fileprivate var bounds: (lower: Any, upper: Any, isClosed: Bool) { (lowerBound, upperBound, true) }
}

extension Range: BoundedRange {
    fileprivate var bounds: (lower: Any, upper: Any, isClosed: Bool) { (lowerBound, upperBound, false) }
}

extension PredicateExpressions.Value: RangeValue {
    fileprivate var bounds: (lower: Any, upper: Any, isClosed: Bool)? { (value as? any BoundedRange)?.bounds }
}

// MARK: Collections

extension PredicateExpressions.SequenceContains: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let element = try conversion.expression(element)
        let sequence = try conversion.expression(sequence)
        // In Swift nil is a member like any other; IN never finds it.
        guard case .constant(.collection(let members, let isOrdered)) = sequence,
            members.contains(where: \.isNil)
        else { return .predicate(.comparison(.init(element, .in, sequence))) }
        let present = members.filter { !$0.isNil }
        return .predicate(
            .or([
                .comparison(.init(element, .in, .constant(.collection(present, isOrdered: isOrdered)))),
                .comparison(.init(element, .equalTo, .constant(.value(.null)))),
            ]))
    }
}

extension Constant {
    fileprivate var isNil: Bool { if case .value(.null) = self { true } else { false } }
}

extension PredicateExpressions.SequenceContainsWhere: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(try conversion.members(sequence, variable.key, test).counted(.greaterThan, 0))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(try conversion.members(sequence, variable.key, test, negated: true).counted(.equalTo, 0))
    }
}

extension PredicateExpressions.Filter: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.members(sequence, variable.key, filter))
    }
}

extension PredicateExpressions.SequenceMinimum: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function(PredicateFunction.min.rawValue, [try conversion.expression(elements)]))
    }
}

extension PredicateExpressions.SequenceMaximum: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function(PredicateFunction.max.rawValue, [try conversion.expression(elements)]))
    }
}

// MARK: Text

extension PredicateExpressions.CollectionContainsCollection: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        guard Base.Output.self == String.self else {
            throw Conversion.Failure(reason: "only texts contain parts in a predicate's format")
        }
        return .predicate(
            .comparison(.init(try conversion.expression(base), .contains, try conversion.expression(other))))
    }
}

extension PredicateExpressions.SequenceStartsWith: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        guard Base.Output.self == String.self else {
            throw Conversion.Failure(reason: "only texts have beginnings in a predicate's format")
        }
        return .predicate(
            .comparison(.init(try conversion.expression(base), .beginsWith, try conversion.expression(prefix))))
    }
}

// MARK: Numbers

extension PredicateExpressions.Arithmetic: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let function: PredicateFunction =
            switch op {
            case .add: .add
            case .subtract: .subtract
            case .multiply: .multiply
            @unknown default:
                throw Conversion.Failure(reason: "an operator '\(op)' has no equivalent in a predicate's format")
            }
        return .expression(
            .function(function.rawValue, [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.IntDivision: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function("divide:by:", [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.FloatDivision: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function("divide:by:", [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.IntRemainder: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function("modulus:by:", [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.UnaryMinus: ConvertibleExpression {
    func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let zero = ExpressionNode.constant(.value(.integer(0)))
        return .expression(.function("from:subtract:", [zero, try conversion.expression(wrapped)]))
    }
}
