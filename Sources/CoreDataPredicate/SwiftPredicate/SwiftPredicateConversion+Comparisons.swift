import CoreDataPrimitives
import Foundation

// Converts comparisons of Swift's predicates so that a store can use its indexes for them.
extension SwiftPredicateConversion {
    /// Converts a comparison. The replacement value of `??` is compared during the conversion, so that the property
    /// itself is compared:
    ///
    ///     ($0.title ?? "") == "x"     // title == "x"
    ///     ($0.title ?? "") < "x"      // title < "x" OR title == nil
    ///
    /// As in Swift, NaN is neither equal to, less than nor greater than any number.
    package func comparison(
        _ left: ExpressionNode, _ comparator: PredicateNode.Comparator, _ right: ExpressionNode,
        _ options: TextOptions = []
    ) -> PredicateNode {
        if left.isNaN || right.isNaN { return .constant(comparator == .notEqualTo) }
        if let (value, fallback) = left.coalesced, case .constant = right {
            return split(value, fallback) { .init($0, comparator, right, options: options) }
        }
        if let (value, fallback) = right.coalesced, case .constant = left {
            return split(value, fallback) { .init(left, comparator, $0, options: options) }
        }
        return .comparison(.init(left, comparator, right, options: options))
    }

    /// Splits the comparison: of the value, or of a constant if the value is nil.
    private func split(
        _ value: ExpressionNode, _ fallback: ExpressionNode,
        _ comparison: (ExpressionNode) -> PredicateNode.Comparison
    ) -> PredicateNode {
        let present = PredicateNode.comparison(comparison(value))
        guard let holds = try? PredicateEvaluator(.comparison(comparison(fallback))).evaluate(.null) else {
            return .comparison(comparison(.coalescing(value, fallback)))
        }
        let whenNil = try? PredicateEvaluator(.comparison(comparison(.null))).evaluate(.null)
        if whenNil == holds { return present }
        return holds ? .any([present, value.isNil]) : .all([present, value.isPresent])
    }

    // MARK: Equality

    func equality(_ left: Part, _ right: Part) -> PredicateNode {
        if let result = truthEquality(left, right) ?? truthEquality(right, left) { return result }
        if let result = orderEquality(left, right) ?? orderEquality(right, left) { return result }
        return comparison(node(of: left), .equalTo, node(of: right))
    }

    func inequality(_ left: Part, _ right: Part) -> PredicateNode {
        if case .expression(let left) = left, case .expression(let right) = right {
            return comparison(left, .notEqualTo, right)
        }
        return .negation(equality(left, right))
    }

    /// Converts a test compared with a constant: `title?.starts(with: "x") == true`.
    private func truthEquality(_ test: Part, _ other: Part) -> PredicateNode? {
        guard let constant = Self.truth(other) else { return nil }
        switch (test, constant) {
        case (.predicate(let predicate), .some(let value)): return value ? predicate : .negation(predicate)
        case (.predicate, nil): return .constant(false)
        case (.optionalPredicate(let presence, let predicate), .some(let value)):
            return .all([presence, value ? predicate : .negation(predicate)])
        case (.optionalPredicate(let presence, _), nil): return .negation(presence)
        case (.expression, _), (.ordering, _): return nil
        }
    }

    /// Returns the truth value, or nil, of a constant part; nothing for a part that depends on the object.
    private static func truth(_ part: Part) -> Bool?? {
        switch part {
        case .expression(.constant(.value(.integer(let value)))): .some(.some(value != 0))
        case .expression(.constant(.value(.null))): .some(.none)
        case .predicate(.constant(let value)): .some(.some(value))
        case .expression, .predicate, .optionalPredicate, .ordering: .none
        }
    }

    /// Converts the result of a text's comparison method, compared with `.orderedSame` and similar values.
    private func orderEquality(_ order: Part, _ other: Part) -> PredicateNode? {
        guard case .ordering(let left, let right, let options) = order,
            case .expression(.constant(.value(.integer(let result)))) = other
        else { return nil }
        let comparator: PredicateNode.Comparator = result == 0 ? .equalTo : result < 0 ? .lessThan : .greaterThan
        return comparison(left, comparator, right, options)
    }

    // MARK: Text

