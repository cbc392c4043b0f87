import CoreData
import Foundation

// Answers of the service become cached objects.
extension CacheStore {
    /// Writes objects, and those that are whole within them.
    func write(_ objects: [RemoteObject]) throws {
        guard !objects.isEmpty else { return }
        try perform { context in
            var writer = CacheWriter(context: context, model: model)
            try writer.prepare(objects)
            for object in objects { try writer.write(object) }
        }
    }

    /// Deletes objects that the service does not have any more.
    func delete(_ ids: [(entity: String, id: UUID)]) throws {
        guard !ids.isEmpty else { return }
        try perform { context in
            var finder = CacheWriter(context: context, model: model)
            for (entity, id) in ids { if let object = try finder.find(entity, id) { context.delete(object) } }
        }
    }

    /// Writes the objects of a to-many relationship.
    func write(_ members: [(entity: String, id: UUID)], of name: String, of entity: String, _ id: UUID) throws {
        try perform { context in
            var writer = CacheWriter(context: context, model: model)
            guard let object = try writer.find(entity, id) else { return }
            try writer.setMembers(members, of: name, of: object)
        }
    }
}

/// Writes objects in the cache's context, on its queue.
struct CacheWriter {
    let context: NSManagedObjectContext
    let model: ServiceModel
    private var known: [UUID: NSManagedObject] = [:]
    /// Objects that the cache does not have.
    private var absent: Set<UUID> = []
    private let now = Date()

    init(context: NSManagedObjectContext, model: ServiceModel) {
        self.context = context
        self.model = model
    }

    mutating func write(_ remote: RemoteObject) throws {
        guard let entity = model.entities[remote.entity] else { return }
        for included in try remote.included(in: model) { try write(included) }
        let object = try make(remote.entity, remote.id)
        let before = object.value(forKey: CacheModel.tag) as? String
        object.setValue(remote.tag, forKey: CacheModel.tag)
        object.setValue(now, forKey: CacheModel.time)
        for attribute in entity.attributes.values where !attribute.isTransient {
            if case .largeBytes = attribute.form { continue }
            guard attribute.name != entity.identity, let json = remote.members[attribute.name] else { continue }
            object.setValue(try attribute.form.value(json), forKey: attribute.name)
        }
        setLargeValues(remote, entity, object, isSame: before == remote.tag)
        for relationship in entity.relationships.values where model.entities[relationship.destination] != nil {
            guard remote.members[relationship.name] != nil else { continue }
            if relationship.isToMany {
                let ids = try remote.destinations(of: relationship.name) ?? []
                try setMembers(ids.map { (relationship.destination, $0) }, of: relationship.name, of: object)
            } else {
                let id = try remote.destination(of: relationship.name)
                let other = try id.map { try stub(relationship.destination, $0) }
                if object.value(forKey: relationship.name) as? NSManagedObject !== other {
                    object.setValue(other, forKey: relationship.name)
                }
            }
        }
    }

    /// The bytes of another version are not those of this one.
    private func setLargeValues(
        _ remote: RemoteObject, _ entity: ServiceEntity, _ object: NSManagedObject, isSame: Bool
    ) {
        var loaded = Set(
            isSame
                ? (object.value(forKey: CacheModel.loaded) as? String ?? "").split(separator: ",").map(String.init) : []
        )
        for name in entity.largeValues {
            if let bytes = remote.bytes[name] {
                object.setValue(bytes, forKey: name)
                loaded.insert(name)
            } else if !loaded.contains(name) {
                object.setValue(nil, forKey: name)
            }
        }
        object.setValue(loaded.isEmpty ? nil : loaded.sorted().joined(separator: ","), forKey: CacheModel.loaded)
    }

    mutating func setMembers(
        _ members: [(entity: String, id: UUID)], of name: String, of object: NSManagedObject
    ) throws {
        let others = try members.map { try stub($0.entity, $0.id) }
        let isOrdered = model.entities[object.entity.name ?? ""]?.relationships[name]?.isOrdered ?? false
        object.setValue(isOrdered ? NSOrderedSet(array: others) : NSSet(array: others), forKey: name)
    }

    // MARK: Finding

    /// Finds the objects of answers, and those that they refer to, with a statement for each entity.
    mutating func prepare(_ objects: [RemoteObject]) throws {
        var ids: [String: Set<UUID>] = [:]
        for object in objects {
            guard let entity = model.entities[object.entity] else { continue }
            ids[entity.root, default: []].insert(object.id)
            for relationship in entity.relationships.values where !relationship.isToMany {
                guard let root = model.entities[relationship.destination]?.root,
                    let id = try object.destination(of: relationship.name)
                else { continue }
                ids[root, default: []].insert(id)
            }
        }
        for (entity, ids) in ids {
            guard let identity = model.entities[entity]?.identity else { continue }
            let all = Array(ids)
            for start in stride(from: 0, to: all.count, by: 500) {
                let request = NSFetchRequest<NSManagedObject>(entityName: entity)
                request.predicate = NSPredicate(
                    format: "%K IN %@", identity, Array(all[start..<min(all.count, start + 500)]) as NSArray)
                for object in try context.fetch(request) {
                    if let id = object.value(forKey: identity) as? UUID { known[id] = object }
                }
            }
            absent.formUnion(ids.filter { known[$0] == nil })
        }
    }

    /// Returns the object of an ID, of the entity or of another of its hierarchy.
    mutating func find(_ entity: String, _ id: UUID) throws -> NSManagedObject? {
        if let object = known[id] { return object }
        guard !absent.contains(id), let root = model.entities[entity]?.root,
            let identity = model.entities[root]?.identity
        else { return nil }
        let request = NSFetchRequest<NSManagedObject>(entityName: root)
        request.predicate = NSPredicate(format: "%K == %@", identity, id as NSUUID)
        request.fetchLimit = 1
        let found = try context.fetch(request).first
        known[id] = found
        return found
    }

    /// The object, or one that is known by its ID alone.
    private mutating func stub(_ entity: String, _ id: UUID) throws -> NSManagedObject {
        if let found = try find(entity, id) { return found }
        return insert(entity, id)
    }

    private mutating func insert(_ entity: String, _ id: UUID) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(id, forKey: model.entities[entity]?.identity ?? "")
        known[id] = object
        return object
    }

    /// The object, of exactly this entity: one that was known by its ID alone may have been taken for another.
    private mutating func make(_ entity: String, _ id: UUID) throws -> NSManagedObject {
        guard let found = try find(entity, id) else { return insert(entity, id) }
        if found.entity.name == entity { return found }
        let relationships = found.entity.relationshipsByName.keys.map { ($0, found.value(forKey: $0)) }
        // Two objects of one ID would break the constraint.
        for (name, _) in relationships { found.setValue(nil, forKey: name) }
        context.delete(found)
        try context.save()
        let object = insert(entity, id)
        for (name, value) in relationships where object.entity.relationshipsByName[name] != nil {
            object.setValue(value, forKey: name)
        }
        return object
    }
}
