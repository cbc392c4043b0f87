@_spi(Reflection) import Swift

/// The names of stored properties of classes that are no managed objects, by the types of their values.
///
///     class House: NSObject { var inhabitants: Set<Person> = [] }
///     NSExpression(forKeyPath: \House.inhabitants)        // "inhabitants"
///
/// A property of a class that is not final is reached by its accessor, whose key path prints no name. Where the class has one stored
/// property of the path's type, that is the one; of several nobody can tell.
enum StoredPropertyNames {
    /// The name; `nil` where it cannot be told, and for paths of more than one step.
    static func name(of keyPath: AnyKeyPath) -> String? {
        let wanted = type(of: keyPath).valueType
        guard let root = type(of: keyPath).rootType as? AnyClass,
            String(describing: keyPath).split(separator: "<computed").count == 2
        else { return nil }
        var names: [String] = []
        // The option that the type is a class.
        _ = _forEachField(of: root, options: _EachFieldOptions(rawValue: 1)) { name, _, type, _ in
            if type == wanted { names.append(String(cString: name)) }
            return true
        }
        return names.count == 1 ? names[0] : nil
    }
}
