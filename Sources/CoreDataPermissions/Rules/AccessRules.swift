import CoreData
import CoreDataPredicate
import Foundation

/// The permissions of a model: who may read, create, update and delete the objects of each entity.
///
/// Rules are in the `userInfo` of entities and properties:
///
/// | Key | Value |
/// | --- | --- |
/// | `allow.read`, `allow.create`, `allow.update`, `allow.delete` | the words of a rule |
/// | `allow.owner` | the path of a UUID that holds the account: `owner`, `list.owner` |
/// | `allow.group` | the path of a UUID that holds the group: `household`, `list.household` |
///
/// A rule is a list of words, separated by commas; one of them suffices: `anyone`, `signedIn`, `owner`, `group`,
/// `role:editor`, `administrator`, or a predicate that may name `$user`, `$groups` and `$role` (the role in the
/// object's group). Another word closes an entity; docs/permissions.md lists them all.
///
///
///     Item.userInfo["allow.group"] = "list.household"
///     Item.userInfo["allow.read"] = "group, list.isPublic == YES"
///     Item.userInfo["allow.update"] = "role:owner, role:editor"
///
///     let rules = try AccessRules(container.managedObjectModel)
///     let context = container.newBackgroundContext()
///     try context.restrict(to: rules, as: Accessor(account: annID, groups: [home: "editor"]))
///
/// - An entity without a rule is closed. A subentity without a rule has the rule of its parent.
/// - The rule of a property narrows the rule of its entity: both must allow. Without one, the entity's rule decides.
///   The exception is `allow.update` of a to-many relationship: it replaces the entity's rule for adding and removing
///   members, because these are no values of the object.
/// - A predicate that names a variable allows nothing to an accessor who is not signed in.
/// - Rules read the store as it is, whatever the accessor may read.
///
/// Making rules freezes the model. Cost: no statement.
public struct AccessRules: Sendable {
    let ruleSet: RuleSet

    /// Makes the rules of the model's `userInfo`.
    ///
    ///     let rules = try AccessRules(container.managedObjectModel)
    ///
    /// - Throws: ``AccessRuleError`` with all mistakes; the errors of an invalid model.
    public init(_ model: NSManagedObjectModel) throws { try self.init(model) { _ in } }

    /// Makes rules from the model's `userInfo` and from code. What the code says replaces the same key of `userInfo`.
    ///
    ///     let rules = try AccessRules(model) { rules in
    ///         rules.group("list.household", of: "Item")
    ///         rules.allow(.read, "Item", "group")
    ///         rules.allow(.read, "price", of: "Item", "role:owner")
    ///     }
    ///
    /// - Throws: ``AccessRuleError`` with all mistakes; the errors of an invalid model.
    public init(_ model: NSManagedObjectModel, _ build: (inout Builder) -> Void) throws {
        var builder = Builder()
        build(&builder)
        ruleSet = try RuleReader(model).read(builder)
    }

    // MARK: Questions

    /// Returns what the accessor may do with objects of an entity. Cost: no statement.
    ///
    ///     if rules.may(.create, "Item", as: accessor) != .never { showAddButton() }
    ///
    /// The rules for updating and deleting apply to objects that the accessor may read. An unknown entity is closed.
    public func may(_ verb: AccessVerb, _ entity: String, as accessor: Accessor) -> Permission {
        Permission(node(verb, nil, entity, accessor))
    }

    /// Returns whether the accessor may read or update a property of an entity's objects. Cost: no statement.
    ///
    ///     rules.may(.read, "price", of: "Item", as: accessor)
    ///
    /// It considers the rules of the property and of the entity. For ``AccessVerb/create`` and ``AccessVerb/delete`` it
    /// is the answer for the entity. An unknown property is closed.
    public func may(_ verb: AccessVerb, _ property: String, of entity: String, as accessor: Accessor) -> Permission {
        Permission(node(verb, property, entity, accessor))
    }

    /// Returns the rule of an entity as a predicate, with the accessor's values in place of variables.
    ///
    ///     rules.predicate(.read, "Item", as: ann)     // list.household IN {9F8E…, 1C2D…}
    ///
    /// For people and for tests: a fetch with this predicate in a restricted context reads the rule's paths under the
    /// restriction.
    public func predicate(_ verb: AccessVerb, _ entity: String, as accessor: Accessor) -> NSPredicate {
        PredicateTrees.predicate(node(verb, nil, entity, accessor))
    }

    /// Returns the rules of a property and of its entity as one predicate.
    ///
    ///     rules.predicate(.read, "price", of: "Item", as: ann)
    public func predicate(
        _ verb: AccessVerb, _ property: String, of entity: String, as accessor: Accessor
    ) -> NSPredicate {
        PredicateTrees.predicate(node(verb, property, entity, accessor))
    }

    private func node(_ verb: AccessVerb, _ property: String?, _ entity: String, _ accessor: Accessor) -> PredicateNode
    {
        guard let ordinal = ruleSet.model.ordinalByName[entity] else { return .constant(false) }
        let compiler = RuleCompiler(ruleSet, accessor)
        let own = compiler.predicate(verb, ordinal)
        guard let property else { return own }
        guard let slot = ruleSet.model.entities[ordinal].slotByName[property] else { return .constant(false) }
        return compiler.predicate(verb, slot: slot, of: ordinal)
    }
}

extension Permission {
    fileprivate init(_ node: PredicateNode) {
        if case .constant(let value) = node { self = value ? .always : .never } else { self = .depends }
    }
}
