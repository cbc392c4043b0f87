import CoreData
import CoreDataSyncEngine
import Foundation

// Two objects with equal values in a uniqueness constraint become one: all devices choose the same one of both, or mean
// the same by either ID.
extension ApplySession {
    /// The objects that a failed save names, each with the one that it becomes.
    func twins(in error: CocoaError) throws -> [GlobalID: GlobalID] {
        let conflicts = error.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict] ?? []
        var result: [GlobalID: GlobalID] = [:]
        for conflict in conflicts {
            let involved = [conflict.databaseObject].compactMap { $0 } + conflict.conflictingObjects
            let ids = try involved.compactMap { try identifier(of: $0) }
            guard let first = ids.min(by: isOlder) else { continue }
            // An object with a row stays rather than one without.
            let keeper = ids.filter { (entries[$0]?.key ?? 0) != 0 }.min(by: isOlder) ?? first
            for id in ids where id != keeper { result[id] = keeper }
        }
        return result
    }

    private func isOlder(_ a: GlobalID, _ b: GlobalID) -> Bool { AliasGroups.isOlder(a, b, entries) }

    /// Moves what the store has of objects to the ones that they become, and deletes their rows.
    func mergeTwins(_ planner: ApplyPlanner) throws {
        for (id, keeper) in findings.twins.sorted(by: { $0.key < $1.key }) {
            announceAlias(id, representative(of: keeper))
        }
        for group in groups.all {
            let rows = group.filter { (entries[$0]?.key ?? 0) != 0 }
            guard rows.count > 1, let first = rows.first else { continue }
            let keeper = representative(of: first)
            for id in rows.sorted() where id != keeper { try mergeRow(id, into: keeper, planner) }
        }
    }

    private func mergeRow(_ id: GlobalID, into keeper: GlobalID, _ planner: ApplyPlanner) throws {
        guard let entry = entries[id], let object = objects[id], let other = objects[keeper],
            let entity = rules[entry.entityName]
        else { return }
        let state = try whole(entry.state, of: object, entity)
        try journalTwin(state, keeper, other, entity)
        let merged = planner.plan([IncomingPart(states: [state], seen: settings.seen)])
        for planned in merged.objects {
            guard let index = plan.index(of: planned.id) else {
                plan.append(planned)
                continue
            }
            let outcome = MergeOutcome(plan.objects[index].state, state.named(keeper))
            plan.change(index) {
                $0.state = outcome.state
                $0.changed.formUnion(outcome.changed)
                $0.changedEdges.formUnion(outcome.changedEdges)
            }
        }
        plan.pointers.removeAll { $0.id == id }
        plan.pointers += merged.pointers
        plan.aliases.insert(id)
        moveReferences(from: object, to: other)
        intended.deleted.insert(ObjectKey(root: entry.root, key: entry.key))
        context.delete(object)
        objects[id] = nil
    }

    /// Tells the other devices that two IDs name one object.
    private func announceAlias(_ id: GlobalID, _ keeper: GlobalID) {
        for (one, other) in [(id, keeper), (keeper, id)] {
            guard let claim = (entries[one]?.state ?? plan.pointers.first { $0.id == one }?.state)?.entity else {
                continue
            }
            var told = ObjectState(id: one, entity: claim)
            told.aliases = [other]
            announced.append(told)
        }
    }

    private func moveReferences(from object: NSManagedObject, to keeper: NSManagedObject) {
        for (name, relationship) in object.entity.relationshipsByName where relationship.inverseRelationship != nil {
            guard keeper.entity.relationshipsByName[name] != nil else { continue }
            switch object.value(forKey: name) {
            case let members as NSOrderedSet:
                keeper.mutableOrderedSetValue(forKey: name).addObjects(from: members.array)
            case let members as NSSet: keeper.mutableSetValue(forKey: name).union(members as? Set<AnyHashable> ?? [])
            case let member as NSManagedObject:
                if keeper.value(forKey: name) == nil { keeper.setValue(member, forKey: name) }
            default: break
            }
        }
    }
}
