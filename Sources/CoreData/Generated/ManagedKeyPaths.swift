import Foundation

/// The properties of one managed object class by key path, so that `\Item.name` is known to mean "name".
///
/// Accessors are computed properties, whose key paths print no name. Therefore generated code has one subclass of this
/// for each class, in the same module and named after it with the prefix `_` and the suffix `KeyPaths`. It is looked up
/// by that name when a key path with such a root is first used, so no registration is needed:
///
///     final class _ItemKeyPaths: ManagedKeyPaths {
///         override class var names: [AnyKeyPath: String] { [\Item.name: "name", \Item.unit: "unit"] }
///     }
///     NSSortDescriptor(keyPath: \Item.unit?.name, ascending: true)   // key "unit.name", if _UnitKeyPaths has name
///
/// Inherited properties are listed again, rooted in the subclass: `\Drink.name` is not the key path `\Item.name`. The
/// same holds for paths of two steps of which one is inherited: `\Drink.unit?.name`.
open class ManagedKeyPaths {
    /// The names of the class's key paths; generated code overrides it.
    open class var names: [AnyKeyPath: String] { [:] }

    /// The list that was generated for a class, or `nil`.
    final class func list(for type: NSManagedObject.Type) -> ManagedKeyPaths.Type? {
        let parts = String(reflecting: type).split(separator: ".")
        guard parts.count == 2 else { return nil }
        return NSClassFromString("\(parts[0])._\(parts[1])KeyPaths") as? ManagedKeyPaths.Type
    }
}
