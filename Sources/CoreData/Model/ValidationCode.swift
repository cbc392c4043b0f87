import CoreDataModel
import CoreDataPredicate

/// Apple's error codes for values that break a validation predicate.
package enum ValidationCode {
    package static let general = 1550
    package static let numberTooLarge = 1610
    package static let numberTooSmall = 1620
    package static let dateTooLate = 1630
    package static let dateTooSoon = 1640
    package static let stringTooLong = 1660
    package static let stringTooShort = 1670
    package static let stringPatternMatching = 1680

    /// The code for a value that breaks the predicate, told by the predicate's shape and the attribute's type.
    ///
    ///     derive(from: `SELF >= 1`, type: .integer16)          // 1620, number too small
    ///     derive(from: `length <= 20`, type: .string)          // 1660, string too long
    ///     derive(from: `SELF MATCHES "[a-z]+"`, type: .string) // 1680
    ///     derive(from: `SELF IN {1, 2}`, type: .integer16)     // 1550
    package static func derive(from predicate: PredicateNode, type: CoreDataModel.AttributeType) -> Int {
        guard case .comparison(let comparison) = predicate, comparison.modifier == .direct else { return general }
        if comparison.comparator == .matches, type == .string, subject(of: comparison.left) == .value {
            return stringPatternMatching
        }
        guard var bound = bound(comparison.comparator) else { return general }
        var subject = subject(of: comparison.left)
        if subject == nil {
            subject = self.subject(of: comparison.right)
            bound = bound == .lower ? .upper : .lower
        }
        switch (subject, type.kind) {
        case (.value, let kind) where kind.isQuantity || kind == .boolean:
            return bound == .lower ? numberTooSmall : numberTooLarge
        case (.value, .date), (.seconds, .date): return bound == .lower ? dateTooSoon : dateTooLate
        case (.length, .text): return bound == .lower ? stringTooShort : stringTooLong
        default: return general
        }
    }

    private enum Subject {
        case value, length, seconds
    }

    private enum Bound {
        case lower, upper
    }

    /// What of the validated value an operand is; `nil` for anything else.
    private static func subject(of expression: ExpressionNode) -> Subject? {
        switch expression {
        case .evaluatedObject: .value
        case .keyPath(.evaluatedObject, ["self"]), .keyPath(.evaluatedObject, ["SELF"]): .value
        case .keyPath(.evaluatedObject, ["length"]): .length
        case .keyPath(.evaluatedObject, ["timeIntervalSinceReferenceDate"]): .seconds
        default: nil
        }
    }

    private static func bound(_ comparator: PredicateNode.Comparator) -> Bound? {
        switch comparator {
        case .greaterThan, .greaterThanOrEqualTo: .lower
        case .lessThan, .lessThanOrEqualTo: .upper
        default: nil
        }
    }
}
