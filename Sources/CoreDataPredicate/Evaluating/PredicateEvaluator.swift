import CoreDataPrimitives

/// A predicate prepared for evaluation on many objects.
///
/// The logic has two values, without SQL's "unknown":
/// - `nil == nil` is true, `nil != x` is true for every other x;
/// - `<`, `<=`, `>`, `>=`, `BETWEEN` and the text operators are false if a side is nil;
/// - nil is `IN` no collection, and no collection `CONTAINS` nil;
/// - `ANY` of an empty collection is false and `ALL` of one is true; a nil collection counts as empty, and a single
///   value as a collection of one;
/// - `NOT` and `!=` are the exact negations.
///
/// A comparison of a key with a constant allocates no memory. The constants of an `IN` are hashed once.
package struct PredicateEvaluator {
    typealias Test = (Operand, EvaluationFrame?) throws -> Bool

    private let test: Test

    package init(_ predicate: PredicateNode) {
        do throws(PredicateFailure) { test = Self.test(try predicate.flattened()) } catch {
            test = { _, _ in throw error }
        }
    }

    /// Returns whether the object satisfies the predicate.
    ///
    /// - Throws: ``PredicateFailure`` of kind `.evaluation`, with the comparison that caused it.
    package func evaluate(_ object: Operand, in frame: EvaluationFrame? = nil) throws -> Bool {
        try test(object, frame)
    }

    static func test(_ node: PredicateNode) -> Test {
        switch node {
        case .constant(let result): return { _, _ in result }
        case .comparison(let comparison): return ComparisonEvaluator(comparison).test
        case .and(let nodes):
            let tests = nodes.map(test)
            return { object, frame in
                for test in tests where try !test(object, frame) { return false }
                return true
            }
        case .or(let nodes):
            let tests = nodes.map(test)
            return { object, frame in
                for test in tests where try test(object, frame) { return true }
                return false
            }
        case .not(let node):
            let test = test(node)
            return { object, frame in try !test(object, frame) }
        case .block(let block):
            return { object, frame in try block.body(object, frame?.variables ?? [:]) }
        }
    }
}

/// A prepared comparison.
private struct ComparisonEvaluator {
    private typealias Relation = (Operand, Operand) throws -> Bool

    private let comparison: PredicateNode.Comparison

    init(_ comparison: PredicateNode.Comparison) { self.comparison = comparison }

    var test: PredicateEvaluator.Test {
        let explained = comparison
        let test = plainTest
        return { object, frame in
            do {
                return try test(object, frame)
            } catch var failure as PredicateFailure where failure.subexpression == nil {
                failure.subexpression = PredicateFailure.shown(PredicateNode.comparison(explained).predicateFormat)
                throw failure
            }
        }
    }

    private var plainTest: PredicateEvaluator.Test {
        let left = ExpressionEvaluator.read(comparison.left)
        let relation: Relation
        let right: ExpressionEvaluator.Read
        if comparison.comparator == .in, let members = constantMembers {
            relation = Self.membership(members, comparison.options)
            right = { _, _ in .null }
        } else {
            relation = Self.relation(comparison.comparator, comparison.options)
            right = ExpressionEvaluator.read(comparison.right)
        }
        switch comparison.modifier {
        case .direct:
            if case .constant(let constant) = comparison.right {
                let value = Operand(constant)
                return { object, frame in try relation(left(object, frame), value) }
            }
            return { object, frame in try relation(left(object, frame), right(object, frame)) }
        case .any:
            return { object, frame in
                let value = try right(object, frame)
                for member in try Self.members(left(object, frame)) where try relation(member, value) { return true }
                return false
            }
        case .all:
            return { object, frame in
                let value = try right(object, frame)
                for member in try Self.members(left(object, frame)) where try !relation(member, value) { return false }
                return true
            }
        }
    }

    private static func members(_ operand: Operand) throws -> [Operand] {
        switch operand {
        case .collection(let members, _): return members
        case .value(.null): return []
        // A single value counts as a collection of one, as in stores.
        case .value, .object: return [operand]
        case .dictionary:
            throw failure(
                "the left hand side for an ALL or ANY operator must be a collection, not \(operand.kindName)")
        }
    }

    // MARK: Operators

