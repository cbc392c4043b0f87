import CoreData
import Foundation

// Nodes and relationships.
extension ServiceStore {
    // MARK: Nodes

    func node(_ objectID: NSManagedObjectID) throws -> NSIncrementalStoreNode {
        guard let node = try nodes([objectID]).first else {
            let identity = identity(of: objectID)
            throw ServiceErrors.missing(identity?.entity ?? objectID.entity.name ?? "", identity?.id ?? UUID())
        }
        return node
    }

    public func newValuesForObjects(
        with objectIDs: [NSManagedObjectID], with context: NSManagedObjectContext
    ) throws -> [NSIncrementalStoreNode] { try nodes(objectIDs) }

    private func nodes(_ ids: [NSManagedObjectID]) throws -> [NSIncrementalStoreNode] {
        forgetStaleRows()
        let (fresh, mustAsk) = held.withLock { held in
            let mustAsk = Set(ids).intersection(held.checked)
            held.checked.subtract(mustAsk)
            var fresh: [RemoteObject] = []
            for id in ids {
                if let object = held.fresh.removeValue(forKey: id), !mustAsk.contains(id) { fresh.append(object) }
            }
            return (fresh, mustAsk)
        }
        let known = Set(fresh.map(\.id))
        var rest: [ServiceCore.Identity] = []
        var checked: [ServiceCore.Identity] = []
        for id in ids {
            guard let identity = identity(of: id), !known.contains(identity.id) else { continue }
            if mustAsk.contains(id) { checked.append(identity) } else { rest.append(identity) }
        }
        let policy = currentPolicy
        // A save asks the service, as long as it can be reached.
        let checkPolicy: CachePolicy = policy == .cacheElseNetwork ? .networkElseCache : policy
        let core = core
        let loads = core.options.loadsLargeValues
        let (wanted, wantedByCheck, given) = (rest, checked, fresh)
        let isMissing = !rest.isEmpty || !checked.isEmpty
        let needsBytes = loads && given.contains { core.model.entities[$0.entity]?.largeValues.isEmpty == false }
        var objects = given
        if isMissing || needsBytes {
            objects = try wait {
                var objects = given
                if !wanted.isEmpty { objects += try await core.objects(wanted, policy) }
                if !wantedByCheck.isEmpty { objects += try await core.objects(wantedByCheck, checkPolicy) }
                guard loads, objects.contains(where: { core.model.entities[$0.entity]?.largeValues.isEmpty == false })
                else { return objects }
                return try await core.addingLargeValues(objects, policy)
            }
        }
        return try objects.map { try node($0) }
    }

    private func node(_ object: RemoteObject) throws -> NSIncrementalStoreNode {
        let id = try objectID(object.entity, object.id)
        held.withLock { held in
            held.handed[id] = object.tag
            held.entities[object.id] = object.entity
        }
        return NSIncrementalStoreNode(
            objectID: id, withValues: try ServiceErrors.converting { try values(of: object) },
            version: core.number(of: object.rowTag ?? object.tag, object.id))
    }

    private func values(of object: RemoteObject) throws -> [String: Any] {
        let entity = try core.model.entity(named: object.entity)
        var values: [String: Any] = [:]
        for attribute in entity.attributes.values where !attribute.isTransient {
            if case .largeBytes = attribute.form {
                if let bytes = object.bytes[attribute.name] ?? nil { values[attribute.name] = bytes }
            } else if attribute.name == entity.identity {
                values[attribute.name] = object.id
            } else if let json = object.members[attribute.name], let value = try attribute.form.value(json) {
                values[attribute.name] = value
            }
        }
        for relationship in entity.relationships.values where !relationship.isToMany {
            guard object.members[relationship.name] != nil else {
                values[relationship.name] = NSNull()
                continue
            }
            guard let id = try object.destination(of: relationship.name) else {
                values[relationship.name] = NSNull()
                continue
            }
            // Without its entity the object cannot be named: the service is asked when the relationship is read.
            if let destination = entityName(of: id, below: relationship.destination) {
                values[relationship.name] = try objectID(destination, id)
            }
        }
        return values
    }

