import CoreDataPrimitives
import Foundation

/// Migrates the objects of one entity mapping; subclass it for what expressions cannot say.
///
///     final class BookPolicy: NSEntityMigrationPolicy {
///         override func createDestinationInstances(
///             forSource book: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
///         ) throws {
///             try super.createDestinationInstances(forSource: book, in: mapping, manager: manager)
///             …
///         }
///     }
///     mapping.entityMigrationPolicyClassName = "BookPolicy"
///
/// The manager calls, for each mapping in order, `begin`, `createDestinationInstances` for each source object and
/// `endInstanceCreation`; then, again for each mapping, `createRelationships` for each destination object and
/// `endRelationshipCreation`; then `performCustomValidation` and `end`.
open class NSEntityMigrationPolicy: NSObject {
    /// The manager makes policies by name.
    public required override init() { super.init() }

    /// Called before the first object of the mapping.
    open func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {}

    /// Makes what becomes of a source object: an object of the mapping's destination entity, with the values of the
    /// attribute
    /// mappings, that is associated with the source object.
    open func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        guard let entity = manager.destinationEntity(for: mapping) else { return }
        guard manager.destinationContext.persistentStoreCoordinator != nil else {
            throw CoreDataErrors.policy(
                "Objects of '\(entity.name ?? "")' are made while their manager migrates a store.")
        }
        try checkReadable(sInstance, for: entity)
        let made = NSEntityDescription.insertNewObject(
            forEntityName: entity.name ?? "", into: manager.destinationContext)
        let attributes = entity.attributesByName
        let plain = manager.plainMappings(of: mapping, from: sInstance, to: made)
        let unmapped =
            plain?.unmappedElements ?? UnmappedElement.all(of: mapping, from: sInstance.runtime, to: made.runtime)
        let unmappedValues = unmapped.map { made.attributeValue($0.slot) }
        if let mappings = mapping.attributeMappings {
            for (index, property) in mappings.enumerated() {
                if case .copy(let from, let to)? = plain?.attributes[index] {
                    sInstance.fireIfNeeded(slot: from)
                    made.setAttribute(sInstance.attributeValue(from), to)
                    continue
                }
                guard let name = property.name, let expression = property.valueExpression else { continue }
                let slot = made.runtime.slot(forKey: name)
                let isElement = slot.map { made.runtime.slots[$0].property.composite != nil } ?? false
                guard let attribute = attributes[isElement ? String(name.prefix { $0 != "." }) : name] else {
                    throw CoreDataErrors.policy(
                        "The entity '\(entity.name ?? "")' has no attribute '\(name)', which the mapping '\(mapping.name ?? "")' sets."
                    )
                }
                if attribute is NSDerivedAttributeDescription { continue }
                let value = try MigrationExpressions(
                    manager: manager, mapping: mapping, property: property, policy: self, source: sInstance,
                    destination: made
                ).value(of: expression)
                if let value, let slot, !made.accepts(value, slot) {
                    throw CoreDataErrors.policy(
                        "The mapping '\(mapping.name ?? "")' gives the attribute '\(name)' of '\(entity.name ?? "")' a value of another type: \(value), a \(Swift.type(of: value))."
                    )
                }
                // An expression's NSNull is nil.
                made.setValue(value is NSNull ? nil : value, forKey: name)
            }
        } else {
            for (name, attribute) in sInstance.entity.attributesByName {
                guard let own = attributes[name], own.attributeType == attribute.attributeType, !own.isTransient,
                    !(own is NSDerivedAttributeDescription)
                else { continue }
                let value = sInstance.value(forKey: name)
                if let value, let slot = made.runtime.slot(forKey: name), !made.accepts(value, slot) {
                    throw CoreDataErrors.policy(
                        "The attribute '\(name)' of '\(entity.name ?? "")' has other elements than before: give the mapping '\(mapping.name ?? "")' attribute mappings for '\(name).element'."
                    )
                }
                made.setValue(value, forKey: name)
            }
        }
        made.setUnmappedElements(unmapped, unmappedValues)
        manager.associate(sourceInstance: sInstance, withDestinationInstance: made, for: mapping)
    }

    /// Checks that all values of a source object can be read. Unreadable values would be nil in the new object, and
    /// lost.
    ///
    /// - Throws: 134170, which names an existing value that cannot be read, unless the new entity has no such
    ///   attribute.
    private func checkReadable(_ source: NSManagedObject, for entity: NSEntityDescription) throws {
        func isKept(_ name: String) -> Bool {
            entity.attributesByName.values.contains { $0.name == name || $0.renamingIdentifier == name }
        }
        for (slot, info) in source.runtime.slots.enumerated()
        where info.type == .transformable || info.attribute?.allowsExternalBinaryDataStorage == true {
            source.fireIfNeeded(slot: slot)
            guard info.column >= 0, let row = source.row, !row.isNull(info.column) || row.isUnreadable(info.column),
                source.value(forKey: info.name) == nil, isKept(info.name)
            else { continue }
            throw CoreDataErrors.policy(
                "'\(info.name)' of \(source.runtime.name) \(source.primaryKey) is there and cannot be read: it would be lost. Put back its file, or register its transformer, or set it to another value first."
            )
        }
    }

    /// Called when all source objects of the mapping have become something.
    open func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Gives a destination object the members of the relationship mappings.
    open func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let relationships = dInstance.entity.relationshipsByName
        let source = manager.sourceInstances(
            forEntityMappingName: mapping.name ?? "", destinationInstances: [dInstance]
        ).first
        let plain = source.flatMap { manager.plainMappings(of: mapping, from: $0, to: dInstance) }
        for (index, property) in (mapping.relationshipMappings ?? []).enumerated() {
            if let source, let step = plain?.relationships[index],
                try manager.relate(dInstance, step, of: source, mapping)
            {
                continue
            }
            guard let name = property.name, let expression = property.valueExpression else { continue }
            guard let relationship = relationships[name] else {
                throw CoreDataErrors.policy(
                    "The entity '\(dInstance.entity.name ?? "")' has no relationship '\(name)', which the mapping '\(mapping.name ?? "")' sets."
                )
            }
            let value = try MigrationExpressions(
                manager: manager, mapping: mapping, property: property, policy: self, source: source,
                destination: dInstance
            ).value(of: expression)
            let members = MigrationExpressions.objects(value)
            if let entity = relationship.destinationEntity,
                let other = members.first(where: { !$0.entity.isKindOf(entity: entity) })
            {
                throw CoreDataErrors.wrongMember(other, of: dInstance, name, wanted: entity.name ?? "", by: mapping)
            }
            if !relationship.isToMany {
                dInstance.setValue(members.first, forKey: name)
            } else if relationship.isOrdered {
                dInstance.setValue(NSOrderedSet(array: members), forKey: name)
            } else {
                dInstance.setValue(NSSet(array: members), forKey: name)
            }
        }
    }

    /// Called when all destination objects of the mapping have their members.
    open func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Override it to check the result; an error that it throws ends the migration.
    open func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// Called in the end.
    open func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {}

    /// What `FUNCTION($entityPolicy, "name", …)` in a mapping's expressions gives.
    ///
    ///     override func value(ofFunction name: String, arguments: [Any?]) throws -> Any? {
    ///         name == "initialsOf:" ? initials(of: arguments[0] as? String) : try super.value(ofFunction: name, arguments: arguments)
    ///     }
    ///
    /// Differs from Apple: there a method of that name is called, which Swift cannot find here.
    open func value(ofFunction name: String, arguments: [Any?]) throws -> Any? {
        throw CoreDataErrors.policy(
            "\(type(of: self)) has no function '\(name)'; override value(ofFunction:arguments:) to give it one.")
    }
}

extension CoreDataErrors {
    /// The error for a mapping that gives a relationship an object of another entity than its destination.
    static func wrongMember(
        _ member: NSManagedObject, of object: NSManagedObject, _ relationship: String, wanted: String,
        by mapping: NSEntityMapping
    ) -> any Error {
        policy(
            "The mapping '\(mapping.name ?? "")' gives the relationship '\(relationship)' of '\(object.entity.name ?? "")' an object of '\(member.entity.name ?? "")', not of '\(wanted)'."
        )
    }
}
