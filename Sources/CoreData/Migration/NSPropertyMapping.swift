import Foundation

/// How one property of a destination object gets its value in a migration.
///
///     let mapping = NSPropertyMapping()
///     mapping.name = "fullName"
///     mapping.valueExpression = NSExpression(format: "$source.name")
open class NSPropertyMapping: NSObject {
    /// The property of the destination entity.
    open var name: String?
    /// The expression of the value. It may use `$manager`, `$source`, `$destination`, `$entityMapping`,
    /// `$propertyMapping` and `$entityPolicy`. Without one the property is not set.
    open var valueExpression: NSExpression?
    /// Values that the user stores with the mapping.
    open var userInfo: [AnyHashable: Any]?

    /// Mappings are equal when they give the same property the same value.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSPropertyMapping else { return false }
        return self === other
            || (name == other.name && ContentEquality.areEqual(valueExpression, other.valueExpression)
                && ContentEquality.areEqual(userInfo, other.userInfo))
    }

    open override var hash: Int { name.hashValue }

    open override var description: String {
        "<NSPropertyMapping: \(name ?? "?") = \(valueExpression.map { "\($0)" } ?? "nothing")>"
    }
}
