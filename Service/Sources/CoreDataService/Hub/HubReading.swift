import CoreData
import Foundation

/// The objects of one store with their values, read on the queue of their context.
struct HubReading {
    private(set) var objects: [HubKey: NSManagedObject] = [:]
    private(set) var records: [HubKey: HubRecord] = [:]
    /// Objects without a UUID.
    private(set) var unnamed: [NSManagedObject] = []
    private let schema: HubSchema
    private var keys: [NSManagedObjectID: HubKey] = [:]

    /// Reads all objects that the context sees: one statement for each hierarchy and to-many relationship.
    init(_ schema: HubSchema, in context: NSManagedObjectContext) throws {
        self.schema = schema
        for root in schema.roots {
            let request = NSFetchRequest<NSManagedObject>(entityName: root)
            request.returnsObjectsAsFaults = false
            request.shouldRefreshRefetchedObjects = true
            request.relationshipKeyPathsForPrefetching = schema[root]?.toManys.map(\.name) ?? []
            for object in try context.fetch(request) {
                guard let entity = schema[object.entity.name ?? ""] else { continue }
                guard let id = object.value(forKey: entity.identity) as? UUID else {
                    unnamed.append(object)
                    continue
                }
                let key = HubKey(root: root, id: id)
                guard objects[key] == nil else { continue }
                objects[key] = object
                keys[object.objectID] = key
            }
        }
        for (key, object) in objects { records[key] = record(of: object) }
    }

    func key(of object: NSManagedObject) -> HubKey? { keys[object.objectID] }

    private func record(of object: NSManagedObject) -> HubRecord {
        let name = object.entity.name ?? ""
        guard let entity = schema[name] else { return HubRecord(entity: name, values: [:]) }
        var values: [String: HubValue] = [:]
        for attribute in entity.attributes {
            let value = HubValue(object.value(forKey: attribute.name), attribute)
            if value != .null { values[attribute.name] = value }
        }
        for relationship in entity.toOnes {
            guard let other = object.value(forKey: relationship.name) as? NSManagedObject,
                let key = keys[other.objectID]
            else { continue }
            values[relationship.name] = .reference(key)
        }
        for relationship in entity.toManys {
            var members = ObjectReader.members(object.value(forKey: relationship.name)).compactMap { keys[$0.objectID] }
            if !relationship.isOrdered { members.sort() }
            if !members.isEmpty { values[relationship.name] = .members(members) }
        }
        return HubRecord(entity: name, values: values)
    }

    // MARK: What a device can hold

    /// Leaves out objects that lack something which the model requires: a value or an object that the account may not
    /// read. A device could not save them.
    mutating func removeIncomplete() {
        var isDone = false
        while !isDone {
            let incomplete = records.filter { !isComplete($0.value) }.map(\.key)
            isDone = incomplete.isEmpty
            for key in incomplete { remove(key) }
        }
        for key in records.keys {
            guard var record = records[key], let entity = schema[record.entity] else { continue }
            for toOne in entity.toOnes {
                if let other = record[toOne.name].reference, records[other] == nil { record.values[toOne.name] = nil }
            }
            for toMany in entity.toManys {
                let members = record[toMany.name].members.filter { records[$0] != nil }
                record.values[toMany.name] = members.isEmpty ? nil : .members(members)
            }
            records[key] = record
        }
    }

    mutating func remove(_ key: HubKey) {
        records[key] = nil
        if let object = objects.removeValue(forKey: key) { keys[object.objectID] = nil }
    }

    private func isComplete(_ record: HubRecord) -> Bool {
        guard let entity = schema[record.entity] else { return false }
        return entity.attributes.allSatisfy { !$0.isRequired || record[$0.name] != .null }
            && entity.toOnes.allSatisfy { toOne in
                guard toOne.isRequired else { return true }
                return record[toOne.name].reference.map { records[$0] != nil } ?? false
            }
            && entity.toManys.allSatisfy { toMany in
                toMany.minimum == 0
                    || record[toMany.name].members.count { records[$0] != nil } >= toMany.minimum
            }
    }

    // MARK: Objects that are one

    /// Gives an object of this store the key that it has in another one.
    mutating func rename(_ key: HubKey, to other: HubKey) {
        guard let object = objects.removeValue(forKey: key), let record = records.removeValue(forKey: key) else {
            return
        }
        (objects[other], records[other], keys[object.objectID]) = (object, record, other)
        for (name, record) in records {
            var changed = record
            for (property, value) in record.values {
                switch value {
                case .reference(key): changed.values[property] = .reference(other)
                case .members(let members) where members.contains(key):
                    changed.values[property] = .members(members.map { $0 == key ? other : $0 })
                default: break
                }
            }
            if changed != record { records[name] = changed }
        }
    }

    /// Adds an object that was made in the meantime.
    mutating func add(_ object: NSManagedObject, _ key: HubKey, _ entity: String) {
        objects[key] = object
        keys[object.objectID] = key
        records[key] = HubRecord(entity: entity, values: [:])
    }
}