    /// The entity of an object, if it is known: the destination's own, or a subentity that an answer named.
    private func entityName(of id: UUID, below destination: String) -> String? {
        guard let entity = core.model.entities[destination] else { return nil }
        if entity.subentities.isEmpty { return destination }
        return held.withLock { $0.entities[id] }
    }

    // MARK: Relationships

    func value(of relationship: NSRelationshipDescription, _ objectID: NSManagedObjectID) throws -> Any {
        guard let identity = identity(of: objectID),
            let served = core.model.entities[identity.entity]?.relationships[relationship.name]
        else { return relationship.isToMany ? [NSManagedObjectID]() as Any : NSNull() }
        let members = try members(of: served, identity.entity, [identity.id])[identity.id] ?? []
        return relationship.isToMany ? members as Any : members.first as Any? ?? NSNull()
    }

    public func newValues(
        forRelationship relationship: NSRelationshipDescription, forObjectsWith objectIDs: [NSManagedObjectID],
        with context: NSManagedObjectContext?
    ) throws -> [Any]? {
        let identities = objectIDs.compactMap(identity)
        guard let entity = identities.first?.entity, identities.count == objectIDs.count,
            identities.allSatisfy({ $0.entity == entity }),
            let served = core.model.entities[entity]?.relationships[relationship.name]
        else { return nil }
        let members = try members(of: served, entity, identities.map(\.id))
        return identities.map { identity in
            let ids = members[identity.id] ?? []
            return relationship.isToMany ? ids as Any : ids.first as Any? ?? NSNull()
        }
    }

    private func members(
        of relationship: ServiceRelationship, _ entity: String, _ ids: [UUID]
    ) throws -> [UUID: [NSManagedObjectID]] {
        forgetStaleRows()
        guard core.model.entities[relationship.destination] != nil else { return [:] }
        let (core, policy) = (core, currentPolicy)
        let answer = try wait {
            let answer = try await core.members(of: relationship, entity, ids, policy)
            return Passed(answer)
        }.value
        try hold(answer.objects)
        return try answer.members.mapValues { try $0.map { try objectID($0.entity, $0.id) } }
    }

    /// Runs requests, and waits for them; failures become errors with Core Data's codes.
    func wait<R: Sendable>(_ body: @escaping @Sendable () async throws -> R) throws -> R {
        try ServiceErrors.converting { try core.wait(isMain: isAskedOnMain, body) }
    }

    // MARK: Held answers

    /// Keeps answers until their rows are made. Core Data reads a row again if its version changed.
    func hold(_ objects: [RemoteObject]) throws {
        for object in objects {
            let id = try objectID(object.entity, object.id)
            for included in (try? object.included(in: core.model)) ?? [] where included.id != object.id {
                try hold([included])
            }
            held.withLock { held in
                held.entities[object.id] = object.entity
                if let known = held.handed[id] {
                    let isSame = core.number(of: known, object.id) == core.number(of: object.tag, object.id)
                    if isSame { return }
                    held.stale.insert(id)
                }
                if held.fresh.count >= HeldObjects.maximumFresh { held.fresh.removeAll() }
                held.fresh[id] = object
            }
        }
        forgetStaleRows()
    }

    /// Makes Core Data read rows again whose objects have changed.
    func forgetStaleRows() {
        let stale = held.withLock { held in
            defer { held.stale = [] }
            return held.stale
        }
        if !stale.isEmpty { forgetValues(of: Array(stale)) }
    }

    func release(_ objectIDs: [NSManagedObjectID]) {
        held.withLock { held in
            for id in objectIDs {
                held.handed[id] = nil
                held.checked.remove(id)
            }
        }
    }
}
