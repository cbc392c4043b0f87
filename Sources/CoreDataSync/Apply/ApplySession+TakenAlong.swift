import CoreData
import CoreDataSyncEngine
import Foundation

// New objects that a deletion in the same save takes along.
extension ApplySession {
    /// Notes that new objects of other devices do not exist here, since a deletion that was applied with them cascades
    /// to them.
    ///
    /// That is an edit of this device, as each cascade is: the deletion is sent to the other devices, and the values go
    /// into the journal. These objects have no rows, so the history does not contain them.
    func noteTakenAlong() {
        if context.deletedObjects.isEmpty { return }
        for index in plan.objects.indices where plan.objects[index].action == .create {
            guard let object = objects[plan.objects[index].id], !object.isInserted else { continue }
            let planned = plan.objects[index]
            let deleted = nextStamp()
            var part = ObjectState(id: planned.id, entity: planned.state.entity)
            part.deleted = deleted
            announced.append(part)
            conflicts += Self.losses(of: planned, deleted: deleted, now: applier.now)
            plan.change(index) { $0.state.deleted = deleted }
            objects[planned.id] = nil
        }
    }

    private static func losses(of planned: PlannedObject, deleted: Stamp, now: UInt64) -> [SidecarConflict] {
        planned.entity.values.compactMap { property in
            guard case .last(let stamp, let value)? = planned.state.properties[property.name], value != .null,
                value != .stored
            else { return nil }
            return SidecarConflict(
                serial: UUID(), object: planned.id, entityName: planned.entity.name, property: property.name,
                losing: .init(stamp: stamp, value: value), winning: .init(stamp: deleted, value: .null), date: now,
                reason: SyncConflict.Reason.deleted.rawValue)
        }
    }
}
