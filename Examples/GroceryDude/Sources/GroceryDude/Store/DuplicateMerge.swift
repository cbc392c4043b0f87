import CoreData
import LivePages

/// Makes one object of several whose names differ in capitals and in blanks at their ends only, in the context: to save and to undo it
/// is up to the caller.
@MainActor struct DuplicateMerge {
    let context: NSManagedObjectContext
    let entity: String
    /// The attribute with the name.
    let key: String

    /// - Returns: the number of objects that were deleted.
    func run() throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entity)
        var groups: [String: [NSManagedObject]] = [:]
        // By spelling, which all devices that synchronise have in common, then by age: two devices that merge the same duplicates at one
        // time have to keep the same one. Small letters come first, and blanks at the beginning last.
        let objects = try context.fetch(request).map { (object: $0, name: $0.value(forKey: key) as? String ?? "") }
        for (object, name) in objects.sorted(by: { ($1.name, $0.object.number) < ($0.name, $1.object.number) })
        where !name.trimmed.isEmpty {
            groups[name.trimmed.lowercased(), default: []].append(object)
        }
        var count = 0
        for group in groups.values where group.count > 1 {
            let winner = fullest(of: group)
            for loser in group where loser !== winner {
                join(loser, to: winner)
                context.delete(loser)
                count += 1
            }
        }
        context.processPendingChanges()
        return count
    }

    /// The object with most properties that have a value; of several the first.
    private func fullest(of group: [NSManagedObject]) -> NSManagedObject {
        var (best, most) = (group[0], -1)
        for object in group {
            let count = object.entity.propertiesByName.keys.count { key in
                switch object.value(forKey: key) {
                case nil: false
                case let members as NSSet: members.count > 0
                default: true
                }
            }
            if count > most { (best, most) = (object, count) }
        }
        return best
    }

    /// The winner takes the members of the loser's to-many relationships, and values that it has none of itself.
    private func join(_ loser: NSManagedObject, to winner: NSManagedObject) {
        for name in loser.entity.attributesByName.keys where winner.value(forKey: name) == nil {
            if let value = loser.value(forKey: name) { winner.setValue(value, forKey: name) }
        }
        for (name, relationship) in loser.entity.relationshipsByName {
            if relationship.isToMany {
                guard let inverse = relationship.inverseRelationship?.name else { continue }
                let members = (loser.value(forKey: name) as? NSSet)?.allObjects ?? []
                for case let member as NSManagedObject in members { member.setValue(winner, forKey: inverse) }
            } else if winner.value(forKey: name) == nil, let target = loser.value(forKey: name) {
                winner.setValue(target, forKey: name)
            }
        }
    }
}
