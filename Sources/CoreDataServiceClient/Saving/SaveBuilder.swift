import CoreData
import CoreDataJSON
import Foundation

/// Makes the request of a save from a context's objects, on the queue of the context.
///
/// A relationship is written from one side: from the to-one of a pair, or from the ordered side. The order of deletions
/// is: owned objects before their owners, since the service deletes those with them.
struct SaveBuilder {
    let store: ServiceStore
    let changes: SaveChanges
    private let ids: [ObjectIdentifier: UUID]
    private let written: Set<ObjectIdentifier>
    private let deleted: Set<ObjectIdentifier>

    init(store: ServiceStore, changes: SaveChanges) {
        self.store = store
        self.changes = changes
        ids = Dictionary(
            changes.all.compactMap { object in
                store.identity(of: object.objectID).map { (ObjectIdentifier(object), $0.id) }
            }, uniquingKeysWith: { first, _ in first })
        written = Set((changes.inserted + changes.updated).map(ObjectIdentifier.init))
        deleted = Set(changes.deleted.map(ObjectIdentifier.init))
    }

    func job() throws -> ServiceCore.SaveJob {
        let keepsValues = store.core.cache != nil
        var list: [ChangeList.Change] = []
        var uploads: [ServiceCore.Upload] = []
        var values: [RemoteObject] = []
        for object in changes.inserted {
            let (entity, id) = try served(object)
            var members = try attributes(of: object, entity, entity.attributes.keys.sorted(), skipsNull: true)
            for relationship in entity.relationships.values.sorted(by: { $0.name < $1.name }) {
                if let member = try relationshipValue(relationship, entity, object, isNew: true) {
                    members.append(member)
                }
            }
            list.append(.init(verb: .create, entity: entity.name, id: id, values: members))
            uploads += self.uploads(object, entity, id, entity.largeValues, isNew: true)
            if keepsValues { values.append(try whole(object, entity, id)) }
        }
        for object in changes.updated {
            let (entity, id) = try served(object)
            let changed = object.changedValues()
            var members = try attributes(of: object, entity, changed.keys.sorted(), skipsNull: false)
            for name in changed.keys.sorted() {
                guard let relationship = entity.relationships[name],
                    let member = try relationshipValue(relationship, entity, object, isNew: false)
                else { continue }
                members.append(member)
            }
            let large = self.uploads(object, entity, id, entity.largeValues.filter { changed[$0] != nil }, isNew: false)
            uploads += large
            // Only the other side of a relationship is written.
            guard !members.isEmpty || !large.isEmpty else { continue }
            list.append(
                .init(verb: .update, entity: entity.name, id: id, values: members, condition: condition(of: object)))
            if keepsValues { values.append(try whole(object, entity, id)) }
        }
        for object in deletionOrder() {
            let (entity, id) = try served(object)
            list.append(.init(verb: .delete, entity: entity.name, id: id, condition: condition(of: object)))
        }
        return ServiceCore.SaveJob(list: ChangeList(list), uploads: uploads, values: values, bytes: largeValues())
    }

    private func largeValues() -> [UUID: [String: Data?]] {
        // Otherwise they are nil in objects, whatever the service has.
        guard store.core.options.loadsLargeValues else { return [:] }
        var bytes: [UUID: [String: Data?]] = [:]
        for object in changes.inserted + changes.updated {
            guard let id = ids[ObjectIdentifier(object)] else { continue }
            for name in store.core.model.entities[object.entity.name ?? ""]?.largeValues ?? [] {
                bytes[id, default: [:]][name] = .some(object.value(forKey: name) as? Data)
            }
        }
        return bytes
    }

    private func served(_ object: NSManagedObject) throws -> (entity: ServiceEntity, id: UUID) {
        let entity = try store.core.model.entity(named: object.entity.name ?? "")
        guard let id = ids[ObjectIdentifier(object)] else {
            throw ServiceErrors.make(
                NSPersistentStoreSaveError, "An object of \(entity.name) has no ID that the service knows.")
        }
        return (entity, id)
    }

    /// The version of which Core Data has the row.
    private func condition(of object: NSManagedObject) -> String? {
        store.held.withLock { $0.handed[object.objectID] }
    }

    // MARK: Attributes

    private func attributes(
        of object: NSManagedObject, _ entity: ServiceEntity, _ names: [String], skipsNull: Bool
    ) throws -> [JSONValue.Member] {
        try names.compactMap { name in
            guard let attribute = entity.attributes[name] else {
                try checkIsServed(name, entity, object)
                return nil
            }
            guard !attribute.isDerived, !attribute.isTransient, name != entity.identity else { return nil }
            if case .largeBytes = attribute.form { return nil }
            let json = attribute.form.json(object.value(forKey: name))
            return json == .null && skipsNull ? nil : JSONValue.Member(name, json)
        }
    }

    /// A value that the service does not take would be lost.
    private func checkIsServed(_ name: String, _ entity: ServiceEntity, _ object: NSManagedObject) throws {
        guard let attribute = object.entity.attributesByName[name], !attribute.isTransient,
            object.value(forKey: name) != nil
        else { return }
        throw ServiceErrors.make(
            NSManagedObjectValidationError,
            """
            \(entity.name).\(name) cannot be saved: the service does not serve transformable values. Store it as text, \
            bytes or a composite.
            """,
            [NSValidationObjectErrorKey: object, NSValidationKeyErrorKey: name])
    }

