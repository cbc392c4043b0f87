import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

@Suite struct ReadingTests {
    private static let devices = RandomStates.devices

    private static func stamp(_ time: UInt64, _ device: Int = 0) -> Stamp {
        Stamp(ticks: time << 16, device: devices[device])
    }

    private static func state(
        created: UInt64?, deleted: UInt64?, _ property: UInt64? = nil, edge: UInt64? = nil
    )
        -> ObjectState
    {
        var state = ObjectState(id: RandomStates.ids[0], entity: .init("Item", stamp(1)))
        state.created = created.map { stamp($0) }
        state.deleted = deleted.map { stamp($0) }
        if let property { state.properties["name"] = .last(stamp(property), .string("Milk")) }
        if let edge { state.edges[.init("tags", RandomStates.ids[1])] = EdgeState(added: stamp(edge)) }
        return state
    }

    /// Times of creation, deletion, a property and a pair; whether the object exists by either rule.
    @Test(
        arguments: [
            (nil, nil, 5, nil, false, false), (1, nil, nil, nil, true, true), (1, 2, nil, nil, false, false),
            (1, 2, 1, nil, false, false), (1, 2, 3, nil, false, true), (1, 2, 2, nil, false, false),
            (3, 2, nil, nil, true, true), (2, 2, nil, nil, false, false), (1, 2, nil, 3, false, true),
            (1, 2, nil, 2, false, false), (nil, 2, 3, nil, false, true), (nil, 2, nil, nil, false, false),
        ] as [(UInt64?, UInt64?, UInt64?, UInt64?, Bool, Bool)])
    func existsByTheLatestCreationAndDeletion(
        created: UInt64?, deleted: UInt64?, property: UInt64?, edge: UInt64?, deleteWins: Bool, editWins: Bool
    ) {
        let state = Self.state(created: created, deleted: deleted, property, edge: edge)
        #expect(state.exists(.deleteWins) == deleteWins)
        #expect(state.exists(.editWins) == editWins)
    }

    /// Times of the deletion, the property and the pair; what counts if deletions win.
    @Test(
        arguments: [
            (nil, 1, true), (2, 1, false), (2, 2, false), (2, 3, true), (nil, nil, false),
        ] as [(UInt64?, UInt64?, Bool)])
    func valuesFromBeforeADeletionDoNotCount(deleted: UInt64?, written: UInt64?, counts: Bool) {
        let state = Self.state(created: 9, deleted: deleted, written, edge: written)
        #expect((state.counted(.deleteWins)["name"] != nil) == counts)
        #expect((state.counted(.editWins)["name"] != nil) == (written != nil))
        #expect(state.countedEdges(.deleteWins).isEmpty == !counts)
        #expect(state.countedEdges(.editWins).isEmpty == (written == nil))
    }

    /// The meaning of a state: everything that a device shows or decides by.
    private struct Meaning: Equatable {
        let exists: Bool
        let entity: ObjectState.EntityClaim
        let born: Stamp?
        let properties: PropertyTable
        let edges: [ObjectState.Edge: EdgeState]
        let aliases: Set<GlobalID>

        init(_ state: ObjectState, _ rule: DeletionRule) {
            (exists, entity, born) = (state.exists(rule), state.entity, state.born)
            (properties, edges, aliases) = (state.counted(rule), state.countedEdges(rule), state.aliases)
        }
    }

    /// Devices compact at different times, before and after they merge.
    @Test(arguments: Trials.seeds(80), [DeletionRule.deleteWins, .editWins])
    func compactingChangesNoMeaningWhateverIsMergedLater(seed: UInt64, rule: DeletionRule) {
        var random = RandomStates(seed: seed)
        for round in 0..<60 {
            random.times = round % 2 == 0 ? 4 : 12
            let parts = (0..<random.numbers.below(5) + 1).map { _ in random.state() }
            var (whole, compacted) = (parts[0], parts[0].compacted(rule))
            #expect(Meaning(whole, rule) == Meaning(compacted, rule), "seed \(seed)")
            for part in parts.dropFirst() {
                whole.merge(part)
                if random.numbers.chance(2) { compacted.merge(part) } else { compacted.merge(part.compacted(rule)) }
                if random.numbers.chance(2) { compacted = compacted.compacted(rule) }
                #expect(Meaning(whole, rule) == Meaning(compacted, rule), "seed \(seed)")
            }
            #expect(whole.compacted(rule) == compacted.compacted(rule), "seed \(seed)")
            #expect(compacted.compacted(rule) == compacted.compacted(rule).compacted(rule))
        }
    }

    /// A sum of an object that was deleted and created again begins anew.
    @Test func sumCountsContributionsAfterTheDeletion() {
        var state = Self.state(created: 3, deleted: 2)
        let (a, b) = (Self.devices[0], Self.devices[1])
        let parts: [DeviceID: PropertyState.Contribution] = [
            a: .init(ticks: 1 << 16, amount: .integer(7)), b: .init(ticks: 4 << 16, amount: .integer(1)),
        ]
        state.properties["count"] = .counter(parts)
        #expect(state.counted(.deleteWins)["count"] == .counter([b: parts[b] ?? .init(ticks: 0, amount: .null)]))
        #expect(state.counted(.editWins)["count"] == .counter(parts))
    }

    /// A minimum of an object that was deleted and created again forgets the values of before.
    @Test func minimumCountsValuesAfterTheDeletion() {
        var state = Self.state(created: 3, deleted: nil)
        state.properties["best"] = PropertyState.minimum(Self.stamp(1), .integer(50))
            .merged(with: .minimum(Self.stamp(4), .integer(60)))
        #expect(state.counted(.deleteWins)["best"] == .minimum(Self.stamp(1), .integer(50)))
        state.deleted = Self.stamp(2)
        #expect(state.counted(.deleteWins)["best"] == .minimum(Self.stamp(4), .integer(60)))
        #expect(state.counts(.minimum(Self.stamp(2), .null), .deleteWins) == false)
    }
}
