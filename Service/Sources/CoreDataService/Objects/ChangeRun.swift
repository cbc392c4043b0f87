import CoreData
import Foundation

/// Applies changes to a new context and saves them: all of them, or none. Runs on the queue of the context.
struct ChangeRun {
    let context: NSManagedObjectContext
    let model: ServedModel
    let tags: RowTags
    /// Whether results contain the objects.
    var wantsObjects = false
    /// The entities whose objects, or their values, may be hidden from the account.
    var restricted: Set<String> = []

    func run(_ changes: [Change]) throws -> [ChangeResult] {
        // A row that another writer changes between our read and our save fails the save.
        context.mergePolicy = NSErrorMergePolicy
        let lookup = ReferenceLookup(context, model)
        var writer = ObjectWriter(model: model, lookup: lookup)
        var done: [(change: Change, object: NSManagedObject)] = []
        // Objects of this request first: any change may refer to any of them.
        var created: [Int: NSManagedObject] = [:]
        for (index, change) in changes.enumerated() {
            guard case .create = change.kind else { continue }
            let object = NSEntityDescription.insertNewObject(forEntityName: change.entity.name, into: context)
            object.setValue(change.id, forKey: change.entity.identity)
            lookup.add(object, change.id, of: change.entity)
            created[index] = object
        }
        for (entity, changes) in Dictionary(grouping: changes, by: \.entity.name) {
            guard let entity = model.entities[entity] else { continue }
            try lookup.prepare(changes.map(\.id), of: entity)
        }
        for (index, change) in changes.enumerated() {
            switch change.kind {
            case .create(let values):
                guard let object = created[index] else { continue }
                try writer.apply(values, to: object, change.entity, at: change.pointer, isNew: true)
                done.append((change, object))
            case .update(let values):
                let object = try existing(change, lookup)
                try writer.apply(values, to: object, entity(of: object, change), at: change.pointer, isNew: false)
                done.append((change, object))
            case .delete:
                let object = try existing(change, lookup)
                context.delete(object)
                done.append((change, object))
            case .bytes(let property, let bytes):
                let object = try existing(change, lookup)
                object.setValue(bytes, forKey: property)
                done.append((change, object))
            }
        }
        if !writer.mistakes.isEmpty { throw Problem.invalid(writer.mistakes) }
        if context.hasChanges { try context.save() }
        return try results(done)
    }

    /// The entity of an object, which may be below the one of the address.
    private func entity(of object: NSManagedObject, _ change: Change) -> ServedEntity {
        ObjectReader(model: model, tags: tags).entity(of: object) ?? change.entity
    }

    private func existing(_ change: Change, _ lookup: ReferenceLookup) throws -> NSManagedObject {
        guard let object = try lookup.object(change.id, of: change.entity), !object.isDeleted else {
            var problem = Problem.missing(change.entity.name)
            if !change.pointer.isEmpty {
                problem.errors = [.init(pointer: change.pointer, entity: change.entity.name, detail: problem.detail)]
            }
            throw problem
        }
        if change.condition == nil, change.exclusion == nil { return object }
        let tag = tags.tag(of: object)
        if let condition = change.condition {
            guard !condition.isWeak else { throw Problem.weakTag }
            guard let tag, condition.containsRow(tag) else { throw Problem.changed }
        }
        if let exclusion = change.exclusion, exists(change, object), exclusion.isAny || matches(exclusion, tag) {
            throw Problem.exists
        }
        // Also if the change turns out to change nothing.
        context.detectConflicts(for: object)
        return object
    }

    /// Whether there is something at the address of the change: a large value may have none.
    private func exists(_ change: Change, _ object: NSManagedObject) -> Bool {
        guard case .bytes(let property, _) = change.kind else { return true }
        return object.value(forKey: property) != nil
    }

    private func matches(_ exclusion: TagList, _ tag: String?) -> Bool {
        tag.map { tag in exclusion.tags.contains { $0 == tag || $0.hasPrefix(tag + "-") } } ?? false
    }

    private func results(_ done: [(change: Change, object: NSManagedObject)]) throws -> [ChangeResult] {
        var reader = ObjectReader(model: model, tags: tags)
        let readable = try readAgain(done)
        return try done.map { change, object in
            var result = ChangeResult(status: 200, entity: change.entity.name, id: change.id)
            if case .delete = change.kind {
                result.status = 204
                return result
            }
            if case .create = change.kind { result.status = 201 }
            let entity = entity(of: object, change)
            // Another change of the list deleted it.
            guard object.managedObjectContext != nil, !object.isDeleted else { return result }
            if let readable {
                // The account may change the object, and not read it any more, or never.
                guard readable.contains(object.objectID) else { return result }
            } else if entity.attributes.contains(where: \.isDerived) {
                // The store has computed derived attributes.
                context.refresh(object, mergeChanges: false)
            }
            // A fault has no version yet.
            _ = object.value(forKey: entity.identity)
            result.tag = tags.tag(of: object)
            if wantsObjects { result.json = try reader.json(object, Selection(entity)) }
            return result
        }
    }

    /// Reads the objects as the account may read them, since they still have all values of the request. Returns the IDs
    /// of those that it may read; `nil` if nothing can be hidden.
    private func readAgain(_ done: [(change: Change, object: NSManagedObject)]) throws -> Set<NSManagedObjectID>? {
        let left = done.filter { change, object in
            if case .delete = change.kind { return false }
            return object.managedObjectContext != nil && !object.isDeleted
        }
        guard left.contains(where: { restricted.contains($0.object.entity.name ?? "") }) else { return nil }
        for (_, object) in left { context.refresh(object, mergeChanges: false) }
        let lookup = ReferenceLookup(context, model)
        var readable: Set<NSManagedObjectID> = []
        for (name, group) in Dictionary(grouping: left, by: \.change.entity.name) {
            guard let entity = model.entities[name] else { continue }
            try lookup.prepare(group.map(\.change.id), of: entity)
            for (change, _) in group {
                if let found = try lookup.object(change.id, of: entity) { readable.insert(found.objectID) }
            }
        }
        return readable
    }
}
