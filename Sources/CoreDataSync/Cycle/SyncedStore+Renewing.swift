import CoreDataSyncEngine
import Foundation

// A device whose ID another one uses, because one is a copy of the other, or that was restored.
extension SyncedStore {
    /// Gives the device a new ID, in one transaction of the sidecar.
    ///
    /// What was not sent yet is sent under the new ID. What it added to sums moves to the new ID, too: the other device
    /// counts on from what both had added before.
    ///
    /// - Parameters:
    ///   - first: the number of the first segment that this device has not sent under its present ID.
    ///   - finish: changes the settings that are written in the same transaction.
    func renew(
        keepingSegmentsBelow first: UInt64, finish: (inout SidecarSettings) -> Void = { _ in }
    ) throws {
        var change = SidecarChange()
        var settings = sidecar.settings
        let former = settings.device
        settings.device = options.newDevice()
        let moving = MovingSums(
            former: former, device: settings.device, bases: SumBases.earliest(settings, from: first), rules: rules)
        SumBases.removeAll(from: &settings)
        settings.lastSegment = 0
        if first > 1 { settings.seen.insert(former, 1...(first - 1)) }
        var own = OwnSegments(settings)
        own.removeAll(upTo: .max)
        var numbers: [UInt64: UInt64] = [:]
        let names = try sidecar.outgoingNames()
        for name in names {
            change.sent.append(name)
            guard case .segment(let number) = name, number >= first, let file = try sidecar.outgoing(name),
                var segment = try? Segment(bytes: file.bytes)
            else { continue }
            settings.lastSegment += 1
            numbers[number] = settings.lastSegment
            (segment.device, segment.number) = (settings.device, settings.lastSegment)
            segment.states = segment.states.map(moving.moved)
            change.outgoing.append(
                OutgoingFile(name: .segment(segment.number), number: segment.number, bytes: segment.bytes))
            own.append(segment.number, ticks: settings.clock)
        }
        // Large values go with the segments that name them.
        for name in names {
            guard case .blob = name, let file = try sidecar.outgoing(name), let number = numbers[file.number] else {
                continue
            }
            change.outgoing.append(OutgoingFile(name: name, number: number, bytes: file.bytes))
        }
        own.write(to: &settings)
        finish(&settings)
        change.settings = settings
        change.entries = try sidecar.entries(ids: moving.objects).map { entry in
            var entry = entry
            entry.state = moving.moved(entry.state)
            return entry
        }
        try sidecar.write(change)
    }
}

/// Moves what a device added to sums since its last segment that was sent from one ID to another.
struct MovingSums {
    let former: DeviceID
    let device: DeviceID
    let bases: [SumBases.Key: PropertyState.Contribution?]
    let rules: SyncRules

    /// The objects with such sums.
    var objects: [GlobalID] { Set(bases.keys.map(\.object)).sorted() }

    func moved(_ state: ObjectState) -> ObjectState {
        var result = state
        for (name, property) in state.properties {
            guard case .counter(var parts) = property, let last = parts[former],
                let base = bases[.init(object: state.id, property: name)],
                case .attribute(let kind, _)? = rules[state.entity.name]?[name]?.kind
            else { continue }
            parts[former] = base
            let added = base.map { SyncNumber.subtract(last.amount, $0.amount, kind) } ?? last.amount
            parts[device] = .init(ticks: last.ticks, amount: added)
            result.properties[name] = .counter(parts)
        }
        return result
    }
}
