import CoreData
import CoreDataSyncEngine
import Foundation

// Values that lost against ones which were written without knowledge of them.
extension ApplySession {
    /// What this session gave up, as entries of the journal; without those that the journal has already.
    func journal() throws -> [SidecarConflict] {
        let concerned = plan.objects.indices.filter {
            !plan.objects[$0].losses.isEmpty || !plan.objects[$0].late.isEmpty
        }
        let found = conflicts + concerned.flatMap { losses(of: plan.objects[$0]) + lateValues(of: plan.objects[$0]) }
        guard !found.isEmpty else { return [] }
        let known = Set(try sidecar.conflicts(of: Set(found.map(\.object))).map(\.mark))
        var seen = known
        return found.filter { seen.insert($0.mark).inserted }
    }

    private func losses(of object: PlannedObject) -> [SidecarConflict] {
        object.losses.compactMap { loss in
            let before = valuesBefore[object.id]?[loss.loss.property]
            let (losing, winning) = (side(loss.loss.losing, before), side(loss.loss.winning, before))
            // The same value twice is no loss; an empty one of another object neither.
            if losing.value == winning.value || loss.reason == .unique && losing.value == .null { return nil }
            return SidecarConflict(
                serial: UUID(), object: object.id, entityName: object.entity.name, property: loss.loss.property,
                losing: losing, winning: winning, date: applier.now, reason: loss.reason.rawValue)
        }
    }

    /// Values that another device gave an object without knowing that this one had deleted it.
    private func lateValues(of object: PlannedObject) -> [SidecarConflict] {
        guard object.isGone, let deleted = object.state.deleted else { return [] }
        return object.late.sorted { $0.key < $1.key }.compactMap { name, state in
            guard let value = state.value, value != .null, value != .stored, name.utf8.last != UInt8(ascii: "#") else {
                return nil
            }
            return SidecarConflict(
                serial: UUID(), object: object.id, entityName: object.entity.name, property: name,
                losing: .init(stamp: state.stamp, value: value), winning: .init(stamp: deleted, value: .null),
                date: applier.now, reason: SyncConflict.Reason.deleted.rawValue)
        }
    }

    private func side(_ state: PropertyState, _ stored: SyncValue?) -> SidecarConflict.Side {
        let value = state.value ?? .null
        return SidecarConflict.Side(stamp: state.stamp, value: value == .stored ? stored ?? .stored : value)
    }

    /// Remembers the values that this device has of properties with two values, before the plan changes them.
    func rememberLosses() throws {
        for index in plan.objects.indices where !plan.objects[index].losses.isEmpty {
            let planned = plan.objects[index]
            guard let object = objects[planned.id] else { continue }
            for loss in planned.losses.lazy.map(\.loss) {
                valuesBefore[planned.id, default: [:]][loss.property] = try storedValue(
                    loss.property, of: object, planned.entity)
            }
        }
    }

    func storedValue(_ name: String, of object: NSManagedObject, _ entity: SyncEntity) throws -> SyncValue? {
        let values = try values(for: entity)
        guard let number = values.number(of: name) else { return nil }
        guard case .toOne = entity.values[number].kind else { return try values.value(number, of: object) }
        guard let destination = values.destination(number, of: object) else { return .null }
        return try identifier(of: context.object(with: destination)).map { .reference($0) } ?? .null
    }

    /// Keeps all values and pairs of an object that this device edited and another one deleted.
    func journalDeletion(
        _ id: GlobalID, _ entity: SyncEntity, _ known: ObjectState, _ object: NSManagedObject
    ) throws {
        let deleted = known.deleted ?? nextStamp()
        for property in entity.values {
            guard let state = known.properties[property.name], property.name.utf8.last != UInt8(ascii: "#"),
                let value = try storedValue(property.name, of: object, entity), value != .null
            else { continue }
            conflicts.append(
                SidecarConflict(
                    serial: UUID(), object: id, entityName: entity.name, property: property.name,
                    losing: .init(stamp: state.stamp, value: value), winning: .init(stamp: deleted, value: .null),
                    date: applier.now, reason: SyncConflict.Reason.deleted.rawValue))
        }
        for (edge, state) in known.edges.sorted(by: { $0.key < $1.key }) where state.isPresent {
            guard let added = state.added else { continue }
            conflicts.append(
                SidecarConflict(
                    serial: UUID(), object: id, entityName: entity.name, property: edge.relationship,
                    losing: .init(stamp: added, value: .reference(edge.destination)),
                    winning: .init(stamp: deleted, value: .null), date: applier.now,
                    reason: SyncConflict.Reason.deleted.rawValue))
        }
    }

    /// Keeps the values of an object that other devices deleted and created again, if one of them did not know edits of
    /// this device.
    func journalRebirth(_ planned: PlannedObject, _ former: ObjectState, _ object: NSManagedObject) throws {
        guard planned.wasEditedHere else { return }
        var known = former
        known.deleted = planned.state.deleted
        try journalDeletion(planned.id, planned.entity, known, object)
    }

    /// Keeps the values that are given up where two objects of this store become one.
    func journalTwin(
        _ twin: ObjectState, _ keeper: GlobalID, _ object: NSManagedObject, _ entity: SyncEntity
    ) throws {
        guard let state = presentState(of: keeper) else { return }
        for property in entity.values {
            guard case .last(let stamp, let value)? = twin.properties[property.name],
                case .last(let other, let known)? = state.properties[property.name]
            else { continue }
            let kept = known == .stored ? try storedValue(property.name, of: object, entity) ?? .null : known
            let (losing, winning) =
                stamp > other
                ? ((other, kept), (stamp, value)) : ((stamp, value), (other, kept))
            guard losing.1 != winning.1, losing.1 != .null, losing.1 != .stored else { continue }
            conflicts.append(
                SidecarConflict(
                    serial: UUID(), object: keeper, entityName: entity.name, property: property.name,
                    losing: .init(stamp: losing.0, value: losing.1), winning: .init(stamp: winning.0, value: winning.1),
                    date: applier.now, reason: SyncConflict.Reason.unique.rawValue))
        }
    }
}

extension SidecarConflict {
    /// What tells a conflict from others.
    struct Mark: Hashable {
        let object: GlobalID
        let property: String
        let losing: Stamp
        let reason: String
        /// Pairs of one relationship may have been added together.
        let destination: GlobalID?
    }

    var mark: Mark {
        Mark(
            object: object, property: property, losing: losing.stamp, reason: reason,
            destination: losing.value.reference)
    }
}
