import CoreData
import Foundation

// Saves: the changes of a context as one request.
extension ServiceStore {
    func save(_ request: NSSaveChangesRequest) throws {
        let changes = SaveChanges(request)
        guard !changes.isEmpty else { return }
        let job = try SaveBuilder(store: self, changes: changes).job()
        guard job.list.changes.count <= ChangeList.maximumCount else {
            throw ServiceErrors.make(
                NSPersistentStoreSaveError,
                """
                A save to a service has at most \(ChangeList.maximumCount) changes, which are one transaction; this one \
                has \(job.list.changes.count). Nothing was changed. Save more often.
                """)
        }
        let core = core
        let answer: ServiceCore.SaveAnswer
        let isMain = changes.all.first?.managedObjectContext?.concurrencyType == .mainQueueConcurrencyType
        do { answer = try core.wait(isMain: isMain) { try await core.save(job) } } catch let failure
            as ServiceFailure
        {
            throw try error(failure, changes, job.list)
        }
        let deleted = changes.deleted.map(\.objectID)
        held.withLock { held in
            for id in deleted { (held.handed[id], held.fresh[id]) = (nil, nil) }
        }
        // Core Data asks for their versions next. Other sides of relationships have new versions, too.
        let known = Set(answer.objects.map(\.id))
        let others = changes.updated.compactMap { identity(of: $0.objectID) }.filter { !known.contains($0.id) }
        let asked: CachePolicy = core.policy == .networkOnly ? .networkOnly : .networkElseCache
        let policy = answer.isQueued ? .cacheOnly : asked
        // A save that succeeded does not fail for that.
        let more = others.isEmpty ? [] : (try? wait { try await core.objects(others, policy) }) ?? []
        let derived = try objectsWithDerivedValues(answer.objects, changes)
        for object in answer.objects + more {
            let id = try objectID(object.entity, object.id)
            var saved = object
            // Core Data keeps the row that the context saved under this version, and reads the service's later.
            if derived[id] != nil { saved.rowTag = QueuedTag.saved(object.tag) }
            let asked = saved
            held.withLock { held in
                held.fresh[id] = asked
                held.checked.remove(id)
            }
        }
        held.withLock { $0.derived = derived }
    }

    // MARK: Derived values

    /// The objects whose derived attributes are not as the context has them.
    private func objectsWithDerivedValues(
        _ objects: [RemoteObject], _ changes: SaveChanges
    ) throws -> [NSManagedObjectID: RemoteObject] {
        var found: [NSManagedObjectID: RemoteObject] = [:]
        for remote in objects {
            guard let entity = core.model.entities[remote.entity],
                entity.attributes.values.contains(where: \.isDerived),
                let object = changes.object(remote.id, { self.identity(of: $0)?.id })
            else { continue }
            let differs = entity.attributes.values.contains { attribute in
                guard attribute.isDerived, let json = remote.members[attribute.name] else { return false }
                return attribute.form.json(object.value(forKey: attribute.name)) != json
            }
            if differs { found[try objectID(remote.entity, remote.id)] = remote }
        }
        return found
    }

    /// Has a context that saved read the values that the service computed.
    func takeDerivedValues(_ context: NSManagedObjectContext) {
        let derived = held.withLock { held in
            let own = held.derived.filter { context.registeredObject(for: $0.key) != nil }
            for (id, object) in own {
                held.derived[id] = nil
                held.fresh[id] = object
                held.stale.insert(id)
            }
            return own
        }
        guard !derived.isEmpty else { return }
        forgetStaleRows()
        for id in derived.keys {
            if let object = context.registeredObject(for: id) { context.refresh(object, mergeChanges: true) }
        }
    }

    // MARK: Errors

    /// The error of a refused save, with the objects that the service means.
    private func error(
        _ failure: ServiceFailure, _ changes: SaveChanges, _ list: ChangeList
    ) throws -> any Error {
        switch failure.type {
        case "changed": return try conflict(changes, list)
        case "validation", "denied", "conflict":
            let parts =
                failure.parts.isEmpty
                ? [
                    ServiceFailure.Part(
                        pointer: nil, entity: failure.entity, property: failure.property, code: failure.code,
                        detail: failure.message)
                ] : failure.parts
            if failure.status == 403 { return denied(failure) }
            let errors = parts.map { error($0, failure, changes, list) }
            if errors.count == 1 { return errors[0] }
            return ServiceErrors.make(
                NSValidationMultipleErrorsError, failure.message,
                [NSDetailedErrorsKey: errors, NSUnderlyingErrorKey: failure.serviceError])
        default: return ServiceErrors.error(failure)
        }
    }

