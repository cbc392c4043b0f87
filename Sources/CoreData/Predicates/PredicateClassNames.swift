import Foundation

/// The class of comparisons, under the name that it has everywhere, without Foundation's notice that it cannot be
/// used on this platform: with this module it can. See `NSExpression`.
public typealias NSComparisonPredicate = ComparisonNaming.Name

/// Where `NSComparisonPredicate` and the types inside it and `NSExpression` get their meaning from: they are
/// inferred from functions' signatures, and so the names that carry the notice are written in one place only.
public enum ComparisonNaming: ComparisonNamed {
    @available(*, deprecated, message: "Only its signature is of use")
    public static func example() -> Foundation.NSComparisonPredicate? { nil }

    @available(*, deprecated, message: "Only its signature is of use")
    public static func exampleOperator() -> Foundation.NSComparisonPredicate.Operator? { nil }

    @available(*, deprecated, message: "Only its signature is of use")
    public static func exampleModifier() -> Foundation.NSComparisonPredicate.Modifier? { nil }

    @available(*, deprecated, message: "Only its signature is of use")
    public static func exampleOptions() -> Foundation.NSComparisonPredicate.Options? { nil }

    @available(*, deprecated, message: "Only its signature is of use")
    public static func exampleExpressionType() -> Foundation.NSExpression.ExpressionType? { nil }
}

/// A type that names classes by way of functions which return them.
public protocol ComparisonNamed {
    associatedtype Name
    associatedtype Operator
    associatedtype Modifier
    associatedtype Options
    associatedtype ExpressionType

    static func example() -> Name?
    static func exampleOperator() -> Operator?
    static func exampleModifier() -> Modifier?
    static func exampleOptions() -> Options?
    static func exampleExpressionType() -> ExpressionType?
}

/// Every predicate, so that the classes of predicates can have initialisers that return an instance of a subclass.
///
/// Initialisers of a class cannot replace `self`; those of a protocol can. Each class that needs them has a protocol of
/// its own, so that other objects do not get them.
public protocol PredicateMaking {}

extension NSPredicate: PredicateMaking {}

/// Every expression; see ``PredicateMaking``.
public protocol ExpressionMaking {}

// Deprecation would warn about the name, so the conformance is deprecated; only code that asks for the protocol gets
// the warning.
@available(*, deprecated, message: "Only for initialisers")
extension Foundation.NSExpression: ExpressionMaking {}

/// Every sort descriptor; see ``PredicateMaking``.
public protocol SortDescriptorMaking {}

extension NSSortDescriptor: SortDescriptorMaking {}
