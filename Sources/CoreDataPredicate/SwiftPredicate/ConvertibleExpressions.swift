import CoreDataPrimitives
import Foundation

// The conversion of each kind of expression in Swift's predicates.

/// Returns the expression if the language has an equivalent for its kind.
///
/// The function must be in this file: a linker takes an object file of a static library only if code refers to it.
/// Without the conformances in this file, no Swift predicate could be converted.
@inline(never)
func convertible(_ expression: any PredicateExpression) -> (any ConvertibleExpression)? {
    expression as? any ConvertibleExpression
}

// MARK: Values and properties

extension PredicateExpressions.Value: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.constant(value))
    }
}

extension PredicateExpressions.NilLiteral: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.constant(.value(.null)))
    }
}

extension PredicateExpressions.Variable: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.variable(key))
    }
}

extension PredicateExpressions.KeyPath: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        // For a captured object, use its current value.
        if let captured = root as? any CapturedValue, let owner = captured.captured as? Root.Output {
            return .expression(try conversion.constant(owner[keyPath: keyPath]))
        }
        let owner = try conversion.expression(root)
        if let collection = Root.Output.self as? any CountedCollection.Type {
            if collection.countPaths.contains(keyPath) { return .expression(owner.appending("@count")) }
            if collection.isEmptyPaths.contains(keyPath) { return .predicate(owner.counted(.equalTo, 0)) }
        }
        if Root.Output.self == String.self {
            if keyPath == \String.isEmpty {
                return .predicate(conversion.comparison(owner, .equalTo, .constant(.value(.string("")))))
            }
            if keyPath == \String.count {
                return .expression(.function(PredicateFunction.characters.rawValue, [owner]))
            }
        }
        let keys = try conversion.key(keyPath).split(separator: ".")
        return .expression(keys.reduce(owner) { $0.appending(String($1)) })
    }
}

/// A value captured from outside the predicate.
private protocol CapturedValue {
    var captured: Any { get }
}

extension PredicateExpressions.Value: CapturedValue {
    fileprivate var captured: Any { value }
}

/// A collection whose `count` has key paths.
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
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        try conversion.flatMap(wrapped, variable.key, transform)
    }
}

extension PredicateExpressions.ForcedUnwrap: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let part = try conversion.part(inner)
        if case .optionalPredicate(let presence, let predicate) = part {
            return .predicate(.all([presence, predicate]))
        }
        return part
    }
}

extension PredicateExpressions.NilCoalesce: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        try conversion.coalesce(lhs, rhs)
    }
}

// MARK: Classes

extension PredicateExpressions.ForceCast: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        try conversion.cast(input, to: Desired.self, isUpcast: Input.Output.self is Desired.Type)
    }
}

extension PredicateExpressions.ConditionalCast: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        try conversion.cast(input, to: Desired.self, isUpcast: Input.Output.self is Desired.Type)
    }
}

extension PredicateExpressions.TypeCheck: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        if Input.Output.self is Desired.Type { return .predicate(.constant(true)) }
        return .predicate(
            try conversion.isKind(conversion.expression(input), of: Desired.self, given: Input.Output.self))
    }
}

// MARK: Truth

extension PredicateExpressions.Conjunction: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        // Convert a chain to one compound, as the parser does.
        .predicate(.all([try conversion.predicate(lhs), try conversion.predicate(rhs)]))
    }
}

extension PredicateExpressions.Disjunction: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(.any([try conversion.predicate(lhs), try conversion.predicate(rhs)]))
    }
}

extension PredicateExpressions.Negation: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(.negation(try conversion.predicate(wrapped)))
    }
}

extension PredicateExpressions.Conditional: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let test = try conversion.predicate(test)
        if case .constant(let holds) = test { return try conversion.part(holds ? trueBranch : falseBranch) }
        return .expression(
            .conditional(test, try conversion.expression(trueBranch), try conversion.expression(falseBranch)))
    }
}

// MARK: Comparisons

extension PredicateExpressions.Equal: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(conversion.equality(try conversion.part(lhs), try conversion.part(rhs)))
    }
}

extension PredicateExpressions.NotEqual: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .predicate(conversion.inequality(try conversion.part(lhs), try conversion.part(rhs)))
    }
}

extension PredicateExpressions.Comparison: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
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
            conversion.comparison(try conversion.expression(lhs), comparator, try conversion.expression(rhs)))
    }
}

extension PredicateExpressions.ClosedRange: ConvertibleExpression {
    /// Returns the bounds for BETWEEN.
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.aggregate([try conversion.expression(lower), try conversion.expression(upper)]))
    }
}