    private func denied(_ failure: ServiceFailure) -> CocoaError {
        var userInfo: [String: Any] = [NSUnderlyingErrorKey: failure.serviceError, NSAffectedStoresErrorKey: [self]]
        userInfo["entity"] = failure.entity
        userInfo["property"] = failure.property
        return ServiceErrors.make(NSPersistentStoreSaveError, failure.message, userInfo)
    }

    private func error(
        _ part: ServiceFailure.Part, _ failure: ServiceFailure, _ changes: SaveChanges, _ list: ChangeList
    ) -> CocoaError {
        var userInfo: [String: Any] = [NSUnderlyingErrorKey: failure.serviceError]
        let object = object(part, changes, list)
        userInfo[NSValidationObjectErrorKey] = object
        let property = part.property?.split(separator: ".").first.map(String.init)
        userInfo[NSValidationKeyErrorKey] = property
        if let object, let property, object.entity.propertiesByName[property] != nil {
            userInfo[NSValidationValueErrorKey] = object.value(forKey: property) ?? NSNull()
        }
        return ServiceErrors.make(part.code ?? NSManagedObjectValidationError, part.detail, userInfo)
    }

    /// The object that a mistake is about: by the place of its change, or the only one of its entity.
    private func object(
        _ part: ServiceFailure.Part, _ changes: SaveChanges, _ list: ChangeList
    ) -> NSManagedObject? {
        let places = (part.pointer ?? "").split(separator: "/")
        if places.count > 1, places[0] == "changes", let index = Int(places[1]),
            list.changes.indices.contains(index)
        {
            return changes.object(list.changes[index].id) { self.identity(of: $0)?.id }
        }
        let candidates = changes.all.filter { $0.entity.name == part.entity }
        return candidates.count == 1 ? candidates[0] : nil
    }

    /// The error of objects that another writer changed between the check and the save.
    private func conflict(_ changes: SaveChanges, _ list: ChangeList) throws -> any Error {
        let conditional = list.changes.filter { $0.condition != nil }
        let core = core
        let current = try wait { try await core.objects(conditional.map { ($0.entity, $0.id) }, .networkOnly) }
        try hold(current)
        let conflicts = conditional.compactMap { change -> NSMergeConflict? in
            let server = current.first { $0.id == change.id }
            guard server?.tag != change.condition,
                let object = changes.object(change.id, { self.identity(of: $0)?.id })
            else { return nil }
            return NSMergeConflict(
                source: object, newVersion: server == nil ? 0 : (object.storedVersion ?? 0) + 1,
                oldVersion: object.storedVersion ?? 0, cachedSnapshot: nil,
                persistedSnapshot: server.map { snapshot(of: $0) })
        }
        return ServiceErrors.make(
            NSManagedObjectMergeError,
            "Another writer changed \(conflicts.count) of the objects while they were saved. Nothing was changed. Save again: the merge policy gets their values.",
            [NSPersistentStoreSaveConflictsErrorKey: conflicts])
    }

    /// The values of attributes and the IDs of to-ones.
    private func snapshot(of object: RemoteObject) -> [String: Any] {
        guard let entity = core.model.entities[object.entity] else { return [:] }
        var values: [String: Any] = [:]
        for attribute in entity.attributes.values {
            guard let json = object.members[attribute.name] else { continue }
            values[attribute.name] = ((try? attribute.form.value(json)) ?? nil) ?? NSNull()
        }
        for relationship in entity.relationships.values where !relationship.isToMany {
            let id = (try? object.destination(of: relationship.name)) ?? nil
            values[relationship.name] = id.flatMap { try? objectID(relationship.destination, $0) } ?? NSNull()
        }
        return values
    }
}

/// The objects of a save.
struct SaveChanges {
    let inserted: [NSManagedObject]
    let updated: [NSManagedObject]
    let deleted: [NSManagedObject]

    init(_ request: NSSaveChangesRequest) {
        func sorted(_ objects: Set<NSManagedObject>?) -> [NSManagedObject] {
            (objects ?? []).sorted {
                $0.objectID.uriRepresentation().absoluteString < $1.objectID.uriRepresentation().absoluteString
            }
        }
        inserted = sorted(request.insertedObjects)
        updated = sorted(request.updatedObjects)
        deleted = sorted(request.deletedObjects)
    }

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }
    var all: [NSManagedObject] { inserted + updated + deleted }

    func object(_ id: UUID, _ identity: (NSManagedObjectID) -> UUID?) -> NSManagedObject? {
        all.first { identity($0.objectID) == id }
    }
}
