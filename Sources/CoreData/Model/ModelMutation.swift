import CoreDataModel

/// The rules that keep a model whole, told to the programmer who breaks one.
///
/// Every setter of a description asks here first. Where a rule is broken the program stops, in release builds too,
/// with a text that names the entity and property and says what to do.
enum ModelMutation {
    /// Why that change is refused, or `nil` where it is allowed.
    ///
    ///     refusalMessage(isFrozen: true, changing: "isOptional", of: "Item.name")
    ///     // "isOptional of Item.name cannot be changed: its model is in use by a persistent store coordinator. …"
    static func refusalMessage(isFrozen: Bool, changing what: String, of whom: String) -> String? {
        guard isFrozen else { return nil }
        return """
            \(what) of \(whom) cannot be changed: its model is in use by a persistent store coordinator. \
            Copy the model (model.copy()), change the copy, and make a new coordinator with it.
            """
    }

    /// Why a property cannot have that name, or `nil` where it can.
    static func refusalMessage(propertyName name: String) -> String? {
        guard ReservedNames.contains(name) else { return nil }
        return """
            A property cannot be named '\(name)': every managed object has a member of that name. \
            Choose another name and, for data that exists, set renamingIdentifier to '\(name)'.
            """
    }

    /// Stops the program where there is a reason to.
    static func stop(_ message: String?) {
        if let message { fatalError(message) }
    }
}
