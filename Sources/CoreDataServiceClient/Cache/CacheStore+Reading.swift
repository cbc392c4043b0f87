import CoreData
import CoreDataJSON
import CoreDataPredicate
import Foundation

// Requests to the cache.
extension CacheStore {
    /// Returns the objects with these IDs that the cache has, as the service answered them.
    func objects(_ ids: [UUID], of entity: String) throws -> [RemoteObject] {
        guard let served = model.entities[entity] else { return [] }
        return try perform { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: entity)
            request.predicate = NSPredicate(
                format: "%K IN %@ AND %K != nil", served.identity, ids as NSArray, CacheModel.tag)
            return try context.fetch(request).compactMap(remote)
        }
    }

    /// The members of a relationship, as far as the cache has them.
    func members(of name: String, of entity: String, _ id: UUID) throws -> [(entity: String, id: UUID)]? {
        try perform { context in
            var finder = CacheWriter(context: context, model: model)
            guard let object = try finder.find(entity, id) else { return nil }
            let value = object.value(forKey: name)
            let members: [NSManagedObject] =
                switch value {
                case let one as NSManagedObject: [one]
                case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
                case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
                case let set as Set<NSManagedObject>: Array(set)
                default: []
                }
            return members.compactMap { member in
                guard member.value(forKey: CacheModel.tag) != nil else { return nil }
                return identity(of: member)
            }
        }
    }

    private func identity(of object: NSManagedObject) -> (entity: String, id: UUID)? {
        guard let name = object.entity.name, let identity = model.entities[name]?.identity,
            let id = object.value(forKey: identity) as? UUID
        else { return nil }
        return (name, id)
    }

    private func remote(_ object: NSManagedObject) -> RemoteObject? {
        guard let (name, id) = identity(of: object), let entity = model.entities[name],
            let tag = object.value(forKey: CacheModel.tag) as? String
        else { return nil }
        var members: [String: JSONValue] = [:]
        for attribute in entity.attributes.values where !attribute.isTransient {
            members[attribute.name] = attribute.form.json(object.value(forKey: attribute.name))
        }
        for relationship in entity.relationships.values
        where !relationship.isToMany && model.entities[relationship.destination] != nil {
            let other = (object.value(forKey: relationship.name) as? NSManagedObject).flatMap { identity(of: $0) }
            // With its entity, as an included object has it.
            members[relationship.name] = other.map { .string($0.id.uuidString) } ?? .null
        }
        var remote = RemoteObject(entity: name, id: id, tag: tag, members: members)
        for name in (object.value(forKey: CacheModel.loaded) as? String ?? "").split(separator: ",").map(String.init) {
            remote.bytes[name] = .some(object.value(forKey: name) as? Data)
        }
        return remote
    }

    // MARK: Fetches

    /// A fetch of the store: the request, and what stands for the store's objects in its predicate.
    struct Fetch {
        let request: AnyFetchRequest
        let reference: (any PredicateObject) -> UUID?
    }

    /// Returns the entities and IDs of the objects that a fetch finds.
    func identities(_ fetch: Fetch) throws -> [(entity: String, id: UUID)] {
        try perform { context in
            try context.fetch(request(NSManagedObject.self, fetch, context)).compactMap { identity(of: $0) }
        }
    }

    func count(_ fetch: Fetch) throws -> Int {
        try perform { context in try context.count(for: request(NSManagedObject.self, fetch, context)) }
    }

    /// Returns dictionaries; `objectID` makes the IDs of the store in the place of the cache's.
    func dictionaries(
        _ fetch: Fetch, objectID: (String, UUID) throws -> NSManagedObjectID
    ) throws -> [NSDictionary] {
        try perform { context in
            let request = try request(NSDictionary.self, fetch, context)
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = fetch.request.propertiesToFetch
            request.propertiesToGroupBy = fetch.request.propertiesToGroupBy
            request.havingPredicate = fetch.request.havingPredicate
            request.returnsDistinctResults = fetch.request.returnsDistinctResults
            return try context.fetch(request).map { found in
                let row = NSMutableDictionary()
                for (key, value) in found {
                    guard let key = key as? String else { continue }
                    if let id = value as? NSManagedObjectID {
                        guard let object = identity(of: context.object(with: id)) else { continue }
                        row[key] = try objectID(object.entity, object.id)
                    } else {
                        row[key] = value
                    }
                }
                return row
            }
        }
    }

    /// Deletes cached objects that match a fetch, but that the service did not answer.
    func reconcile(_ fetch: Fetch, with answered: Set<UUID>, keeping kept: Set<UUID>) throws {
        try perform { context in
            for object in try context.fetch(request(NSManagedObject.self, fetch, context)) {
                guard let id = identity(of: object)?.id, !answered.contains(id), !kept.contains(id) else { continue }
                context.delete(object)
            }
        }
    }

    /// The request in the words of the cache: its objects in the place of the store's, and only objects whose values
    /// are known.
    private func request<T>(
        _ type: T.Type, _ fetch: Fetch, _ context: NSManagedObjectContext
    ) throws -> NSFetchRequest<T> {
        let request = fetch.request
        let result = NSFetchRequest<T>(entityName: request.entityName ?? "")
        result.includesSubentities = request.includesSubentities
        result.sortDescriptors = request.sortDescriptors
        result.fetchLimit = request.fetchLimit
        result.fetchOffset = request.fetchOffset
        let known = NSPredicate(format: "%K != nil", CacheModel.tag)
        result.predicate = known
        guard let predicate = request.predicate else { return result }
        let node = try predicate.node.mapExpressions { expression in
            guard case .constant(let constant) = expression else { return expression }
            return .constant(try self.constant(constant, fetch.reference, context))
        }
        result.predicate = NSCompoundPredicate(andPredicateWithSubpredicates: [known, NSPredicate.make(node: node)])
        return result
    }

    /// The constant with the cache's objects; an object that the cache does not have equals none.
    private func constant(
        _ constant: Constant, _ reference: (any PredicateObject) -> UUID?, _ context: NSManagedObjectContext
    ) throws -> Constant {
        switch constant {
        case .object(let object):
            guard let id = reference(object), let cached = try objectID(id, context) else { return .key(nil) }
            return .object(cached)
        case .collection(let members, let isOrdered):
            return .collection(
                try members.map { try self.constant($0, reference, context) }, isOrdered: isOrdered)
        default: return constant
        }
    }

    private func objectID(_ id: UUID, _ context: NSManagedObjectContext) throws -> NSManagedObjectID? {
        for entity in model.entities.values {
            let request = NSFetchRequest<NSManagedObjectID>(entityName: entity.name)
            request.resultType = .managedObjectIDResultType
            request.predicate = NSPredicate(format: "%K == %@", entity.identity, id as NSUUID)
            if let found = try context.fetch(request).first { return found }
        }
        return nil
    }
}
