import Foundation

/// The class of expressions, under the name that it has everywhere, without Foundation's notice that it cannot be
/// used on this platform: with this module it can.
///
/// It is the same class as `Foundation.NSExpression`, so a source that imports both modules sees no ambiguity.
public typealias NSExpression = ExpressionNaming.Name

/// Where `NSExpression` gets its meaning from: the type is inferred from a function's signature, and so the name
/// that carries the notice is written in one place only.
public enum ExpressionNaming: ExpressionNamed {
    @available(*, deprecated, message: "Only its signature is of use")
    public static func example() -> Foundation.NSExpression? { nil }
}

/// A type that names a class by way of a function which returns it.
public protocol ExpressionNamed {
    associatedtype Name

    static func example() -> Name?
}