    /// Converts "contains" and "starts with". In Swift, every text contains the empty text; in the predicate language,
    /// none does.
    func textTest(
        _ text: ExpressionNode, _ comparator: PredicateNode.Comparator, _ part: ExpressionNode
    ) -> PredicateNode {
        let test = comparison(text, comparator, part)
        guard case .constant(let constant) = part else {
            return .any([test, comparison(part, .equalTo, .constant(.value(.string(""))))])
        }
        if case .value(.string("")) = constant { return .constant(true) }
        return test
    }

    // MARK: Ranges

    /// Returns whether a value is within bounds; a `nil` bound does not limit.
    func range(
        _ element: ExpressionNode, from lower: ExpressionNode?, to upper: ExpressionNode?, isClosed: Bool
    ) -> PredicateNode {
        if let lower, let upper, isClosed, element.coalesced == nil, !element.isNaN, !lower.isNaN, !upper.isNaN {
            return .comparison(.init(element, .between, .aggregate([lower, upper])))
        }
        let low = lower.map { comparison(element, .greaterThanOrEqualTo, $0) }
        let high = upper.map { comparison(element, isClosed ? .lessThanOrEqualTo : .lessThan, $0) }
        return .all([low, high].compactMap { $0 })
    }

    // MARK: Optionals

    /// Returns the transformed value of an optional; nil if the optional is nil.
    func flatMap(
        _ wrapped: any PredicateExpression, _ id: PredicateExpressions.VariableID,
        _ transform: any PredicateExpression
    ) throws(Failure) -> Part {
        let value = try expression(wrapped)
        switch try binding(id, to: value, { () throws(Failure) in try part(transform) }) {
        case .predicate(let predicate):
            return .optionalPredicate(value.isPresent, predicate)
        case .optionalPredicate(let presence, let predicate):
            return .optionalPredicate(.all([value.isPresent, presence]), predicate)
        case .expression(let result):
            if result.isNil(whereNil: value) { return .expression(result) }
            return .expression(.conditional(value.isPresent, result, .null))
        case .ordering(let left, let right, let options):
            return .expression(.conditional(value.isPresent, node(of: .ordering(left, right, options)), .null))
        }
    }

    /// Converts `a ?? b`.
    func coalesce(_ lhs: any PredicateExpression, _ rhs: any PredicateExpression) throws(Failure) -> Part {
        let left = try part(lhs)
        guard case .optionalPredicate(let presence, let predicate) = left else {
            let value = node(of: left)
            if case .constant(let constant) = value {
                if case .value(.null) = constant { return try part(rhs) }
                return left
            }
            return .expression(.coalescing(value, try expression(rhs)))
        }
        let other = try self.predicate(rhs)
        return .predicate(
            .any([.all([presence, predicate]), .all([.negation(presence), other])]))
    }

    // MARK: Casts

    /// Returns the object if it belongs to one of the class's entities, else nil.
    func cast<Desired>(
        _ input: any PredicateExpression, to desired: Desired.Type, isUpcast: Bool
    ) throws(Failure) -> Part {
        if isUpcast { return try part(input) }
        let object = try expression(input)
        let isKind = try isKind(object, of: desired, given: type(of: input).outputType)
        return .expression(.conditional(isKind, object, .null))
    }

    // MARK: Dictionaries

    /// Returns the captured dictionary's value for the key.
    func entry(
        of dictionary: any PredicateExpression, _ key: any PredicateExpression, otherwise: ExpressionNode
    ) throws(Failure) -> ExpressionNode {
        guard case .constant(.dictionary(let entries)) = try expression(dictionary) else {
            throw Failure(reason: "only entries of a captured dictionary have an equivalent in a predicate's format")
        }
        guard entries.count <= Self.mostEntries else {
            throw Failure(reason: "a dictionary of \(entries.count) entries is too long for a store")
        }
        let key = try expression(key)
        var result = otherwise
        for entry in entries {
            let isIt = PredicateNode.comparison(.init(key, .equalTo, .constant(entry.key)))
            if case .constant = key {
                if (try? PredicateEvaluator(isIt).evaluate(.null)) == true { return .constant(entry.value) }
            } else {
                result = .conditional(isIt, .constant(entry.value), result)
            }
        }
        return result
    }

    /// More entries would nest too deep for databases.
    private static let mostEntries = 100
}

extension PredicateExpression {
    fileprivate static var outputType: Any.Type { Output.self }
}

extension ExpressionNode {
    fileprivate var isNil: PredicateNode { .comparison(.init(self, .equalTo, .null)) }
    fileprivate var isPresent: PredicateNode { .comparison(.init(self, .notEqualTo, .null)) }

