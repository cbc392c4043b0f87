import CoreDataModel

/// Finds mistakes that concern several rules of a model.
struct RuleSetChecks {
    typealias Problem = AccessRuleError.Problem

    private let ruleSet: RuleSet
    private var model: CompiledModel { ruleSet.model }

    init(_ ruleSet: RuleSet) { self.ruleSet = ruleSet }

    var problems: [Problem] {
        model.entities.flatMap { pathProblems($0) + inverseProblems($0) + constraintProblems($0) }
    }

    // MARK: Words that need a path

    private func pathProblems(_ entity: CompiledEntity) -> [Problem] {
        let own = ruleSet.entities[entity.ordinal]
        var problems: [Problem] = []
        func check(_ rules: [AccessVerb: Rule], _ property: String?) {
            for (verb, rule) in rules.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                let needed = needs(rule)
                for (word, isNeeded, key, path) in [
                    ("owner", needed.owner, RuleReader.ownerKey, own.owner),
                    ("group", needed.group, RuleReader.groupKey, own.group),
                ] where isNeeded && path == nil {
                    problems.append(
                        Problem(
                            entity: entity.name, property: property, key: verb.key, text: rule.text,
                            reason: "the rule needs the \(word) of an object, and the entity has no \(key)",
                            advice: "Write \(key) with the path of a UUID attribute, such as \(word) or list.\(word)"))
                }
            }
        }
        check(own.rules, nil)
        for (slot, rules) in own.properties.sorted(by: { $0.key < $1.key }) {
            check(rules, entity.properties[slot].name)
        }
        return problems
    }

    private func needs(_ rule: Rule) -> (owner: Bool, group: Bool) {
        var needed = (owner: false, group: false)
        for clause in rule.clauses {
            switch clause {
            case .owner: needed.owner = true
            case .group, .role: needed.group = true
            case .predicate(let node): needed.group = needed.group || node.freeVariables.contains("role")
            case .nobody, .anyone, .signedIn, .administrator: break
            }
        }
        return needed
    }

    // MARK: Both sides of a relationship

    /// A relationship that is hidden on one side can be read on the other.
    private func inverseProblems(_ entity: CompiledEntity) -> [Problem] {
        ruleSet.entities[entity.ordinal].properties.sorted { $0.key < $1.key }.compactMap { slot, rules in
            let property = entity.properties[slot]
            guard let rule = rules[.read], property.declaringEntity == entity.ordinal,
                let relationship = property.relationship, let inverse = relationship.inverseSlot,
                ruleSet.entities[relationship.destination].properties[inverse]?[.read] == nil
            else { return nil }
            let other = model.entities[relationship.destination]
            let name = other.properties[inverse].name
            return Problem(
                entity: entity.name, property: property.name, key: AccessVerb.read.key, text: rule.text,
                reason: "the inverse '\(name)' of entity '\(other.name)' has no rule, and reveals the relationship",
                advice: "Write \(AccessVerb.read.key) for '\(name)' of '\(other.name)', too")
        }
    }

    // MARK: Uniqueness

    /// A value that must be unique reveals by a refused save that a hidden object has it.
    private func constraintProblems(_ entity: CompiledEntity) -> [Problem] {
        let readers = entity.subtree.map { ruleSet.entities[$0] }
        let hides = readers.contains { $0.rules[.read]?.isOpen != true }
        let isWritten = readers.contains { own in
            [AccessVerb.create, .update].contains { verb in
                own.rules[verb].map { !$0.clauses.allSatisfy { if case .nobody = $0 { true } else { false } } } ?? false
            }
        }
        guard hides, isWritten else { return [] }
        let own = ruleSet.entities[entity.ordinal]
        let scopes = [own.group?.first, own.owner?.first].compactMap { $0 }
        return entity.uniquenessConstraints.compactMap { slots in
            let properties = slots.map { entity.properties[$0] }
            // A UUID cannot be guessed.
            if properties.contains(where: { $0.attribute?.type.kind == .identifier || scopes.contains($0.name) }) {
                return nil
            }
            let names = properties.map(\.name).joined(separator: ", ")
            return Problem(
                entity: entity.name, key: AccessVerb.read.key, text: ruleSet.text(.read, entity.ordinal),
                reason: "the uniqueness constraint (\(names)) reveals values of objects that an accessor may not read",
                advice: scopes.isEmpty
                    ? "Write the rule anyone, or remove the constraint"
                    : "Write \(scopes.joined(separator: " or ")) into the constraint, too")
        }
    }
}
