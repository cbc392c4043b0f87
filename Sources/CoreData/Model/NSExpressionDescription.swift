import CoreDataModel
import Foundation

/// A column of a dictionary fetch that is computed: an entry of `propertiesToFetch`, not of an entity.
///
///     let total = NSExpressionDescription()
///     total.name = "total"
///     total.expression = NSExpression(forFunction: "sum:", arguments: [NSExpression(forKeyPath: "pages")])
///     total.resultType = .integer64
///     request.propertiesToFetch = [total]      // SELECT SUM(t0.ZPAGES) FROM …
open class NSExpressionDescription: NSPropertyDescription {
    final var writtenExpression: WrittenExpression?
    private var storedResultType = NSAttributeType.undefinedAttributeType

    /// What to compute for each row or group.
    open var expression: NSExpression? {
        get { writtenExpression?.expression }
        set {
            willChange("expression")
            writtenExpression = newValue.map { WrittenExpression($0) }
        }
    }

    /// The type of the result, which decides the class of the value in the dictionary.
    open var expressionResultType: NSAttributeType {
        get { storedResultType }
        set {
            willChange("expressionResultType")
            storedResultType = newValue
        }
    }

    /// The type of the result, in the short spelling.
    public var resultType: NSAttributeDescription.AttributeType {
        get { NSAttributeDescription.AttributeType(rawValue: expressionResultType) }
        set { expressionResultType = newValue.rawValue }
    }

    /// A column of a result may have any name: `objectID` is a usual one.
    override var isMemberOfObjects: Bool { false }

    override func makeEmpty() -> NSPropertyDescription { NSExpressionDescription() }

    override func adopt(_ other: NSPropertyDescription) {
        super.adopt(other)
        guard let other = other as? NSExpressionDescription else { return }
        writtenExpression = other.writtenExpression
        storedResultType = other.storedResultType
    }

    override func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        guard super.hasEqualContent(to: other), let other = other as? NSExpressionDescription else { return false }
        return storedResultType == other.storedResultType
            && writtenExpression.isEqual(to: other.writtenExpression)
    }
}
