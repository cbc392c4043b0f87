/// The name of a method, for the few places of the API that take one.
///
///     NSSortDescriptor(key: "title", ascending: true, selector: "localizedStandardCompare:")
///
/// There are no Objective-C methods on this platform, so the name is all there is: `#selector` does not compile,
/// `NSSelectorFromString` and a string do, here and on Apple's platforms.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let description: String

    public init(_ name: String) { description = name }

    public init(stringLiteral name: String) { description = name }
}

public func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector(aSelectorName) }

public func NSStringFromSelector(_ aSelector: Selector) -> String { aSelector.description }
