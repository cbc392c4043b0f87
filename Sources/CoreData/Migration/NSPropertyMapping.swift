import Foundation

/// How one property of a destination object gets its value in a migration.
///
///     let mapping = NSPropertyMapping()
///     mapping.name = "fullName"
///     mapping.valueExpression = NSExpression(format: "$source.name")
open class NSPropertyMapping: NSObject {
    /// The property of the destination entity.
    open var name: String?
    /// Tells the value. It may use `$manager`, `$source`, `$destination`, `$entityMapping`, `$propertyMapping` and
    /// `$entityPolicy`. Without one the property is left as it is.
    open var valueExpression: NSExpression?
    /// What the user keeps with the mapping.
    open var userInfo: [AnyHashable: Any]?

    open override var description: String {
        "<NSPropertyMapping: \(name ?? "?") = \(valueExpression.map { "\($0)" } ?? "nothing")>"
    }
}
