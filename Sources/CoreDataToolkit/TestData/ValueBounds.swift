import CoreData
import Foundation

/// The values that an attribute's validation allows, as far as it consists of simple bounds; other values are tried.
struct ValueBounds {
    private(set) var minimum: Double?
    private(set) var maximum: Double?
    private(set) var earliest: Date?
    private(set) var latest: Date?
    private(set) var minimumLength: Int?
    private(set) var maximumLength: Int?
    /// The only allowed values.
    private(set) var choices: [Any] = []

    init(_ predicates: [NSPredicate]) {
        for predicate in predicates { add(predicate) }
    }

    private mutating func add(_ predicate: NSPredicate) {
        if let compound = predicate as? NSCompoundPredicate, compound.compoundPredicateType == .and {
            for part in compound.subpredicates { add(part) }
            return
        }
        guard let comparison = predicate as? NSComparisonPredicate,
            let constant = Self.constant(comparison.rightExpression)
        else { return }
        let isLength =
            comparison.leftExpression.expressionType == .keyPath
            && comparison.leftExpression.keyPath.hasSuffix("length")
        guard isLength || comparison.leftExpression.expressionType == .evaluatedObject else { return }
        switch comparison.predicateOperatorType {
        case .greaterThanOrEqualTo: least(constant, isLength, exclusive: false)
        case .greaterThan: least(constant, isLength, exclusive: true)
        case .lessThanOrEqualTo: most(constant, isLength, exclusive: false)
        case .lessThan: most(constant, isLength, exclusive: true)
        case .equalTo:
            if isLength {
                least(constant, isLength, exclusive: false)
                most(constant, isLength, exclusive: false)
            } else {
                choices = [constant]
            }
        case .in: choices = (constant as? [Any]) ?? (constant as? NSSet)?.allObjects ?? []
        case .between:
            guard let ends = constant as? [Any], ends.count == 2 else { return }
            least(ends[0], isLength, exclusive: false)
            most(ends[1], isLength, exclusive: false)
        default: break
        }
    }

    /// Returns the value, or list of values, of a constant expression.
    private static func constant(_ expression: NSExpression) -> Any? {
        switch expression.expressionType {
        case .constantValue: return expression.constantValue
        case .aggregate:
            guard let parts = expression.collection as? [NSExpression],
                parts.allSatisfy({ $0.expressionType == .constantValue })
            else { return nil }
            return parts.compactMap(\.constantValue)
        default: return nil
        }
    }

    private mutating func least(_ constant: Any, _ isLength: Bool, exclusive: Bool) {
        if let date = constant as? Date { return earliest = exclusive ? date.addingTimeInterval(1) : date }
        guard let number = (constant as? NSNumber)?.doubleValue else { return }
        if isLength {
            minimumLength = Int(number.rounded(.up)) + (exclusive ? 1 : 0)
        } else {
            minimum = exclusive ? number.nextUp : number
        }
    }

    private mutating func most(_ constant: Any, _ isLength: Bool, exclusive: Bool) {
        if let date = constant as? Date { return latest = exclusive ? date.addingTimeInterval(-1) : date }
        guard let number = (constant as? NSNumber)?.doubleValue else { return }
        if isLength {
            maximumLength = Int(number.rounded(.down)) - (exclusive ? 1 : 0)
        } else {
            maximum = exclusive ? number.nextDown : number
        }
    }
}