extension PredicateExpressions.RangeExpressionContains: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let element = try conversion.expression(element)
        let captured = (range as? any CapturedValue)?.captured
        if let found = try conversion.isIn(range, captured: captured, element) { return .predicate(found) }
        guard case .aggregate(let bounds) = try conversion.expression(range), bounds.count == 2 else {
            throw Conversion.Failure(reason: "\(type(of: range)) has no equivalent in a predicate's format")
        }
        return .predicate(conversion.range(element, from: bounds[0], to: bounds[1], isClosed: true))
    }
}

// MARK: Collections

extension PredicateExpressions.SequenceContains: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let element = try conversion.expression(element)
        let sequence = try conversion.expression(sequence)
        // In Swift, nil is an ordinary member; IN never finds it.
        guard case .constant(.collection(let members, let isOrdered)) = sequence,
            members.contains(where: \.isNil)
        else { return .predicate(conversion.comparison(element, .in, sequence)) }
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
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        if let tests = try conversion.tests(ofMembers: sequence, variable.key, test) { return .predicate(.any(tests)) }
        return .predicate(try conversion.members(sequence, variable.key, test).counted(.greaterThan, 0))
    }
}

extension PredicateExpressions.SequenceAllSatisfy: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        if let tests = try conversion.tests(ofMembers: sequence, variable.key, test) { return .predicate(.all(tests)) }
        return .predicate(try conversion.members(sequence, variable.key, test, negated: true).counted(.equalTo, 0))
    }
}

extension PredicateExpressions.Filter: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.members(sequence, variable.key, filter))
    }
}

extension PredicateExpressions.SequenceMinimum: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function(PredicateFunction.min.rawValue, [try conversion.expression(elements)]))
    }
}

extension PredicateExpressions.SequenceMaximum: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function(PredicateFunction.max.rawValue, [try conversion.expression(elements)]))
    }
}

extension PredicateExpressions.CollectionIndexSubscript: ConvertibleExpression {
    /// Converts a subscript of a captured array.
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        guard case .constant(.collection(let members, true)) = try conversion.expression(wrapped),
            case .constant(.value(.integer(let index))) = try conversion.expression(index)
        else {
            throw Conversion.Failure(reason: "a subscript has no equivalent in a predicate's format")
        }
        guard members.indices.contains(Int(index)) else {
            throw Conversion.Failure(reason: "there is no element \(index) in an array of \(members.count)")
        }
        return .expression(.constant(members[Int(index)]))
    }
}

extension PredicateExpressions.DictionaryKeySubscript: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.entry(of: wrapped, key, otherwise: .null))
    }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(try conversion.entry(of: wrapped, key, otherwise: conversion.expression(self.default)))
    }
}

// MARK: Other expressions

extension PredicateExpressions.ExpressionEvaluate: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        guard let value = Conversion.value(of: expression) as? Expression<repeat (each Input).Output, Output> else {
            throw Conversion.Failure(
                reason: "an expression that depends on the object has no equivalent in a predicate's format")
        }
        var bindings: [(PredicateExpressions.VariableID, ExpressionNode)] = []
        for (variable, input) in repeat (each value.variable, each input) {
            bindings.append((variable.key, try conversion.expression(input)))
        }
        return try conversion.binding(bindings[...]) { () throws(Conversion.Failure) in
            try conversion.part(value.expression)
        }
    }
}

// MARK: Text

extension PredicateExpressions.CollectionContainsCollection: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        guard Base.Output.self is any StringProtocol.Type else {
            throw Conversion.Failure(reason: "only texts contain parts in a predicate's format")
        }
        return .predicate(
            conversion.textTest(try conversion.expression(base), .contains, try conversion.expression(other)))
    }
}

extension PredicateExpressions.SequenceStartsWith: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        guard Base.Output.self is any StringProtocol.Type else {
            throw Conversion.Failure(reason: "only texts have beginnings in a predicate's format")
        }
        return .predicate(
            conversion.textTest(try conversion.expression(base), .beginsWith, try conversion.expression(prefix)))
    }
}

// MARK: Numbers

extension PredicateExpressions.Arithmetic: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
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
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function("divide:by:", [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.FloatDivision: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function("divide:by:", [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.IntRemainder: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        .expression(.function("modulus:by:", [try conversion.expression(lhs), try conversion.expression(rhs)]))
    }
}

extension PredicateExpressions.UnaryMinus: ConvertibleExpression {
    package func part(in conversion: Conversion) throws(Conversion.Failure) -> Conversion.Part {
        let zero = ExpressionNode.constant(.value(.integer(0)))
        return .expression(.function("from:subtract:", [zero, try conversion.expression(wrapped)]))
    }
}
