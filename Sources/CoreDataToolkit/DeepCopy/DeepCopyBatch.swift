import CoreData
import Foundation

/// Some objects of one entity that are being copied to the destination.
struct DeepCopyBatch {
    let plan: DeepCopyPlan
    /// The destination's context.
    let context: NSManagedObjectContext
    let skipsUnidentified: Bool
    private(set) var counts: [String: ImportSummary.Counts] = [:]
    private(set) var skipped = 0
    /// The found or created copies, by identifying values.
    private var copies: [ObjectKey: NSManagedObject] = [:]
    /// The keys that were looked up, found or not.
    private var lookedUp: Set<ObjectKey> = []
    private var made: Set<ObjectIdentifier> = []
    private var changed: Set<ObjectIdentifier> = []
    /// Source objects whose copies are being made as owned objects.
    private var inside: Set<ObjectIdentifier> = []

    init(plan: DeepCopyPlan, context: NSManagedObjectContext, skipsUnidentified: Bool) {
        self.plan = plan
        self.context = context
        self.skipsUnidentified = skipsUnidentified
    }

    mutating func copy(_ objects: [NSManagedObject]) throws {
        try find(objects)
        for object in objects {
            guard let entity = plan.entities[object.entity.name ?? ""] else { continue }
            guard let copy = try self.copy(of: object) else {
                skipped += 1
                continue
            }
            setAttributes(of: copy, as: object, entity)
            for relationship in entity.relationships { try set(relationship, of: copy, as: object) }
        }
    }

    // MARK: Finding

    /// Looks up all copies that the objects need, with one statement per entity and portion of values.
    private mutating func find(_ objects: [NSManagedObject]) throws {
        var wanted: [String: [ObjectKey: Any]] = [:]
        func note(_ object: NSManagedObject) throws {
            guard let entity = plan.entities[object.entity.name ?? ""], let first = entity.uniques.first,
                let key = try key(of: object, entity), let value = object.value(forKey: first)
            else { return }
            wanted[entity.name, default: [:]][key] = value
        }
        for object in objects {
            try note(object)
            for relationship in plan.entities[object.entity.name ?? ""]?.relationships ?? []
            where !relationship.isOwned {
                for member in Self.members(of: object, relationship) { try note(member) }
            }
        }
        for (name, values) in wanted { try find(values, of: name) }
    }

