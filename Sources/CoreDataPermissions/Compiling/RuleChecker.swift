import CoreDataModel
import CoreDataPredicate

/// Checks that the paths of rules exist in the model, and that a store has their values.
struct RuleChecker {
    typealias Mistake = RuleParser.Mistake

    let model: CompiledModel

    /// The variables of rules.
    static let variables = ["user", "groups", "role"]

    // MARK: Paths of owners and groups

    /// Returns the names of the path.
    ///
    /// - Throws: a mistake if it does not lead over to-ones to a UUID.
    func path(_ text: String, of entity: Int) throws(Mistake) -> [String] {
        let names = text.trimmed.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        var current = model.entities[entity]
        for (index, name) in names.enumerated() {
            guard let property = current.property(named: name) else {
                throw Mistake(reason: "'\(name)' is no property of entity '\(current.name)'", advice: existing(current))
            }
            let isLast = index == names.count - 1
            if isLast {
                guard property.attribute?.type.kind == .identifier, !property.isTransient else {
                    throw Mistake(
                        reason: "'\(name)' of entity '\(current.name)' is no stored UUID attribute",
                        advice:
                            "Write a path that ends with an attribute of type UUID, which holds the account or group")
                }
                break
            }
            guard let relationship = property.relationship, !relationship.isToMany, !property.isTransient else {
                throw Mistake(
                    reason: "'\(name)' of entity '\(current.name)' is no to-one relationship",
                    advice: "Write a path over to-one relationships to an attribute of type UUID")
            }
            current = model.entities[relationship.destination]
        }
        return names
    }

    private func existing(_ entity: CompiledEntity) -> String {
        "Write a path over the properties of '\(entity.name)': \(entity.namesInModel.joined(separator: ", "))"
    }

    // MARK: Predicates

    /// The entity to which an expression leads; `nil` for a value.
    private typealias Destination = Int?

    func check(_ predicate: PredicateNode, of entity: Int) throws(Mistake) {
        try check(predicate, entity, [:])
    }

    private func check(_ node: PredicateNode, _ entity: Int, _ bound: [String: Int]) throws(Mistake) {
        switch node {
        case .constant: break
        case .comparison(let comparison):
            if comparison.comparator == .customSelector { throw Self.unsupported("a selector") }
            _ = try destination(comparison.left, entity, bound)
            _ = try destination(comparison.right, entity, bound)
        case .and(let parts), .or(let parts):
            for part in parts { try check(part, entity, bound) }
        case .not(let part): try check(part, entity, bound)
        case .block: throw Self.unsupported("code")
        }
    }

    private static func unsupported(_ what: String) -> Mistake {
        Mistake(
            reason: "a rule cannot contain \(what)", advice: "Compare values of the object, $user, $groups and $role")
    }

    private func destination(
        _ expression: ExpressionNode, _ entity: Int, _ bound: [String: Int]
    ) throws(Mistake) -> Destination {
        switch expression {
        case .constant: return nil
        case .evaluatedObject: return entity
        case .variable(let name):
            if let member = bound[name] { return member }
            guard Self.variables.contains(name) else {
                throw Mistake(
                    reason: "'$\(name)' has no value",
                    advice: "Write one of $\(Self.variables.joined(separator: ", $"))")
            }
            return nil
        case .keyPath(let operand, let keys):
            guard let start = try destination(operand, entity, bound) else {
                throw Mistake(
                    reason: "a path goes on after a value", advice: "Write a path that begins with a property")
            }
            return try follow(keys[...], from: start)
        case .function(_, let arguments), .aggregate(let arguments):
            for argument in arguments { _ = try destination(argument, entity, bound) }
            return nil
        case .union(let a, let b), .intersection(let a, let b), .difference(let a, let b):
            _ = try destination(a, entity, bound)
            return try destination(b, entity, bound)
        case .conditional(let condition, let a, let b):
            try check(condition, entity, bound)
            let first = try destination(a, entity, bound)
            return try destination(b, entity, bound) ?? first
        case .subquery(let collection, let variable, let node):
            guard let member = try destination(collection, entity, bound) else {
                throw Mistake(reason: "SUBQUERY needs a to-many relationship", advice: "Write a path to one")
            }
            if Self.variables.contains(variable) {
                throw Mistake(
                    reason: "SUBQUERY cannot use the name $\(variable)", advice: "Write another name, such as $x")
            }
            try check(node, entity, bound.merging([variable: member]) { _, new in new })
            return member
        case .anyKey, .message, .assignment, .fetch, .block: throw Self.unsupported(expression.predicateFormat)
        }
    }

    private func follow(_ keys: ArraySlice<String>, from entity: Int) throws(Mistake) -> Destination {
        guard let name = keys.first else { return entity }
        let current = model.entities[entity]
        if name == "self" || name == "SELF" || name == "objectID" { return try follow(keys.dropFirst(), from: entity) }
        if name == "entity" || name == "@count" { return nil }
        if name.hasPrefix("@") { return try follow(keys.dropFirst(), from: entity) }
        guard let (property, rest) = current.property(at: keys) else {
            throw Mistake(reason: "'\(name)' is no property of entity '\(current.name)'", advice: existing(current))
        }
        switch property.kind {
        case .attribute where property.isStored: return nil
        case .relationship(let relationship) where !property.isTransient:
            return try follow(rest, from: relationship.destination)
        case .attribute, .relationship, .fetched:
            throw Mistake(
                reason: "'\(name)' of entity '\(current.name)' is in no store",
                advice: "Write a path over stored properties")
        }
    }
}
