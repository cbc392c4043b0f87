/// The name of a method, for the few places of the API that take one.
///
///     NSSortDescriptor(key: "title", ascending: true, selector: "localizedStandardCompare:")
///
/// There are no Objective-C methods on this platform, so the name is all there is: `#selector` does not compile,
/// `NSSelectorFromString` and a string do, here and on Apple's platforms.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name of the method.
    public let description: String

    /// The selector of that name.
    public init(_ name: String) { description = name }

    /// The selector of that name.
    public init(stringLiteral name: String) { description = name }
}

/// The selector of that name: selectors are names here, as there is no Objective-C to call methods by them.
public func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector(aSelectorName) }

/// The selector's name.
public func NSStringFromSelector(_ aSelector: Selector) -> String { aSelector.description }
