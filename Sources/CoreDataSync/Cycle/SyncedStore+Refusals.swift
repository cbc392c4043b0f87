import CoreDataSyncEngine
import Foundation

// What a service did not take of this device.
extension SyncedStore {
    /// Notes changes of this device that a service refused in the journal, each once.
    ///
    /// - Returns: the number of new conflicts.
    func note(_ refusals: [Refusal]) throws -> Int {
        let device = sidecar.settings.device
        let own = refusals.filter { $0.device == device }
        guard !own.isEmpty else { return 0 }
        var seen = Set(try sidecar.conflicts(of: Set(own.map(\.object))).map(\.mark))
        var change = SidecarChange()
        for refusal in own {
            let conflict = SidecarConflict(
                serial: UUID(), object: refusal.object, entityName: refusal.entity, property: refusal.property,
                losing: .init(stamp: refusal.losing.stamp, value: refusal.losing.value),
                winning: .init(stamp: refusal.winning.stamp, value: refusal.winning.value), date: now,
                reason: refusal.reason)
            if seen.insert(conflict.mark).inserted { change.conflicts.append(conflict) }
        }
        if !change.conflicts.isEmpty { try sidecar.write(change) }
        return change.conflicts.count
    }

    /// Adds a segment with refusals to the outbox.
    func announce(_ refusals: [Refusal]) throws {
        guard !refusals.isEmpty else { return }
        var settings = sidecar.settings
        settings.lastSegment += 1
        let segment = Segment(
            device: settings.device, number: settings.lastSegment, modelHash: rules.modelHash, seen: settings.seen,
            states: [], refusals: refusals)
        var change = SidecarChange()
        change.outgoing = [
            OutgoingFile(name: .segment(settings.lastSegment), number: settings.lastSegment, bytes: segment.bytes)
        ]
        var own = OwnSegments(settings)
        own.append(settings.lastSegment, ticks: settings.clock)
        own.write(to: &settings)
        change.settings = settings
        try sidecar.write(change)
    }
}
