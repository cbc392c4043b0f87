import CoreData
import Foundation

/// Applies changes to a new context and saves them: all of them, or none. Runs on the queue of the context.
struct ChangeRun {
    let context: NSManagedObjectContext
    let model: ServedModel
    let tags: RowTags
    /// Whether results contain the objects.
    var wantsObjects = false

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
        guard let condition = change.condition else { return object }
        guard let tag = tags.tag(of: object), condition.containsRow(tag) else { throw Problem.changed }
        // Also if the change turns out to change nothing.
        context.detectConflicts(for: object)
        return object
    }

    private func results(_ done: [(change: Change, object: NSManagedObject)]) throws -> [ChangeResult] {
        var reader = ObjectReader(model: model, tags: tags)
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
            // The store has computed derived attributes.
            if entity.attributes.contains(where: \.isDerived) { context.refresh(object, mergeChanges: false) }
            // A fault has no version yet.
            _ = object.value(forKey: entity.identity)
            result.tag = tags.tag(of: object)
            if wantsObjects { result.json = try reader.json(object, Selection(entity)) }
            return result
        }
    }
}
