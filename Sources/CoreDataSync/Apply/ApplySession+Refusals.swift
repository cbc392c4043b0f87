import CoreData
import CoreDataSyncEngine
import Foundation

// What the store refuses to save, and what becomes of it.
//
// | Refused | Then |
// | --- | --- |
// | two rows with equal unique values | they become one |
// | an object that the app's closure repairs | it is saved as repaired |
// | a relationship with too many members | the latest ones leave it, on all devices |
// | a relationship with too few members | those that left come back, on all devices |
// | a deletion, and one that leaves another object invalid | the object exists again on all devices |
// | values that are not valid together with a later edit of this device | the edit wins, on all devices |
// | another object | it waits |
extension ApplySession {
    /// Another attempt with what the failure tells; the error itself if it tells nothing.
    func retry(after error: CocoaError) throws -> any Error {
        failure = error
        var found = ApplyFindings()
        switch error.code.rawValue {
        case NSManagedObjectMergeError, NSPersistentStoreSaveConflictsError: return ApplyRetry.changedMeanwhile
        case NSManagedObjectConstraintMergeError:
            found.twins = try twins(in: error)
            return found.twins.isEmpty ? error : ApplyRetry.found(found)
        default: break
        }
        for (object, failure) in Self.failures(in: error) { try add(object, failure, to: &found) }
        // What the closure repairs may be all that is wrong.
        if !found.repaired.isEmpty { found = ApplyFindings(repaired: found.repaired) }
        return found == ApplyFindings() ? error : ApplyRetry.found(found)
    }

    /// The objects that a save found to be invalid, each with its error.
    private static func failures(in error: CocoaError) -> [(NSManagedObject, CocoaError)] {
        let details = (error.userInfo[NSDetailedErrorsKey] as? [any Error]) ?? [error]
        return details.compactMap { detail in
            guard let detail = detail as? CocoaError,
                let object = detail.userInfo[NSValidationObjectErrorKey] as? NSManagedObject
            else { return nil }
            return (object, detail)
        }
    }

    private func add(_ object: NSManagedObject, _ error: CocoaError, to found: inout ApplyFindings) throws {
        guard let id = try identifier(of: object) else { return }
        if object.isDeleted {
            found.kept.formUnion(deletions(reaching: object))
            return
        }
        if applier.options.repair != nil, !findings.repaired.contains(id) {
            found.repaired.insert(id)
            return
        }
        if let key = error.userInfo[NSValidationKeyErrorKey] as? String,
            object.entity.relationshipsByName[key]?.isToMany == true
        {
            let list = ApplyFindings.CountedList(owner: id, relationship: key)
            if !findings.counted.contains(list) {
                found.counted.insert(list)
                return
            }
        }
        let reason = "\(ApplyPlanner.Reason.refused): \(error.localizedDescription)"
        guard let planned = plan[id], planned.action == .create || planned.action == .update else {
            try addCulprits(of: object, reason, to: &found)
            return
        }
        if planned.key != 0, !findings.reverted.contains(id), isEditedLater(planned) {
            found.reverted.insert(id)
        } else {
            found.refused[id] = reason
        }
    }

    /// The objects by whose deletion or change another one became invalid.
    private func addCulprits(of object: NSManagedObject, _ reason: String, to found: inout ApplyFindings) throws {
        let deletions = deletedByPlan.filter { id in
            objects[id].map { Self.neighbours(of: $0).contains(object) } ?? false
        }
        if !deletions.isEmpty {
            found.kept.formUnion(deletions)
            return
        }
        for planned in plan.objects where planned.action == .create || planned.action == .update {
            guard let other = objects[planned.id], Self.neighbours(of: other).contains(object) else { continue }
            found.refused[planned.id] = reason
        }
    }

    /// The objects that an object refers to, in the store and in the context.
    private static func neighbours(of object: NSManagedObject) -> Set<NSManagedObject> {
        let names = Array(object.entity.relationshipsByName.keys)
        let committed = object.objectID.isTemporaryID ? [:] : object.committedValues(forKeys: names)
        return names.reduce(into: []) { result, name in
            result.formUnion(members(committed[name]))
            if !object.isDeleted { result.formUnion(members(object.value(forKey: name))) }
        }
    }

    /// The deletions of the plan that take an object along.
    private func deletions(reaching object: NSManagedObject) -> Set<GlobalID> {
        deletedByPlan.filter { id in
            guard let start = objects[id] else { return false }
            var seen: Set<NSManagedObject> = [start]
            var open = [start]
            while let next = open.popLast() {
                if next === object { return true }
                let names = next.entity.relationshipsByName.filter { $0.value.deleteRule == .cascadeDeleteRule }.keys
                for value in next.committedValues(forKeys: Array(names)).values {
                    for member in Self.members(value) where seen.insert(member).inserted { open.append(member) }
                }
            }
            return false
        }
    }

    // MARK: The app's closure

    /// Lets the app's closure change the objects that the store refused in the attempt before.
    func repairObjects() {
        guard let repair = applier.options.repair else { return }
        for id in findings.repaired {
            guard let object = objects[id] else { continue }
            let error: any Error
            do {
                if object.isInserted { try object.validateForInsert() } else { try object.validateForUpdate() }
                continue
            } catch let failure { error = failure }
            // What the closure changes is an edit of this device, unlike what the states say. Of new objects `edits`
            // finds it.
            let before = object.changedValues()
            guard repair(object, error), let entity = rules[object.entity.name ?? ""], !object.isInserted else {
                continue
            }
            let key = ObjectKey(root: entity.root, key: object.objectID.key)
            for (name, value) in object.changedValues()
            where !((before[name] as? NSObject)?.isEqual(value) ?? false) {
                intended.updated[key]?.remove(name)
            }
        }
    }

    // MARK: Values that are not valid together

    /// Whether this device edited another property of the object later than what is refused.
    private func isEditedLater(_ planned: PlannedObject) -> Bool {
        let incoming = planned.changed.compactMap { planned.state.properties[$0]?.stamp }.max()
        let own = entries[planned.id]?.state.properties.filter { name, property in
            !planned.changed.contains(name) && property.stamp.device == settings.device
        }.values.map(\.stamp).max()
        guard let incoming, let own else { return false }
        return own > incoming
    }

    /// Gives the values that this device has a stamp after those of others that are refused: the others get them.
    func revertRefused() throws {
        for id in findings.reverted.sorted() {
            guard let index = plan.index(of: id), let object = objects[id] else { continue }
            let planned = plan.objects[index]
            var part = ObjectState(id: id, entity: planned.state.entity)
            for name in planned.changed.sorted() {
                guard case .last(let stamp, let value)? = planned.state.properties[name],
                    let kept = try storedValue(name, of: object, planned.entity), kept != value
                else { continue }
                part.properties[name] = .last(next(stamp), kept)
                conflicts.append(
                    SidecarConflict(
                        serial: UUID(), object: id, entityName: planned.entity.name, property: name,
                        losing: .init(stamp: stamp, value: value), winning: .init(stamp: next(stamp), value: kept),
                        date: applier.now, reason: SyncConflict.Reason.edited.rawValue))
            }
            guard !part.properties.isEmpty else { continue }
            announced.append(part)
            plan.change(index) {
                $0.changed.subtract(part.properties.keys)
                $0.state.properties.merge(part.properties) { $1 }
                $0.losses.removeAll { part.properties[$0.loss.property] != nil }
            }
        }
    }
}
