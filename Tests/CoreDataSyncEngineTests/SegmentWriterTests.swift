import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

/// Segments that are written state by state, and lists of states that are merged.
@Suite struct SegmentWriterTests {
    @Test(arguments: Trials.seeds(10))
    func writesTheBytesOfASegment(seed: UInt64) throws {
        let segment = FileTests.segment(seed: seed, count: Int(seed))
        var writer = SegmentWriter()
        for state in segment.states { writer.append(state) }
        #expect(writer.count == segment.states.count)
        let bytes = writer.bytes(
            device: segment.device, number: segment.number, modelHash: segment.modelHash, seen: segment.seen,
            nilNames: segment.nilNames)
        #expect(bytes == segment.bytes)
    }

    @Test func newObjectsAreStatesWithOneStamp() throws {
        let stamp = Stamp(ticks: 800_000_000_000 << 16 | 3, device: FileTests.device)
        var writer = SegmentWriter()
        // "name" has a number before the drinks' other names have theirs.
        let units = writer.columns(entity: "Unit", ["name"])
        let drinks = writer.columns(entity: "Drink", ["best", "name", "unit"])
        let values: [SyncValue] = [
            .null, .string("kg"), .double(5), .string("Milk"), .reference(GlobalID(high: 1, low: 1)),
        ]
        writer.append(new: GlobalID(high: 1, low: 1), units, stamp, values, from: 1)
        writer.append(new: GlobalID(high: 1, low: 2), drinks, stamp, values, from: 2)
        writer.append(new: GlobalID(high: 1, low: 3), units, stamp, values, from: 0)
        let bytes = writer.bytes(device: FileTests.device, number: 1, modelHash: Data([1]), seen: VersionVector())
        func state(_ id: UInt64, _ entity: String, _ values: [String: SyncValue]) -> ObjectState {
            var state = ObjectState(id: GlobalID(high: 1, low: id), entity: .init(entity, stamp))
            (state.born, state.created) = (stamp, stamp)
            state.properties = PropertyTable(values.mapValues { .last(stamp, $0) })
            return state
        }
        #expect(
            try Segment(bytes: bytes).states == [
                state(1, "Unit", ["name": .string("kg")]),
                state(2, "Drink", ["best": .double(5), "name": .string("Milk"), "unit": values[4]]),
                state(3, "Unit", [:]),
            ])
    }

    /// Against a dictionary of all states.
    @Test(arguments: Trials.seeds(20))
    func joinedListsHaveOneStateForEachObject(seed: UInt64) {
        var random = RandomStates(seed: seed)
        var lists: [[ObjectState]] = (0..<2).map { _ in (0..<6).map { _ in random.state(random.numbers.pick(Self.ids)) }
        }
        // Half of the trials have lists in order, without an object twice.
        if seed % 2 == 0 {
            lists = lists.map { list in
                Dictionary(list.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }).values.sorted {
                    $0.id < $1.id
                }
            }
        }
        var expected: [GlobalID: ObjectState] = [:]
        for state in lists[0] + lists[1] { expected[state.id] = expected[state.id]?.merged(with: state) ?? state }
        let joined = ObjectState.joined(lists[0], lists[1])
        #expect(joined == expected.values.sorted { $0.id < $1.id })
        #expect(ObjectState.joined(lists[1], lists[0]) == joined)
    }

    private static let ids = (1...9).map { GlobalID(high: 0x7000, low: UInt64($0)) }
}
