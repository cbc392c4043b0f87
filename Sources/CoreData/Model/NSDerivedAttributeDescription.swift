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
    final var writtenExpression: WrittenExpression?
    /// Which related rows an aggregate counts; model files have it, Apple's API does not.
    final var writtenFilter: WrittenPredicate?

    /// How the value is computed.
    open var derivationExpression: NSExpression? {
        get { writtenExpression?.expression }
        set {
            willChange("derivationExpression")
            writtenExpression = newValue.map { WrittenExpression($0) }
        }
    }

    override func makeEmpty() -> NSPropertyDescription { NSDerivedAttributeDescription() }

    override func adopt(_ other: NSPropertyDescription) {
        super.adopt(other)
        guard let other = other as? NSDerivedAttributeDescription else { return }
        writtenExpression = other.writtenExpression
        writtenFilter = other.writtenFilter
    }

    override func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        guard super.hasEqualContent(to: other), let other = other as? NSDerivedAttributeDescription else {
            return false
        }
        return writtenExpression.isEqual(to: other.writtenExpression)
            && writtenFilter.isEqual(to: other.writtenFilter)
    }
}
