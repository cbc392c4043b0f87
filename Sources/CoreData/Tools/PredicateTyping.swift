import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Converts the constants of a predicate to the types with which they are compared.
///
/// In text, dates, UUIDs, bytes and objects are written as texts; the other side of a comparison determines the type:
///
///     day > '2024-05-01'           // a date, as day is one
///     unit == 'Unit/p3'            // an object
///     SUBQUERY(items, $i, $i.day == '2024-05-01').@count > 0
///
/// Keys are found without regard to case if no key has the exact spelling.
package struct PredicateTyping {
    /// The subject with which a constant is compared.
    package enum Subject {
        case attribute(NSAttributeDescription)
        /// An object of that entity, or a relationship to it.
        case object(NSEntityDescription)
    }

    /// Converts a text or number to the value that it represents; `nil` leaves it unchanged.
    package typealias Reader = (_ constant: Any, _ subject: Subject) throws -> Any?

    private let read: Reader

    /// Returns the predicate with converted constants.
    ///
    /// - Throws: the errors of the reader.
    package static func read(
        _ predicate: NSPredicate, of entity: NSEntityDescription, _ read: @escaping Reader
    ) throws -> NSPredicate {
        let typing = PredicateTyping(read: read)
        let node = predicate.node.foldingConstants()
        return NSPredicate.make(node: try typing.predicate(node, Scope(entity: entity)))
    }

    /// What `SELF` and the variables are.
    private struct Scope {
        var entity: NSEntityDescription?
        var variables: [String: NSEntityDescription] = [:]
    }

    // MARK: Predicates

    private func predicate(_ node: PredicateNode, _ scope: Scope) throws -> PredicateNode {
        switch node {
        case .constant, .block: return node
        case .and(let parts): return .and(try parts.map { try predicate($0, scope) })
        case .or(let parts): return .or(try parts.map { try predicate($0, scope) })
        case .not(let part): return .not(try predicate(part, scope))
        case .comparison(var comparison):
            let left = try expression(comparison.left, scope)
            let right = try expression(comparison.right, scope)
            comparison.left = left.node
            comparison.right = right.node
            guard !Self.comparesText(comparison.comparator) else { return .comparison(comparison) }
            if let subject = left.subject { comparison.right = try constants(right.node, subject) }
            if let subject = right.subject { comparison.left = try constants(left.node, subject) }
            return .comparison(comparison)
        }
    }

    private static func comparesText(_ comparator: PredicateNode.Comparator) -> Bool {
        switch comparator {
        case .beginsWith, .endsWith, .like, .matches, .customSelector: true
        case .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo, .equalTo, .notEqualTo, .in, .contains,
            .between:
            false
        }
    }

    private func constants(_ node: ExpressionNode, _ subject: Subject) throws -> ExpressionNode {
        switch node {
        case .constant(let constant): return .constant(try self.constant(constant, subject))
        case .aggregate(let parts): return .aggregate(try parts.map { try constants($0, subject) })
        case .conditional(let condition, let a, let b):
            return .conditional(condition, try constants(a, subject), try constants(b, subject))
        case .evaluatedObject, .variable, .keyPath, .anyKey, .function, .message, .union, .intersection, .difference,
            .subquery, .assignment, .fetch, .block:
            return node
        }
    }

    private func constant(_ constant: Constant, _ subject: Subject) throws -> Constant {
        switch constant {
        case .value(let value):
            switch value {
            case .string, .integer, .double, .decimal:
                guard let plain = OperandBridging.any(from: value), let typed = try read(plain, subject) else {
                    return constant
                }
                return OperandBridging.constant(typed)
            case .null, .date, .data, .uuid(_), .uri(_), .opaque: return constant
            }
        case .collection(let members, let isOrdered):
            return .collection(try members.map { try self.constant($0, subject) }, isOrdered: isOrdered)
        case .object, .key, .dictionary, .symbol: return constant
        }
    }

    // MARK: Expressions

    private typealias Typed = (node: ExpressionNode, subject: Subject?)

    private func expression(_ node: ExpressionNode, _ scope: Scope) throws -> Typed {
        func part(_ node: ExpressionNode) throws -> ExpressionNode { try expression(node, scope).node }
        switch node {
        case .constant, .anyKey, .block: return (node, nil)
        case .evaluatedObject: return (node, scope.entity.map(Subject.object))
        case .variable(let name): return (node, scope.variables[name].map(Subject.object))
        case .keyPath(let operand, let keys):
            let operand = try expression(operand, scope)
            let found = path(keys, of: operand.subject)
            return (.keyPath(operand: operand.node, found.keys), found.subject)
        case .subquery(let collection, let variable, let condition):
            let members = try expression(collection, scope)
            var inner = scope
            if case .object(let entity)? = members.subject { inner.variables[variable] = entity }
            let predicate = try predicate(condition, inner)
            return (.subquery(members.node, variable: variable, predicate), members.subject)
        case .function(let name, let arguments): return (.function(name, try arguments.map(part)), nil)
        case .message(let target, let selector, let arguments):
            return (.message(target: try part(target), selector: selector, try arguments.map(part)), nil)
        case .aggregate(let parts): return (.aggregate(try parts.map(part)), nil)
        case .union(let a, let b): return (.union(try part(a), try part(b)), nil)
        case .intersection(let a, let b): return (.intersection(try part(a), try part(b)), nil)
        case .difference(let a, let b): return (.difference(try part(a), try part(b)), nil)
        case .conditional(let condition, let a, let b):
            let first = try expression(a, scope)
            return (.conditional(try predicate(condition, scope), first.node, try part(b)), first.subject)
        case .assignment(let variable, let value): return (.assignment(variable: variable, try part(value)), nil)
        case .fetch: return (node, nil)
        }
    }

    /// Returns the keys in the model's spelling, and the subject at the end of the path.
    private func path(_ keys: [String], of subject: Subject?) -> (keys: [String], subject: Subject?) {
        var subject = subject
        var keys = keys
        for (index, key) in keys.enumerated() {
            if case .attribute(let composite as NSCompositeAttributeDescription)? = subject {
                guard let element = Self.property(key, among: composite.elements) else { return (keys, nil) }
                keys[index] = element.name
                subject = .attribute(element)
                continue
            }
            guard case .object(let entity)? = subject else { return (keys, nil) }
            switch key {
            case "self", "objectID", "@min", "@max", "@unionOfObjects", "@distinctUnionOfObjects": continue
            case _ where key.hasPrefix("@"): return (keys, nil)
            default: break
            }
            guard let property = Self.property(key, of: entity) else { return (keys, nil) }
            keys[index] = property.name
            switch property {
            case let attribute as NSAttributeDescription: subject = .attribute(attribute)
            case let relationship as NSRelationshipDescription:
                subject = relationship.destinationEntity.map(Subject.object)
            default: subject = nil
            }
        }
        return (keys, subject)
    }

    private static func property(_ key: String, of entity: NSEntityDescription) -> NSPropertyDescription? {
        entity.propertiesByName[key] ?? property(key, among: Array(entity.propertiesByName.values))
    }

    private static func property<Property: NSPropertyDescription>(
        _ key: String, among properties: [Property]
    ) -> Property? {
        if let property = properties.first(where: { $0.name == key }) { return property }
        let alike = properties.filter { $0.name.lowercased() == key.lowercased() }
        return alike.count == 1 ? alike[0] : nil
    }
}
