import CoreData
import Foundation

/// Gives a replica what its account sees in the served store. Everything that devices changed was dealt with before.
///
/// It runs on the queues of both contexts.
struct HubDownstream {
    private let pass: HubPass
    private let reading: HubReading
    private var context: NSManagedObjectContext { pass.replica.context }
    private var schema: HubSchema { pass.schema }

    init(_ pass: HubPass, _ reading: HubReading) { (self.pass, self.reading) = (pass, reading) }

    /// - Returns: whether the replica has changed.
    func run(_ began: Date) throws -> Bool {
        var objects = pass.devices.objects
        var changes: [HubKey: HubLink?] = [:]
        var removed: [HubKey] = []
        var created: [HubKey] = []
        for (key, record) in reading.records {
            if let known = pass.devices.records[key], known.entity != record.entity {
                // A device made an object with this UUID: it makes room, and the next pass brings the served one.
                removed.append(key)
            } else if objects[key] == nil {
                created.append(key)
            }
        }
        removed += pass.devices.records.keys.filter { reading.records[$0] == nil }
        for key in created.sorted() {
            guard let record = reading.records[key], let entity = schema[record.entity] else { continue }
            let object = NSEntityDescription.insertNewObject(forEntityName: record.entity, into: context)
            object.setValue(key.id, forKey: entity.identity)
            objects[key] = object
        }
        let gone = Set(removed)
        for (key, record) in reading.records where !gone.contains(key) {
            guard let object = objects[key], let source = reading.objects[key], let entity = schema[record.entity]
            else { continue }
            let before = object.isInserted ? nil : pass.devices.records[key]
            write(record, before, source, to: object, key, entity, objects)
            var link = (changes[key] ?? pass.replica.links[key]) ?? HubLink(base: record, global: nil)
            link.base = record
            changes[key] = .some(link)
        }
        for (key, record) in reading.records where !gone.contains(key) { order(record, key, objects) }
        remove(gone, objects)
        // Objects that neither store has any more.
        for key in pass.replica.links.keys where reading.records[key] == nil { changes[key] = .some(nil) }
        for key in gone { changes[key] = .some(nil) }
        changes = changes.filter { $0.value != pass.replica.links[$0.key] }
        let hasChanged = context.hasChanges
        guard hasChanged || !changes.isEmpty else { return false }
        if hasChanged { try pass.replica.setLastPass(began) }
        try pass.replica.save(changes)
        for (key, link) in pass.replica.links where link.global == nil {
            pass.replica.newObjects[key] = objects[key]?.objectID
        }
        return hasChanged
    }

    // MARK: Values

    private func write(
        _ record: HubRecord, _ before: HubRecord?, _ source: NSManagedObject, to object: NSManagedObject,
        _ key: HubKey, _ entity: HubEntity, _ objects: [HubKey: NSManagedObject]
    ) {
        if object.value(forKey: entity.identity) as? UUID != key.id { object.setValue(key.id, forKey: entity.identity) }
        for attribute in entity.attributes where before.map({ $0[attribute.name] != record[attribute.name] }) ?? true {
            object.setValue(source.value(forKey: attribute.name), forKey: attribute.name)
        }
        for toOne in entity.toOnes where before.map({ $0[toOne.name] != record[toOne.name] }) ?? true {
            let other = record[toOne.name].reference.flatMap { objects[$0] }
            if before != nil || other != nil { object.setValue(other, forKey: toOne.name) }
        }
        for toMany in entity.toManys {
            let wanted = record[toMany.name].members
            if let before, before[toMany.name].members == wanted { continue }
            let members = wanted.compactMap { objects[$0] }
            if toMany.isOrdered {
                if toMany.isOrderOnly { continue }
                object.setValue(NSOrderedSet(array: members), forKey: toMany.name)
            } else {
                object.setValue(NSSet(array: members), forKey: toMany.name)
            }
        }
    }

    /// Puts the members of ordered relationships in order, once the other sides are set.
    private func order(_ record: HubRecord, _ key: HubKey, _ objects: [HubKey: NSManagedObject]) {
        guard let object = objects[key], let entity = schema[record.entity] else { return }
        for toMany in entity.toManys where toMany.isOrderOnly {
            let wanted = record[toMany.name].members.compactMap { objects[$0] }
            let present = ObjectReader.members(object.value(forKey: toMany.name))
            if wanted.map(\.objectID) != present.map(\.objectID), Set(wanted) == Set(present) {
                object.setValue(NSOrderedSet(array: wanted), forKey: toMany.name)
            }
        }
    }

    // MARK: Objects that the account sees no more

    /// Deletes objects, and no other one along: those that referred to them stay.
    private func remove(_ keys: Set<HubKey>, _ objects: [HubKey: NSManagedObject]) {
        let leaving = keys.sorted().compactMap { objects[$0] }
        let set = Set(leaving.map(\.objectID))
        for object in leaving {
            for (name, relationship) in object.entity.relationshipsByName where !relationship.isTransient {
                let members = ObjectReader.members(object.value(forKey: name))
                if relationship.isToMany {
                    let staying = members.filter { !set.contains($0.objectID) }
                    if staying.isEmpty { continue }
                    let rest = members.filter { set.contains($0.objectID) }
                    object.setValue(
                        relationship.isOrdered ? NSOrderedSet(array: rest) : NSSet(array: rest), forKey: name)
                } else if let other = object.value(forKey: name) as? NSManagedObject, !set.contains(other.objectID) {
                    object.setValue(nil, forKey: name)
                }
            }
        }
        for object in leaving { context.delete(object) }
    }
}