    private mutating func find(_ values: [ObjectKey: Any], of name: String) throws {
        guard let entity = plan.entities[name], let first = entity.uniques.first else { return }
        let all = Array(values.values)
        lookedUp.formUnion(values.keys)
        for start in stride(from: 0, to: all.count, by: Importer.portion) {
            let request = NSFetchRequest<NSManagedObject>(entityName: name)
            let part = Array(all[start..<min(start + Importer.portion, all.count)])
            request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [first, part])
            // If several objects have the values, the oldest is used.
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            request.returnsObjectsAsFaults = false
            for object in try context.fetch(request) where object.entity.name == name {
                guard let key = try key(of: object, entity), values[key] != nil, copies[key] == nil else { continue }
                copies[key] = object
            }
        }
    }

    /// Returns the identifying values of the object; `nil` if one of them is missing.
    private func key(of object: NSManagedObject, _ entity: DeepCopyPlan.Entity) throws -> ObjectKey? {
        let values = entity.uniques.compactMap { object.value(forKey: $0) }
        guard values.count == entity.uniques.count, !values.isEmpty else {
            guard skipsUnidentified else {
                throw ToolkitError(
                    """
                    \(object.objectID.uriRepresentation().absoluteString) has no value for \
                    \(entity.uniques.joined(separator: " and ")), which tells objects of \(entity.name) apart; give it one, or \
                    set skipsUnidentified.
                    """)
            }
            return nil
        }
        return ObjectKey(entity: entity.name, parts: values.map(ObjectKey.Part.init))
    }

    // MARK: Copying

    /// Returns the copy of a source object, found or created; a created one has its attributes.
    private mutating func copy(of object: NSManagedObject) throws -> NSManagedObject? {
        guard let entity = plan.entities[object.entity.name ?? ""], let key = try key(of: object, entity) else {
            return nil
        }
        if let copy = copies[key] { return copy }
        if !lookedUp.contains(key), let first = entity.uniques.first, let value = object.value(forKey: first) {
            try find([key: value], of: entity.name)
            if let copy = copies[key] { return copy }
        }
        let copy = try make(object, entity)
        copies[key] = copy
        return copy
    }

    private mutating func make(
        _ object: NSManagedObject, _ entity: DeepCopyPlan.Entity
    ) throws -> NSManagedObject {
        guard let description = plan.destination.entitiesByName[entity.name] else {
            throw ToolkitError("The model of the destination has no entity '\(entity.name)'.")
        }
        let copy = NSManagedObject(entity: description, insertInto: context)
        made.insert(ObjectIdentifier(copy))
        counts[entity.name, default: .init()].created += 1
        setAttributes(of: copy, as: object, entity)
        return copy
    }

    private mutating func setAttributes(
        of copy: NSManagedObject, as object: NSManagedObject, _ entity: DeepCopyPlan.Entity
    ) {
        for name in entity.attributes {
            let value = object.value(forKey: name)
            guard !ImportBatch.isSame(copy.value(forKey: name), value) else { continue }
            copy.setValue(value, forKey: name)
            note(copy)
        }
    }

    private mutating func set(
        _ relationship: DeepCopyPlan.Relationship, of copy: NSManagedObject, as object: NSManagedObject
    ) throws {
        let members = Self.members(of: object, relationship)
        let current = Self.members(of: copy, relationship)
        if relationship.isOwned { return try setOwned(members.first, current.first, relationship, of: copy) }
        var targets: [NSManagedObject] = []
        var seen: Set<ObjectIdentifier> = []
        for member in members {
            guard let target = try self.copy(of: member) else {
                skipped += 1
                continue
            }
            if seen.insert(ObjectIdentifier(target)).inserted { targets.append(target) }
        }
        let isSame =
            relationship.isOrdered ? current.elementsEqual(targets, by: ===) : Set(current) == Set(targets)
        guard !isSame else { return }
        let value: NSObject? =
            !relationship.isToMany
            ? targets.first : relationship.isOrdered ? NSOrderedSet(array: targets) : NSSet(array: targets)
        copy.setValue(value, forKey: relationship.name)
        note(copy)
        let before = Set(current.map(ObjectIdentifier.init))
        counts[copy.entity.name ?? "", default: .init()].linked += targets.count {
            !before.contains(ObjectIdentifier($0))
        }
    }

    /// Sets an owned object: the copy's existing one is updated, or one is created.
    private mutating func setOwned(
        _ object: NSManagedObject?, _ current: NSManagedObject?, _ relationship: DeepCopyPlan.Relationship,
        of owner: NSManagedObject
    ) throws {
        guard let object, let entity = plan.entities[object.entity.name ?? ""] else {
            guard object == nil, current != nil else { return }
            owner.setValue(nil, forKey: relationship.name)
            return note(owner)
        }
        guard inside.insert(ObjectIdentifier(object)).inserted else { return }
        defer { inside.remove(ObjectIdentifier(object)) }
        let copy: NSManagedObject
        if let current, current.entity.name == entity.name {
            copy = current
            setAttributes(of: copy, as: object, entity)
        } else {
            copy = try make(object, entity)
            owner.setValue(copy, forKey: relationship.name)
            note(owner)
        }
        for inner in entity.relationships where inner.name != relationship.inverse {
            try set(inner, of: copy, as: object)
        }
        for (name, message) in entity.blocked where name != relationship.inverse {
            guard let description = object.entity.relationshipsByName[name],
                !PropertyPath.members(of: object, description, sorted: false).isEmpty
            else { continue }
            throw ToolkitError(message)
        }
    }

    private mutating func note(_ object: NSManagedObject) {
        let identifier = ObjectIdentifier(object)
        guard !made.contains(identifier), changed.insert(identifier).inserted else { return }
        counts[object.entity.name ?? "", default: .init()].updated += 1
    }

    private static func members(
        of object: NSManagedObject, _ relationship: DeepCopyPlan.Relationship
    ) -> [NSManagedObject] {
        guard let description = object.entity.relationshipsByName[relationship.name] else { return [] }
        return PropertyPath.members(of: object, description, sorted: false)
    }
}
