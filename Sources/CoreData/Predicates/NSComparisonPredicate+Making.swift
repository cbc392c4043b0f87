import CoreDataPredicate
import Foundation

extension PredicateMaking where Self: NSComparisonPredicate {
    /// Makes a comparison of two expressions.
    ///
    ///     NSComparisonPredicate(
    ///         leftExpression: NSExpression(forKeyPath: "name"), rightExpression: NSExpression(forConstantValue: "a"),
    ///         modifier: .direct, type: .beginsWith, options: .caseInsensitive)
    ///     // name BEGINSWITH[c] "a"
    public init(
        leftExpression lhs: NSExpression, rightExpression rhs: NSExpression, modifier: ComparisonNaming.Modifier,
        type: ComparisonNaming.Operator, options: ComparisonNaming.Options = []
    ) {
        self.init(
            predicateNode: .comparison(
                .init(
                    lhs.node, PredicateNode.Comparator(type), rhs.node,
                    modifier: PredicateNode.Modifier(rawValue: modifier.rawValue) ?? .direct,
                    options: TextOptions(rawValue: options.rawValue))))
    }

    /// The operator: `.equalTo`, `.beginsWith`, `.in`, …
    public var predicateOperatorType: ComparisonNaming.Operator { comparison.comparator.operatorType }

    /// Whether all or any of the left side's members are compared, or it itself (`.direct`).
    public var comparisonPredicateModifier: ComparisonNaming.Modifier {
        ComparisonNaming.Modifier(rawValue: comparison.modifier.rawValue) ?? .direct
    }

    /// What stands before the operator.
    public var leftExpression: NSExpression { .make(node: comparison.left) }

    /// What stands after the operator.
    public var rightExpression: NSExpression { .make(node: comparison.right) }

    /// How text is compared: `[c]`, `[d]`, `[n]`, `[l]`.
    public var options: ComparisonNaming.Options { ComparisonNaming.Options(rawValue: comparison.options.rawValue) }

    private var comparison: PredicateNode.Comparison {
        guard case .comparison(let comparison) = node else {
            preconditionFailure("\"\(node.predicateFormat)\" is no comparison")
        }
        return comparison
    }
}

// Foundation's raw values are not Apple's on this platform, so the cases are matched one by one.

extension PredicateNode.Comparator {
    init(_ type: ComparisonNaming.Operator) {
        self =
            switch type {
            case .lessThan: .lessThan
            case .lessThanOrEqualTo: .lessThanOrEqualTo
            case .greaterThan: .greaterThan
            case .greaterThanOrEqualTo: .greaterThanOrEqualTo
            case .equalTo: .equalTo
            case .notEqualTo: .notEqualTo
            case .matches: .matches
            case .like: .like
            case .beginsWith: .beginsWith
            case .endsWith: .endsWith
            case .in: .in
            case .contains: .contains
            case .between: .between
            }
    }

    var operatorType: ComparisonNaming.Operator {
        switch self {
        case .lessThan: .lessThan
        case .lessThanOrEqualTo: .lessThanOrEqualTo
        case .greaterThan: .greaterThan
        case .greaterThanOrEqualTo: .greaterThanOrEqualTo
        case .equalTo, .customSelector: .equalTo
        case .notEqualTo: .notEqualTo
        case .matches: .matches
        case .like: .like
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .in: .in
        case .contains: .contains
        case .between: .between
        }
    }
}