    fileprivate var isNaN: Bool {
        if case .constant(.value(.double(let number))) = self { return number.isNaN }
        return false
    }

    /// Returns `a ?? b` as `TERNARY(a != nil, a, b)`.
    fileprivate static func coalescing(_ value: ExpressionNode, _ fallback: ExpressionNode) -> ExpressionNode {
        .conditional(value.isPresent, value, fallback)
    }

    /// The parts of `a ?? b` if b is a constant.
    fileprivate var coalesced: (value: ExpressionNode, fallback: ExpressionNode)? {
        guard case .conditional(.comparison(let test), let value, let fallback) = self, case .constant = fallback,
            test == .init(value, .notEqualTo, .null)
        else { return nil }
        return (value, fallback)
    }

    /// Returns whether the expression is nil for every object for which the value is nil.
    fileprivate func isNil(whereNil value: ExpressionNode) -> Bool {
        if self == value { return true }
        switch self {
        case .keyPath(let operand, let keys):
            // Collection operators on nil return a value.
            if operand.isNil(whereNil: value) { return !keys.contains { $0.hasPrefix("@") } }
            guard case .keyPath(let start, let first) = value, start == operand, keys.starts(with: first) else {
                return false
            }
            return !keys.dropFirst(first.count).contains { $0.hasPrefix("@") }
        case .function(let name, let arguments):
            switch PredicateFunction(rawValue: name) {
            case .add, .subtract, .multiply, .divide, .modulus, .characters, .length:
                return arguments.contains { $0.isNil(whereNil: value) }
            default: return false
            }
        case .constant(.value(.null)): return true
        case .conditional(_, let first, let second):
            return first.isNil(whereNil: value) && second.isNil(whereNil: value)
        default: return false
        }
    }
}

extension PredicateNode {
    /// Returns the flat conjunction, as the parser makes it. True parts are removed; one false part makes it false.
    static func all(_ parts: [PredicateNode]) -> PredicateNode {
        var flat: [PredicateNode] = []
        for part in parts {
            switch part {
            case .constant(true): break
            case .constant(false): return part
            case .and(let inner): flat += inner
            default: flat.append(part)
            }
        }
        // A part that is false for nil needs no separate test.
        let needed = flat.filter { part in
            guard case .comparison(let test) = part, test.comparator == .notEqualTo, test.right == .null else {
                return true
            }
            return !flat.contains { $0 != part && $0.isFalse(whereNil: test.left) }
        }
        return needed.count == 1 ? needed[0] : needed.isEmpty ? .constant(true) : .and(needed)
    }

    /// Returns the flat disjunction. False parts are removed; one true part makes it true.
    static func any(_ parts: [PredicateNode]) -> PredicateNode {
        var flat: [PredicateNode] = []
        for part in parts {
            switch part {
            case .constant(false): break
            case .constant(true): return part
            case .or(let inner): flat += inner
            default: flat.append(part)
            }
        }
        return flat.count == 1 ? flat[0] : flat.isEmpty ? .constant(false) : .or(flat)
    }

    static func negation(_ part: PredicateNode) -> PredicateNode {
        if case .constant(let value) = part { return .constant(!value) }
        return .not(part)
    }

    /// Returns whether the predicate is false for every object for which the value is nil.
    fileprivate func isFalse(whereNil value: ExpressionNode) -> Bool {
        switch self {
        case .constant(let holds): return !holds
        case .and(let parts): return parts.contains { $0.isFalse(whereNil: value) }
        case .or(let parts): return parts.allSatisfy { $0.isFalse(whereNil: value) }
        case .comparison(let test):
            guard test.modifier == .direct else { return false }
            let left = test.left.isNil(whereNil: value)
            let right = test.right.isNil(whereNil: value)
            switch test.comparator {
            case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .beginsWith, .endsWith, .like,
                .matches, .contains:
                return left || right
            case .in, .between: return left
            case .equalTo: return left && test.right.isSomething || right && test.left.isSomething
            case .notEqualTo: return left && test.right == .null
            case .customSelector: return false
            }
        case .not, .block: return false
        }
    }
}

extension ExpressionNode {
    /// Whether the expression is a constant other than nil.
    fileprivate var isSomething: Bool {
        if case .constant = self { return self != .null }
        return false
    }
}