    private func uploads(
        _ object: NSManagedObject, _ entity: ServiceEntity, _ id: UUID, _ names: [String], isNew: Bool
    ) -> [ServiceCore.Upload] {
        names.compactMap { name in
            let bytes = object.value(forKey: name) as? Data
            if bytes == nil, isNew { return nil }
            return ServiceCore.Upload(entity: entity.name, id: id, property: name, bytes: bytes)
        }
    }

    /// All values, for the cache.
    private func whole(_ object: NSManagedObject, _ entity: ServiceEntity, _ id: UUID) throws -> RemoteObject {
        var members: [String: JSONValue] = [:]
        for attribute in entity.attributes.values where !attribute.isTransient {
            members[attribute.name] = attribute.form.json(object.value(forKey: attribute.name))
        }
        for relationship in entity.relationships.values where !relationship.isToMany {
            let other = object.value(forKey: relationship.name) as? NSManagedObject
            members[relationship.name] = other.flatMap(self.id).map { .string($0.uuidString) } ?? .null
        }
        var remote = RemoteObject(entity: entity.name, id: id, tag: "", members: members)
        for name in entity.largeValues { remote.bytes[name] = .some(object.value(forKey: name) as? Data) }
        return remote
    }

    // MARK: Relationships

    private func id(_ object: NSManagedObject) -> UUID? {
        ids[ObjectIdentifier(object)] ?? store.identity(of: object.objectID)?.id
    }

    private func relationshipValue(
        _ relationship: ServiceRelationship, _ entity: ServiceEntity, _ object: NSManagedObject, isNew: Bool
    ) throws -> JSONValue.Member? {
        let model = store.core.model
        guard model.entities[relationship.destination] != nil else { return nil }
        let name = relationship.name
        guard relationship.isToMany else {
            guard let other = object.value(forKey: name) as? NSManagedObject else {
                return isNew ? nil : JSONValue.Member(name, .null)
            }
            guard let id = id(other) else { throw unsaved(entity, name) }
            return JSONValue.Member(name, .string(id.uuidString))
        }
        if let inverse = relationship.inverse, !inverse.isToMany { return nil }
        let members = try Self.members(object.value(forKey: name)).filter { !deleted.contains(ObjectIdentifier($0)) }
            .filter { isWritten(from: object, to: $0, relationship, entity, isNew: isNew) }
            .map { member in
                guard let id = id(member) else { throw unsaved(entity, name) }
                return id
            }
        if relationship.isOrdered || isNew {
            return members.isEmpty && isNew
                ? nil : JSONValue.Member(name, .array(members.map { .string($0.uuidString) }))
        }
        let former = Set(
            Self.members(object.committedValues(forKeys: [name])[name])
                .filter { !deleted.contains(ObjectIdentifier($0)) }
                .filter { isWritten(from: object, to: $0, relationship, entity, isNew: false) }
                .compactMap(id))
        let added = members.filter { !former.contains($0) }
        let removed = former.subtracting(members).sorted { $0.uuidString < $1.uuidString }
        if added.isEmpty, removed.isEmpty { return nil }
        return JSONValue.Member(
            name,
            .object([
                .init("add", .array(added.map { .string($0.uuidString) })),
                .init("remove", .array(removed.map { .string($0.uuidString) })),
            ]))
    }

    /// Whether this side of a relationship between many and many is the one that writes the pair.
    private func isWritten(
        from object: NSManagedObject, to member: NSManagedObject, _ relationship: ServiceRelationship,
        _ entity: ServiceEntity, isNew: Bool
    ) -> Bool {
        guard let inverse = relationship.inverse, !relationship.isOrdered, !isNew else { return true }
        guard written.contains(ObjectIdentifier(member)) else { return true }
        if inverse.isOrdered { return false }
        return "\(entity.name).\(relationship.name)" <= "\(relationship.destination).\(inverse.name)"
    }

    private func unsaved(_ entity: ServiceEntity, _ name: String) -> CocoaError {
        ServiceErrors.make(
            NSManagedObjectReferentialIntegrityError,
            "\(entity.name).\(name) refers to an object that is not in the service: save it there first.")
    }

    private static func members(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let set as NSOrderedSet: set.array.compactMap { $0 as? NSManagedObject }
        case let set as Set<NSManagedObject>: Array(set)
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }

    // MARK: Deletions

    /// The deleted objects, owned ones before their owners.
    private func deletionOrder() -> [NSManagedObject] {
        var order: [NSManagedObject] = []
        var seen: Set<ObjectIdentifier> = []
        func visit(_ object: NSManagedObject) {
            guard deleted.contains(ObjectIdentifier(object)), seen.insert(ObjectIdentifier(object)).inserted else {
                return
            }
            let rules = store.core.model.entities[object.entity.name ?? ""]?.relationships ?? [:]
            for relationship in rules.values.sorted(by: { $0.name < $1.name }) where relationship.cascades {
                let value = object.committedValues(forKeys: [relationship.name])[relationship.name]
                for member in Self.members(value) + [value as? NSManagedObject].compactMap({ $0 }) { visit(member) }
            }
            order.append(object)
        }
        for object in changes.deleted { visit(object) }
        return order
    }
}
