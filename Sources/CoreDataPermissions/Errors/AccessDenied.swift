import Foundation

/// A change that the rules do not allow. Nothing was written, and the context keeps its changes.
///
///     do { try context.save() } catch let denied as AccessDenied {
///         print(denied)   // Item.price may not be updated: its rule is "role:owner".
///     }
///
/// Saves and batch requests throw it.
public struct AccessDenied: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What was tried.
    public var verb: AccessVerb
    /// The entity of the object.
    public var entity: String
    /// The property, if its rule refused.
    public var property: String?
    /// The text of the rule.
    public var rule: String
    /// Whether the object as it would become was refused, and not as it was.
    public var isNew: Bool
    /// A reason besides the rule's text.
    var reason: String?

    init(
        _ verb: AccessVerb, _ entity: String, property: String? = nil, rule: String, isNew: Bool = false,
        reason: String? = nil
    ) {
        self.verb = verb
        self.entity = entity
        self.property = property
        self.rule = rule
        self.isNew = isNew
        self.reason = reason
    }

    /// One sentence with all parts.
    public var description: String {
        let name = property.map { "\(entity).\($0)" } ?? entity
        let what = isNew && verb == .update ? "may not be updated to such values" : "may not be \(verb.participle)"
        return "\(name) \(what): " + (reason ?? "its rule is \"\(rule)\"") + "."
    }
    /// The refusal, for people.
    public var errorDescription: String? { description }
}

extension AccessVerb {
    fileprivate var participle: String {
        switch self {
        case .read: "read"
        case .create: "created"
        case .update: "updated"
        case .delete: "deleted"
        }
    }
}

/// A context, store or request that cannot be restricted.
///
///     try context.restrict(to: rules, as: accessor)
///     // AccessError: the store 'notes.xml' is of type XML, …
public struct AccessError: LocalizedError, Sendable, Hashable, CustomStringConvertible {
    /// What cannot be done, and what to do.
    public var reason: String

    /// The reason.
    public var description: String { reason }
    /// The reason, for people.
    public var errorDescription: String? { reason }
}
