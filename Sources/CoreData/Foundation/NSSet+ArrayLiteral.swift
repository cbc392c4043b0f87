import Foundation

/// Gives `NSSet` and `NSMutableSet` array literals, as Foundation has them on Apple's platforms.
///
///     book.tags = [crime, classic]            // tags: NSSet?
///     book.addToTags([crime, classic])        // a generated method that takes an NSSet
///
/// An initialiser of a protocol can set `self`, one of a class that is not `required` cannot be called for a subclass.
public protocol SetLiteralMaking: ExpressibleByArrayLiteral where ArrayLiteralElement == Any {}

// Foundation itself conforms on Apple's platforms. Remove this when it does so here.
// swift-format-ignore: AvoidRetroactiveConformances
extension NSSet: @retroactive ExpressibleByArrayLiteral, SetLiteralMaking {
    /// A set has elements of any class.
    public typealias ArrayLiteralElement = Any
}

extension SetLiteralMaking {
    /// Creates a set of the elements, each once. It is an `NSMutableSet`, which can also be used as an `NSSet`.
    ///
    /// The requested class is not known here, since the conformance is `NSSet`'s.
    ///
    /// - Precondition: it is no `NSCountedSet` or other subclass: use its own initialisers.
    public init(arrayLiteral elements: Any...) {
        guard let set = NSMutableSet(array: elements) as? Self else {
            preconditionFailure("An array literal cannot be made a \(Self.self); use its own initialiser.")
        }
        self = set
    }
}
