import CoreDataModel
import Foundation

/// A description of an attribute that the store computes from others when it saves.
///
///     let count = NSDerivedAttributeDescription()
///     count.name = "bookCount"
///     count.type = .integer64
///     count.derivationExpression = NSExpression(format: "books.@count")
///
/// The store takes `now()`; a key path along to-one relationships, plain or in `canonical:()`, `uppercase:()` or
/// `lowercase:()`; and `relationship.@count` or `relationship.@sum.attribute`.
open class NSDerivedAttributeDescription: NSAttributeDescription {
    private var storedExpression: NSExpression?
    private var storedFilter: NSPredicate?

    /// How the value is computed.
    open var derivationExpression: NSExpression? {
        get { storedExpression }
        set {
            willChange("derivationExpression")
            storedExpression = newValue
        }
    }

    /// Which related rows an aggregate counts; model files have it, Apple's API does not.
    final var derivationFilter: NSPredicate? {
        get { storedFilter }
        set {
            willChange("derivationFilter")
            storedFilter = newValue
        }
    }

    override func makeEmpty() -> NSPropertyDescription { NSDerivedAttributeDescription() }

    override func adopt(_ other: NSPropertyDescription) {
        super.adopt(other)
        guard let other = other as? NSDerivedAttributeDescription else { return }
        storedExpression = other.storedExpression
        storedFilter = other.storedFilter
    }

    override func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        guard super.hasEqualContent(to: other), let other = other as? NSDerivedAttributeDescription else {
            return false
        }
        return ContentEquality.areEqual(storedExpression, other.storedExpression)
            && ContentEquality.areEqual(storedFilter, other.storedFilter)
    }
}
