import CoreDataPredicate
import CoreDataPrimitives
import Foundation

/// Evaluates the expressions of mappings, for one object.
///
///     $source.name
///     FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "BookToBook", $source.books)
struct MigrationExpressions {
    let manager: NSMigrationManager
    let mapping: NSEntityMapping
    var property: NSPropertyMapping?
    let policy: NSEntityMigrationPolicy
    var source: NSManagedObject?
    var destination: NSManagedObject?

    func value(of expression: NSExpression) throws -> Any? { try value(expression.node) }

    private func variable(_ name: String) throws -> Any? {
        switch name {
        case NSMigrationManagerKey: return manager
        case NSMigrationSourceObjectKey: return source
        case NSMigrationDestinationObjectKey: return destination
        case NSMigrationEntityMappingKey: return mapping
        case NSMigrationPropertyMappingKey: return property
        case NSMigrationEntityPolicyKey: return policy
        default: throw CoreDataErrors.policy("A mapping's expression has no variable '$\(name)'.")
        }
    }

    private func value(_ node: ExpressionNode) throws -> Any? {
        switch node {
        case .variable(let name): return try variable(name)
        case .keyPath(let operand, let keys): return try keys.reduce(value(operand)) { try Self.value(of: $0, key: $1) }
        case .message(let target, let selector, let arguments):
            return try call(selector, of: try value(target), arguments.map { try value($0) })
        case .aggregate(let elements): return try elements.map { try value($0) ?? NSNull() }
        case .evaluatedObject: return source
        default:
            var variables: [String: Any] = [:]
            variables[NSMigrationSourceObjectKey] = source
            variables[NSMigrationDestinationObjectKey] = destination
            variables[NSMigrationEntityMappingKey] = Self.keys(of: mapping)
            variables[NSMigrationPropertyMappingKey] = property.map { Self.keys(of: $0) }
            return NSExpression.make(node: node).expressionValue(
                with: source, context: NSMutableDictionary(dictionary: variables))
        }
    }

    private static func value(of object: Any?, key: String) throws -> Any? {
        switch object {
        case nil, is NSNull: return nil
        case let object as NSManagedObject:
            guard object.entity.propertiesByName[key] != nil else {
                throw CoreDataErrors.policy("The entity '\(object.entity.name ?? "")' has no property '\(key)'.")
            }
            return object.value(forKey: key)
        case let dictionary as [AnyHashable: Any]: return dictionary[key]
        case let mapping as NSEntityMapping: return try value(in: keys(of: mapping), key, of: "An entity mapping")
        case let mapping as NSPropertyMapping: return try value(in: keys(of: mapping), key, of: "A property mapping")
        case let manager as NSMigrationManager:
            return try value(
                in: [
                    "userInfo": manager.userInfo ?? NSNull(),
                    "migrationProgress": NSNumber(value: manager.migrationProgress),
                ], key, of: "A migration manager")
        case is NSEntityMigrationPolicy:
            throw CoreDataErrors.policy(
                "A mapping's expression asks '$entityPolicy' for the key '\(key)': FUNCTION($entityPolicy, \"\(key)\") calls the policy."
            )
        case let objects?:
            let members = Self.objects(objects)
            if key == "@count" { return members.count }
            return try members.compactMap { try value(of: $0, key: key) }
        }
    }

    /// What expressions may ask mappings for, with NSNull for nothing.
    private static func keys(of mapping: NSEntityMapping) -> [String: Any] {
        [
            "name": mapping.name ?? NSNull(), "sourceEntityName": mapping.sourceEntityName ?? NSNull(),
            "destinationEntityName": mapping.destinationEntityName ?? NSNull(),
            "mappingType": NSNumber(value: mapping.mappingType.rawValue), "userInfo": mapping.userInfo ?? NSNull(),
            "entityMigrationPolicyClassName": mapping.entityMigrationPolicyClassName ?? NSNull(),
            "sourceEntityVersionHash": mapping.sourceEntityVersionHash ?? NSNull(),
            "destinationEntityVersionHash": mapping.destinationEntityVersionHash ?? NSNull(),
        ]
    }

    private static func keys(of mapping: NSPropertyMapping) -> [String: Any] {
        ["name": mapping.name ?? NSNull(), "userInfo": mapping.userInfo ?? NSNull()]
    }

    private static func value(in keys: [String: Any], _ key: String, of what: String) throws -> Any? {
        guard let value = keys[key] else {
            throw CoreDataErrors.policy(
                "\(what) has no key '\(key)'; it has: \(keys.keys.sorted().joined(separator: ", ")).")
        }
        return value is NSNull ? nil : value
    }

    private func call(_ selector: String, of target: Any?, _ arguments: [Any?]) throws -> Any? {
        // Mapping models that people typed leave out the last colon.
        let selector = target is NSMigrationManager && !selector.hasSuffix(":") ? selector + ":" : selector
        switch (target, selector) {
        case (_, "valueForKey:"), (_, "valueForKeyPath:"):
            guard let path = arguments.first as? String else { return nil }
            return try path.split(separator: ".").reduce(target) { try Self.value(of: $0, key: String($1)) }
        case (is NSMigrationManager, "destinationInstancesForEntityMappingNamed:sourceInstances:"):
            guard arguments.count == 2, let name = arguments[0] as? String else { return nil }
            return manager.destinationInstances(forEntityMappingName: name, sourceInstances: Self.objects(arguments[1]))
        case (is NSMigrationManager, "destinationInstancesForSourceRelationshipNamed:sourceInstances:"):
            guard arguments.count == 2 else { return nil }
            let relationship = property?.name.flatMap { destination?.entity.relationshipsByName[$0] }
            return manager.destinations(of: Self.objects(arguments[1]), ofKind: relationship?.destinationEntity)
        case (is NSMigrationManager, "sourceInstancesForEntityMappingNamed:destinationInstances:"):
            guard arguments.count == 2, let name = arguments[0] as? String else { return nil }
            return manager.sourceInstances(forEntityMappingName: name, destinationInstances: Self.objects(arguments[1]))
        case (let policy as NSEntityMigrationPolicy, _):
            return try policy.value(ofFunction: selector, arguments: arguments)
        default:
            throw CoreDataErrors.policy(
                "A mapping's expression calls '\(selector)' of \(target.map { "a \(type(of: $0))" } ?? "nothing"), which is not possible; give it to the policy."
            )
        }
    }

    /// Returns the managed objects of a value: the value itself, or the members of a collection, in order if it is
    /// ordered.
    static func objects(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let object as NSManagedObject: [object]
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as NSSet:
            set.allObjects.compactMap { $0 as? NSManagedObject }.sorted {
                ($0.runtime.root, $0.primaryKey) < ($1.runtime.root, $1.primaryKey)
            }
        case let set as Set<NSManagedObject>: Array(set)
        case let array as [Any]: array.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}
