extension AccessRules {
    /// The rules of one entity, or of one property that has rules of its own.
    ///
    ///     for row in rules.rows { print(row.entity, row.property ?? "", row.rules[.read] ?? "") }
    public struct Row: Sendable, Hashable {
        /// The name of the entity.
        public var entity: String
        /// The name of the property; `nil` for the entity itself.
        public var property: String?
        /// The path of the account that owns an object, if there is one.
        public var owner: String?
        /// The path of an object's group, if there is one.
        public var group: String?
        /// The text of each rule. An entity has all four; a rule that the model does not mention is closed.
        public var rules: [AccessVerb: String]
    }

    /// The rules of all entities by name, each followed by those of its properties, for pages and documents.
    ///
    ///     rules.rows.filter { $0.rules[.read] == "anyone" }.map(\.entity)
    public var rows: [Row] {
        ruleSet.model.entities.sorted { $0.name < $1.name }.flatMap { entity in
            let own = ruleSet.entities[entity.ordinal]
            let verbs = AccessVerb.allCases.map { ($0, own.rules[$0]?.text ?? Rule.closed) }
            let first = Row(
                entity: entity.name, owner: own.owner?.joined(separator: "."), group: own.group?.joined(separator: "."),
                rules: Dictionary(uniqueKeysWithValues: verbs))
            let properties = entity.properties.filter { own.properties[$0.slot] != nil && $0.composite == nil }
            return [first]
                + properties.sorted { $0.name < $1.name }.map { property in
                    Row(
                        entity: entity.name, property: property.name,
                        rules: (own.properties[property.slot] ?? [:]).mapValues(\.text))
                }
        }
    }

    /// The rows as a table in Markdown.
    ///
    ///     print(rules.table)
    ///     // | Entity | Read | Create | Update | Delete | Owner | Group |
    ///     // | --- | --- | --- | --- | --- | --- | --- |
    ///     // | Item | group | group | role:editor | role:owner |  | list.household |
    public var table: String {
        let head = ["Entity"] + AccessVerb.allCases.map(\.rawValue.capitalized) + ["Owner", "Group"]
        let body = rows.map { row in
            [row.property.map { "\(row.entity).\($0)" } ?? row.entity] + AccessVerb.allCases.map { row.rules[$0] ?? "" }
                + [row.owner ?? "", row.group ?? ""]
        }
        return ([head, head.map { _ in "---" }] + body).map { cells in
            "| " + cells.map { $0.replacing("|", with: "\\|") }.joined(separator: " | ") + " |\n"
        }.joined()
    }
}
