import CoreData
import Foundation

/// Some groups of duplicates, each of which keeps one object.
struct DuplicateBatch {
    let values: DuplicateValues
    let keeping: Deduplicator.Keeping
    let context: NSManagedObjectContext
    let portion: Int

    private var entity: NSEntityDescription { values.entity }

    /// Processes the groups, saves, and releases all objects.
    func run(_ groups: [DuplicateValues.Group]) throws -> Deduplicator.Summary {
        defer { context.reset() }
        let winners = try winners(of: groups)
        context.reset()
        guard !winners.isEmpty else { return Deduplicator.Summary() }
        for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
        where isLedByMembers(relationship) {
            try moveMembers(of: relationship, winners)
        }
        for (loser, winner) in winners {
            guard let loser = try? context.existingObject(with: loser) else { continue }
            join(loser, to: context.object(with: winner))
        }
        try moveReferences(winners)
        for loser in winners.keys { context.delete(context.object(with: loser)) }
        if context.hasChanges { try context.save() }
        return Deduplicator.Summary(groups: Set(winners.values).count, removed: winners.count)
    }

    // MARK: Choosing

    /// Returns, for each duplicate, the object that is kept.
    private func winners(of groups: [DuplicateValues.Group]) throws -> [NSManagedObjectID: NSManagedObjectID] {
        let all = groups.flatMap(\.values)
        var members: [ObjectKey: [NSManagedObject]] = [:]
        for start in stride(from: 0, to: all.count, by: Importer.portion) {
            let request = NSFetchRequest<NSManagedObject>(entityName: entity.name ?? "")
            let part = Array(all[start..<min(start + Importer.portion, all.count)])
            request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [values.attribute, part])
            request.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            request.returnsObjectsAsFaults = false
            for object in try context.fetch(request) {
                guard let value = object.value(forKey: values.attribute) else { continue }
                let key = ObjectKey(entity: object.entity.name ?? "", parts: [values.key(of: value)])
                members[key, default: []].append(object)
            }
        }
        var winners: [NSManagedObjectID: NSManagedObjectID] = [:]
        for group in members.values where group.count > 1 {
            let winner = try winner(of: group)
            for loser in group where loser !== winner { winners[loser.objectID] = winner.objectID }
        }
        return winners
    }

    /// Returns the object to keep; the oldest of several equal candidates.
    private func winner(of group: [NSManagedObject]) throws -> NSManagedObject {
        switch keeping {
        case .newest(let attribute):
            return group.dropFirst().reduce(group[0]) { best, object in
                Self.isGreater(object.value(forKey: attribute), than: best.value(forKey: attribute)) ? object : best
            }
        case .fullest:
            let counts = group.map(Self.fullness)
            let best = counts.max() ?? 0
            return group[counts.firstIndex(of: best) ?? 0]
        case .chosen(let choose):
            let chosen = choose(group)
            guard group.contains(where: { $0 === chosen }) else {
                throw ToolkitError("The closure of .chosen must return one of the objects that it was given.")
            }
            return chosen
        }
    }

    private static func fullness(of object: NSManagedObject) -> Int {
        let attributes = object.entity.attributesByName.keys.count { object.value(forKey: $0) != nil }
        let relationships = object.entity.relationshipsByName.values.count { relationship in
            guard relationship.isToMany else { return object.value(forKey: relationship.name) != nil }
            return !object.objectIDs(forRelationshipNamed: relationship.name).isEmpty
        }
        return attributes + relationships
    }

    private static func isGreater(_ a: Any?, than b: Any?) -> Bool {
        switch (a, b) {
        case (.some, nil): true
        case (let a as Date, let b as Date): a > b
        case (let a as NSNumber, let b as NSNumber): a.compare(b) == .orderedDescending
        case (let a as String, let b as String): a > b
        default: false
        }
    }

    // MARK: Merging

    /// Returns whether the relationship is changed through its members, because there may be very many.
    private func isLedByMembers(_ relationship: NSRelationshipDescription) -> Bool {
        guard relationship.isToMany, !relationship.isOrdered, !relationship.isTransient,
            let inverse = relationship.inverseRelationship
        else { return false }
        return !inverse.isToMany
    }

    /// Redirects the members to the kept objects, in several saves.
    private func moveMembers(
        of relationship: NSRelationshipDescription, _ winners: [NSManagedObjectID: NSManagedObjectID]
    ) throws {
        guard let inverse = relationship.inverseRelationship?.name,
            let member = relationship.destinationEntity?.name
        else { return }
        while true {
            let request = NSFetchRequest<NSManagedObject>(entityName: member)
            request.predicate = NSPredicate(format: "%K IN %@", argumentArray: [inverse, Array(winners.keys)])
            request.fetchLimit = portion
            let members = try context.fetch(request)
            for member in members {
                guard let loser = (member.value(forKey: inverse) as? NSManagedObject)?.objectID,
                    let winner = winners[loser]
                else { continue }
                member.setValue(context.object(with: winner), forKey: inverse)
            }
            if context.hasChanges { try context.save() }
            context.reset()
            if members.count < portion { return }
        }
    }

    /// Transfers the relationships of the loser to the winner.
    private func join(_ loser: NSManagedObject, to winner: NSManagedObject) {
        for relationship in loser.entity.relationshipsByName.values.sorted(by: { $0.name < $1.name })
        where !relationship.isTransient && !isLedByMembers(relationship) {
            let name = relationship.name
            if !relationship.isToMany {
                guard winner.value(forKey: name) == nil, let target = loser.value(forKey: name) else { continue }
                winner.setValue(target, forKey: name)
                continue
            }
            let members = PropertyPath.members(of: loser, relationship)
            guard !members.isEmpty else { continue }
            if relationship.isOrdered {
                winner.mutableOrderedSetValue(forKey: name).addObjects(from: members)
            } else {
                winner.mutableSetValue(forKey: name).addObjects(from: members)
            }
        }
    }

    /// Redirects references without an inverse from losers to winners.
    private func moveReferences(_ winners: [NSManagedObjectID: NSManagedObjectID]) throws {
        for owner in entity.managedObjectModel.entities {
            for relationship in owner.relationshipsByName.values
            where relationship.inverseRelationship == nil && !relationship.isTransient
                && relationship.entity === owner && mayLeadHere(relationship)
            {
                let format = relationship.isToMany ? "ANY %K IN %@" : "%K IN %@"
                let request = NSFetchRequest<NSManagedObject>(entityName: owner.name ?? "")
                request.predicate = NSPredicate(
                    format: format, argumentArray: [relationship.name, Array(winners.keys)])
                for object in try context.fetch(request) { replace(relationship, of: object, winners) }
            }
        }
    }

    private func mayLeadHere(_ relationship: NSRelationshipDescription) -> Bool {
        guard let destination = relationship.destinationEntity else { return false }
        return entity.isKindOf(entity: destination) || destination.isKindOf(entity: entity)
    }

    private func replace(
        _ relationship: NSRelationshipDescription, of object: NSManagedObject,
        _ winners: [NSManagedObjectID: NSManagedObjectID]
    ) {
        var seen: Set<NSManagedObjectID> = []
        let members = PropertyPath.members(of: object, relationship).compactMap { member -> NSManagedObject? in
            let id = winners[member.objectID] ?? member.objectID
            return seen.insert(id).inserted ? context.object(with: id) : nil
        }
        let value: NSObject? =
            !relationship.isToMany
            ? members.first : relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members)
        object.setValue(value, forKey: relationship.name)
    }
}
