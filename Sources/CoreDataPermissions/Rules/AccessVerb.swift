/// What a rule allows to do with objects of an entity. Properties have rules for ``read`` and ``update`` only.
///
///     rules.may(.update, "Item", as: accessor)
public enum AccessVerb: String, Sendable, Hashable, CaseIterable {
    /// To see that an object exists, and its values.
    case read
    /// To insert an object; the rule is about the new object.
    case create
    /// To change an object; the rule must allow the object as it was and as it becomes.
    case update
    /// To delete an object.
    case delete

    /// The key of the rule in `userInfo`.
    var key: String { "allow.\(rawValue)" }
}

/// The answer of ``AccessRules`` without an object.
///
///     switch rules.may(.delete, "Item", as: accessor) {
///     case .always: showButton()
///     case .never: hideButton()
///     case .depends: try context.may(.delete, item) ? showButton() : hideButton()
///     }
public enum Permission: Sendable, Hashable {
    /// With every object of the entity that the accessor may read.
    case always
    /// With no object.
    case never
    /// With some objects: ``CoreData/NSManagedObjectContext/may(_:_:)`` tells with which.
    case depends
}
