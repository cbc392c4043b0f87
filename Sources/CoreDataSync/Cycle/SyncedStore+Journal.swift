import CoreData
import CoreDataSyncEngine
import Foundation

// Values of the journal become edits of this device.
extension SyncedStore {
    func restore(_ serial: UUID) throws {
        let all = try sidecar.conflicts()
        guard let conflict = all.first(where: { $0.serial == serial }) else {
            throw SyncErrors.make(
                134060, "The conflict is not in the journal any more: it was restored, dismissed or too old.")
        }
        let row = try rows(of: [conflict.object])[conflict.object]
        if conflict.property.isEmpty { return try delete(row, removing: conflict) }
        // The latest values win, and the one that was asked for wins against all.
        let related =
            row == nil
            ? all.reversed().filter {
                $0.object == conflict.object && $0.serial != serial && !$0.property.isEmpty
            } + [conflict] : [conflict]
        let context = applier.newContext()
        context.transactionAuthor = "sync restore"
        try context.performAndWait {
            let entity = row.flatMap { rules[$0.entityName] } ?? rules[conflict.entityName]
            guard let entity else {
                throw SyncErrors.make(134060, "The model has no entity \"\(conflict.entityName)\" any more.")
            }
            let object: NSManagedObject
            if let row, let id = applier.objectID(row.entityName, row.key) {
                object = try context.existingObject(with: id)
            } else {
                object = NSEntityDescription.insertNewObject(forEntityName: entity.name, into: context)
                try context.assign(object, toSynchronised: store)
                try context.obtainPermanentIDs(for: [object])
                let restored = RestoredObject(id: conflict.object, root: entity.root, key: object.objectID.key)
                try sidecar.changeSettings { restored.write(to: &$0) }
            }
            try set(related, of: object, entity, context)
            try context.save()
        }
        var change = SidecarChange()
        change.removedConflicts = related.map(\.serial)
        try sidecar.write(change)
    }

    /// Deletes an object again, of which a service refused the deletion.
    private func delete(_ row: SidecarEntry?, removing conflict: SidecarConflict) throws {
        if let row, let id = applier.objectID(row.entityName, row.key) {
            let context = applier.newContext()
            context.transactionAuthor = "sync restore"
            try context.performAndWait {
                context.delete(try context.existingObject(with: id))
                try context.save()
            }
        }
        var change = SidecarChange()
        change.removedConflicts = [conflict.serial]
        try sidecar.write(change)
    }

    private func set(
        _ conflicts: [SidecarConflict], of object: NSManagedObject, _ entity: SyncEntity,
        _ context: NSManagedObjectContext
    ) throws {
        let values = try StoredValues(entity, in: coordinator.managedObjectModel)
        for conflict in conflicts {
            guard case .reference(let target) = conflict.losing.value else {
                try values.set(conflict.losing.value, conflict.property, of: object)
                continue
            }
            let row = try rows(of: [target])[target]
            let member = row.flatMap { applier.objectID($0.entityName, $0.key) }.map { context.object(with: $0) }
            guard case .pairs(_, let isOrdered, _, _)? = entity[conflict.property]?.kind else {
                try values.set(member, conflict.property, of: object)
                continue
            }
            guard let member else { continue }
            if isOrdered {
                object.mutableOrderedSetValue(forKey: conflict.property).add(member)
            } else {
                object.mutableSetValue(forKey: conflict.property).add(member)
            }
        }
    }

    /// The entries of objects that have a row, by the ID that was asked for: an object may have its row under another
    /// ID.
    func rows(of ids: Set<GlobalID>) throws -> [GlobalID: SidecarEntry] {
        let entries = try sidecar.entries(of: ids) { $0.state.aliases }
        let groups = AliasGroups(entries.values, [], twins: [:])
        return ids.reduce(into: [:]) { result, id in
            if let entry = entries[groups.representative(of: id, entries)], entry.key != 0 { result[id] = entry }
        }
    }
}
