extension AccessRules {
    /// Collects rules in code; see ``AccessRules/init(_:_:)``.
    ///
    ///     try AccessRules(model) { rules in
    ///         rules.owner("author", of: "Note")
    ///         for verb in AccessVerb.allCases { rules.allow(verb, "Note", "owner") }
    ///     }
    ///
    /// It checks nothing: mistakes are errors of the initialiser.
    public struct Builder {
        /// The texts of entities, by entity and key.
        var entities: [String: [String: String]] = [:]
        /// The texts of properties, by entity, property and key.
        var properties: [String: [String: [String: String]]] = [:]

        /// Sets the rule of an entity.
        ///
        ///     rules.allow(.update, "Item", "role:owner, role:editor")
        public mutating func allow(_ verb: AccessVerb, _ entity: String, _ rule: String) {
            entities[entity, default: [:]][verb.key] = rule
        }

        /// Sets the rule of a property, for ``AccessVerb/read`` or ``AccessVerb/update``.
        ///
        ///     rules.allow(.read, "price", of: "Item", "owner")
        public mutating func allow(_ verb: AccessVerb, _ property: String, of entity: String, _ rule: String) {
            properties[entity, default: [:]][property, default: [:]][verb.key] = rule
        }

        /// Sets the path of the account that owns an object.
        ///
        ///     rules.owner("list.owner", of: "Item")
        public mutating func owner(_ path: String, of entity: String) {
            entities[entity, default: [:]][RuleReader.ownerKey] = path
        }

        /// Sets the path of the group to which an object belongs.
        ///
        ///     rules.group("list.household", of: "Item")
        public mutating func group(_ path: String, of entity: String) {
            entities[entity, default: [:]][RuleReader.groupKey] = path
        }
    }
}
