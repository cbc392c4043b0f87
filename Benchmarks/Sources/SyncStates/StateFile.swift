import CoreDataSyncEngine
import Foundation

/// A file with the states of items, for the benchmark of merging. The engine's types are visible in the framework's package only, so
/// this target is compiled as a part of it; see `Package.swift`.
public struct StateFile: Sendable {
    private let snapshot: Snapshot

    public init(contentsOf url: URL) throws { snapshot = try Snapshot(bytes: Data(contentsOf: url)) }

    private init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    /// Makes the states of items, of which the first ones were edited afterwards.
    public static func make(_ count: Int, edited: Int) -> Self {
        let (device, editor) = (DeviceID(high: 1, low: 2), DeviceID(high: 3, low: 4))
        let (created, changed) = (
            Stamp(ticks: 800_000_000_000 << 16, device: device), Stamp(ticks: 800_000_001_000 << 16, device: editor)
        )
        let states = (0..<count).map { number in
            var state = ObjectState(
                id: GlobalID(high: UInt64(number) &* 0x9E37_79B9_7F4A_7C15, low: UInt64(number)),
                entity: .init("Item", created))
            (state.born, state.created) = (created, created)
            let values: [(String, SyncValue)] = [
                ("added", .date((800_000_000 + Double(number)).bitPattern)),
                ("aisle", .reference(GlobalID(high: 5, low: UInt64(number % 20)))),
                ("isBought", .integer(Int64(number % 2))), ("name", .string("Item number \(number)")),
                ("priority", .integer(Int64(number % 10))), ("quantity", .double(Double(number % 97).bitPattern)),
            ]
            for (name, value) in values { state.properties[name] = .last(created, value) }
            if number < edited { state.properties["quantity"] = .last(changed, .double((-1.0).bitPattern)) }
            return state
        }
        return Self(
            Snapshot(
                device: device, number: 1, modelHash: Data(count: 32), contains: VersionVector(),
                states: states.sorted { $0.id < $1.id }))
    }

    public func write(to url: URL) throws { try snapshot.bytes.write(to: url) }

    public var count: Int { snapshot.states.count }

    /// The states that know both.
    public func merged(with other: Self) -> Self {
        var result = snapshot
        result.states = ObjectState.joined(snapshot.states, other.snapshot.states)
        return Self(result)
    }

    /// How many objects have other values than in a file with the same objects.
    public func differences(from other: Self) -> Int {
        zip(snapshot.states, other.snapshot.states).count { $0.id != $1.id || $0.properties != $1.properties }
    }
}
