import CoreDataModel

/// Enforces the rules that keep a model consistent.
///
/// Every setter of a description calls it first. If a rule is violated, the program stops, also in release builds. The
/// message names the entity and the property, and says what to do.
enum ModelMutation {
    /// Returns why that change is refused, or `nil` if it is allowed.
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

    /// Returns why a property cannot have that name, or `nil` if it can.
    static func refusalMessage(propertyName name: String) -> String? {
        guard ReservedNames.contains(name) else { return nil }
        return """
            A property cannot be named '\(name)': every managed object has a member of that name. \
            Choose another name and, for data that exists, set renamingIdentifier to '\(name)'.
            """
    }

    /// Stops the program if there is a message.
    static func stop(_ message: String?) {
        if let message { fatalError(message) }
    }
}
