import CoreData
import CoreDataSyncEngine
import Foundation

// References that this device has to set right, because other devices may see the same writes in another order.
//
// A repair gets a stamp one tick after the value that it replaces: devices that find the same make the same repair, and
// every later edit wins against it.
extension ApplySession {
    /// Empties the reference of an object whose one-to-one destination belongs to another one, on all devices.
    ///
    /// Without this a device that receives the winner's deletion first would keep the reference, and the others not.
    func giveUp(
        _ name: String, of loser: GlobalID, _ state: ObjectState, destination: GlobalID, to winner: Stamp
    ) {
        guard let property = state.properties[name] else { return }
        repair(name, of: loser, state, .null)
        conflicts.append(
            SidecarConflict(
                serial: UUID(), object: loser, entityName: state.entity.name, property: name,
                losing: .init(stamp: property.stamp, value: .reference(destination)),
                winning: .init(stamp: winner, value: .null),
                date: applier.now, reason: SyncConflict.Reason.edited.rawValue))
    }

    /// Tells the other devices again which objects refer to one that they deleted: they emptied these references, or
    /// never set them.
    func announceReferences(to object: NSManagedObject, _ id: GlobalID) {
        for (name, relationship) in object.entity.relationshipsByName {
            guard let inverse = relationship.inverseRelationship?.name else { continue }
            for member in Self.members(object.value(forKey: name)) where member !== object && !member.isDeleted {
                guard let memberID = try? identifier(of: member), let state = presentState(of: memberID),
                    let property = rules[member.entity.name ?? ""]?[inverse], property.isExchanged
                else { continue }
                // Two ticks: it wins against devices that emptied the reference.
                if case .toOne = property.kind { repair(inverse, of: memberID, state, .reference(id), ticks: 2) }
                let edge = ObjectState.Edge(inverse, id)
                guard case .pairs = property.kind, let pair = state.edges[edge], let added = pair.added else {
                    continue
                }
                let again = next(pair.removed.map { max($0, added) } ?? added, 2)
                changePair(edge, of: memberID) { $0.added = again }
            }
        }
    }

    func repair(_ name: String, of id: GlobalID, _ state: ObjectState, _ value: SyncValue, ticks: UInt64 = 1) {
        guard let stamp = state.properties[name].map({ next($0.stamp, ticks) }) else { return }
        var part = ObjectState(id: id, entity: state.entity)
        part.properties[name] = .last(stamp, value)
        announced.append(part)
        change(id) { $0.properties[name] = .last(stamp, value) }
    }

    // MARK: References to deleted objects

    /// Empties a reference to an object that was deleted, on all devices: those that receive both in another order, or
    /// after the object was created again, would keep it.
    func giveUp(_ name: String, _ stamp: Stamp, target: GlobalID, of planned: inout PlannedObject) {
        let state = PropertyState.last(next(stamp), .null)
        planned.state.properties[name] = state
        var part = ObjectState(id: planned.id, entity: planned.state.entity)
        part.properties[name] = state
        announced.append(part)
        noteEmptied(name, stamp, target: target, of: planned.id, planned.entity.name)
    }

    /// Removes a deleted object from a relationship, on all devices.
    func giveUp(_ edge: ObjectState.Edge, _ state: EdgeState, of planned: inout PlannedObject) {
        guard let added = state.added else { return }
        var pair = state
        pair.removed = next(added)
        planned.state.edges[edge] = pair
        var part = ObjectState(id: planned.id, entity: planned.state.entity)
        part.edges[edge] = EdgeState(added: added, removed: pair.removed)
        announced.append(part)
        noteEmptied(edge.relationship, added, target: edge.destination, of: planned.id, planned.entity.name)
    }

    /// The devices that wrote the reference and that deleted its object keep it in the journal.
    func noteEmptied(_ name: String, _ stamp: Stamp, target: GlobalID, of id: GlobalID, _ entity: String) {
        guard let deleted = presentState(of: representative(of: target))?.deleted,
            [stamp.device, deleted.device].contains(settings.device)
        else { return }
        conflicts.append(
            SidecarConflict(
                serial: UUID(), object: id, entityName: entity, property: name,
                losing: .init(stamp: stamp, value: .reference(target)), winning: .init(stamp: deleted, value: .null),
                date: applier.now, reason: SyncConflict.Reason.deleted.rawValue))
    }

    /// Changes a pair of an object, here and on all devices.
    func changePair(_ edge: ObjectState.Edge, of id: GlobalID, _ body: (inout EdgeState) -> Void) {
        guard let state = presentState(of: id), var pair = state.edges[edge] else { return }
        body(&pair)
        var part = ObjectState(id: id, entity: state.entity)
        part.edges[edge] = pair
        announced.append(part)
        change(id) { $0.edges[edge] = pair }
    }

    /// The state that the plan makes at present, or the known one.
    func presentState(of id: GlobalID) -> ObjectState? { plan[id]?.state ?? entries[id]?.state }

    func next(_ stamp: Stamp, _ ticks: UInt64 = 1) -> Stamp {
        Stamp(ticks: stamp.ticks + ticks, device: settings.device)
    }

    /// Changes the state of an object that the plan may or may not name.
    private func change(_ id: GlobalID, _ body: (inout ObjectState) -> Void) {
        if let index = plan.index(of: id) {
            plan.change(index) { body(&$0.state) }
        } else if var entry = entries[id] {
            body(&entry.state)
            entries[id] = entry
            repairedEntries.insert(id)
        }
    }

    /// Keeps the values of objects that a deletion takes along and that its writer did not know as they are.
    func journalCascade() throws {
        context.processPendingChanges()
        let deletions = plan.indices(.delete).compactMap { plan.objects[$0].deleterKnew }
        guard !deletions.isEmpty, context.deletedObjects.count > 0 else { return }
        let own = OwnSegments(settings)
        for object in context.deletedObjects {
            guard let id = try identifier(of: object), !deletedByPlan.contains(id), let entry = entries[id],
                let entity = rules[entry.entityName], findings.twins[id] == nil
            else { continue }
            let isUnknown = entry.state.wasEdited { stamp in
                deletions.contains { own.isUnknown(stamp, of: settings.device, to: $0) }
            }
            guard isUnknown else { continue }
            try journalDeletion(id, entity, entry.state, object)
        }
    }
}
