import Foundation

@testable import CoreDataSyncEngine

/// What devices exchange. The bytes are payloads: with their checksum, hardly any change would get beyond the frame.
enum SyncFiles {
    private static let id = GlobalID(high: 1, low: 1)
    private static let names = ["Item", "name", "quantity", "unit", "tags", "size.width"]

    static func read(_ data: Data, as reader: Reader) {
        switch reader {
        case .syncSegment:
            _ = try? Segment(bytes: data)
            guard let segment = try? Segment(bytes: Frame.seal(.segment, Array(data))) else { return }
            precondition(
                (try? Segment(bytes: segment.bytes)) == segment, "a segment is read otherwise than it was written")
            use(segment.states.map { $0.completed(segment.nilNames) })
        case .syncSnapshot:
            _ = try? Snapshot(bytes: data)
            guard let snapshot = try? Snapshot(bytes: Frame.seal(.snapshot, Array(data))) else { return }
            precondition(
                (try? Snapshot(bytes: snapshot.bytes)) == snapshot, "a snapshot is read otherwise than it was written")
            use(snapshot.states)
        default:
            var coder = coder()
            guard let state = try? coder.decode(data, id: id) else { return }
            let bytes = coder.encode(state)
            precondition((try? coder.decode(bytes, id: id)) == state, "a state is read otherwise than it was written")
            use([state])
        }
    }

    /// What a device does with states: merge, compact, read.
    private static func use(_ states: [ObjectState]) {
        var known: [GlobalID: ObjectState] = [:]
        for state in states {
            let merged = known[state.id]?.merged(with: state) ?? state
            precondition(merged.merged(with: state) == merged, "a state that is known changes something")
            known[state.id] = merged
        }
        for state in known.values {
            for rule in [DeletionRule.deleteWins, .editWins] {
                let compacted = state.compacted(rule)
                precondition(
                    compacted.exists(rule) == state.exists(rule), "compacting changes whether an object exists")
                precondition(compacted.counted(rule) == state.counted(rule), "compacting changes values")
            }
            for property in state.properties.values {
                for case .string(let text) in property.values { _ = Position.between(text, nil, device: id) }
            }
        }
    }

    private static func coder() -> StateCoder {
        var table = NameTable()
        for name in names { _ = table.number(of: name) }
        _ = table.number(of: id)
        return StateCoder(names: table)
    }

    static func seeds(for reader: Reader) throws -> [Data] {
        let stamp = Stamp(ticks: 817_000_000_000 << 16, device: id)
        let later = Stamp(ticks: stamp.ticks + 5, device: id)
        var state = ObjectState(id: id, entity: .init("Item", stamp))
        (state.born, state.created, state.deleted) = (stamp, stamp, later)
        let values: [SyncValue] = [
            .null, .integer(-5), .double(1), .decimal("1.5"), .string("Größe"), .date(2), .data(Data([1, 2])),
            .uuid(id),
            .uri("a:b"), .reference(id), .blob(digest: Data(count: 32), size: 20_000), .stored,
        ]
        for (number, value) in values.enumerated() { state.properties["name\(number)"] = .last(later, value) }
        state.properties["quantity"] = .counter([id: .init(ticks: stamp.ticks, amount: .integer(3))])
        state.properties["unit"] = PropertyState(
            isMinimum: true, [.init(stamp, .integer(1)), .init(later, .integer(2))])
        var edge = EdgeState(added: stamp, removed: later)
        edge.position = .last(stamp, .string(Position.between(nil, nil, device: id)))
        state.edges[.init("tags", id)] = edge
        state.aliases = [id]
        var small = ObjectState(id: id, entity: .init("Item", stamp))
        small.created = stamp
        small.properties["name"] = .last(stamp, .stored)

        var seen = VersionVector()
        seen.insert(id, 1...4)
        switch reader {
        case .syncSegment:
            var nilNames = NilNames()
            nilNames["Item"] = names
            let segment = Segment(
                device: id, number: 1, modelHash: Data(), seen: seen, states: [state, small], nilNames: nilNames)
            return [try payload(.segment, segment.bytes)]
        case .syncSnapshot:
            let snapshot = Snapshot(device: id, number: 1, modelHash: Data(), contains: seen, states: [small, state])
            return [try payload(.snapshot, snapshot.bytes)]
        default:
            var coder = coder()
            return [coder.encode(small), coder.encode(state)]
        }
    }

    private static func payload(_ kind: Frame.Kind, _ bytes: Data) throws -> Data {
        var reader = try Frame.open(kind, bytes)
        return try reader.raw(reader.remaining)
    }
}