    private static func relation(_ comparator: PredicateNode.Comparator, _ options: TextOptions) -> Relation {
        switch comparator {
        case .equalTo: return { OperandComparison.equal($0, $1, options) }
        case .notEqualTo: return { !OperandComparison.equal($0, $1, options) }
        case .lessThan: return { try OperandComparison.order($0, $1, options).map { $0 < 0 } ?? false }
        case .lessThanOrEqualTo: return { try OperandComparison.order($0, $1, options).map { $0 <= 0 } ?? false }
        case .greaterThan: return { try OperandComparison.order($0, $1, options).map { $0 > 0 } ?? false }
        case .greaterThanOrEqualTo: return { try OperandComparison.order($0, $1, options).map { $0 >= 0 } ?? false }
        case .beginsWith: return text { TextComparison.beginsWith($0, $1, options: options.rawValue) }
        case .endsWith: return text { TextComparison.endsWith($0, $1, options: options.rawValue) }
        case .like: return text { TextComparison.like($0, $1, options: options.rawValue) }
        case .matches: return text { try matches($0, $1, options) }
        case .contains: return { try contains($0, $1, options) }
        case .in: return { try isIn($0, $1, options) }
        case .between: return { try isBetween($0, $1, options) }
        case .customSelector:
            return { _, _ in throw failure("comparing by a selector is not supported") }
        }
    }

    private static func text(_ body: @escaping (String, String) throws -> Bool) -> Relation {
        { left, right in
            if let text = left.text, let part = right.text { return try body(text, part) }
            if left.isNull || right.isNull { return false }
            throw noText(left, right)
        }
    }

    private static func noText(_ left: Operand, _ right: Operand) -> PredicateFailure {
        failure(
            "can't do a substring operation with something that isn't a string "
                + "(the left side is \(left.kindName), the right side is \(right.kindName))")
    }

    private static func matches(_ text: String, _ pattern: String, _ options: TextOptions) throws -> Bool {
        do {
            return try TextComparison.matches(text, pattern, options: options.rawValue)
        } catch {
            throw failure(error.message)
        }
    }

    private static func contains(_ left: Operand, _ right: Operand, _ options: TextOptions) throws -> Bool {
        switch left {
        case .collection(let members, _): return includes(members, right, options)
        case .dictionary(let entries): return includes(entries.map(\.value), right, options)
        default:
            if let text = left.text, let part = right.text {
                return TextComparison.contains(text, part, options: options.rawValue)
            }
            if left.isNull || right.isNull { return false }
            throw noText(left, right)
        }
    }

    private static func isIn(_ left: Operand, _ right: Operand, _ options: TextOptions) throws -> Bool {
        switch right {
        case .value(.null): return false
        case .value(.string), .value(.uri), .collection, .dictionary: return try contains(right, left, options)
        default: throw failure("IN needs a collection or a string on its right, not \(right.kindName)")
        }
    }

    private static func includes(_ members: [Operand], _ wanted: Operand, _ options: TextOptions) -> Bool {
        if wanted.isNull { return false }
        for member in members where OperandComparison.equal(member, wanted, options) { return true }
        return false
    }

    private static func isBetween(_ left: Operand, _ right: Operand, _ options: TextOptions) throws -> Bool {
        guard case .collection(let bounds, _) = right, bounds.count == 2 else {
            if right.isNull { return false }
            throw failure("BETWEEN needs a collection of two values on its right")
        }
        guard let low = try OperandComparison.order(bounds[0], left, options),
            let high = try OperandComparison.order(left, bounds[1], options)
        else { return false }
        return low <= 0 && high <= 0
    }

    // MARK: IN with constants

    /// The members of a constant collection on the right-hand side.
    private var constantMembers: [Operand]? {
        switch comparison.right {
        case .constant(.collection(let members, _)): return members.map(Operand.init)
        case .aggregate(let elements):
            let members = elements.compactMap { element -> Operand? in
                if case .constant(let constant) = element { return Operand(constant) }
                return nil
            }
            return members.count == elements.count ? members : nil
        default: return nil
        }
    }

    private static func membership(_ members: [Operand], _ options: TextOptions) -> Relation {
        guard members.count > 8, !options.contains(.localeSensitive) else {
            return { value, _ in includes(members, value, options) }
        }
        let set = OperandSet(members, options: options)
        return { value, _ in !value.isNull && set.contains(value) }
    }

    private static func failure(_ message: String) -> PredicateFailure {
        PredicateFailure(.evaluation, Diagnostic(.error, message))
    }
}
