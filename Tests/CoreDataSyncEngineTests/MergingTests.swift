import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

/// Merging is a join: the order in which states arrive, and how often, makes no difference.
@Suite struct MergingTests {
    /// Checks the laws of a join for three values.
    private func check<Value: Equatable>(
        _ a: Value, _ b: Value, _ c: Value, _ name: String, _ merge: (Value, Value) -> Value
    ) {
        #expect(merge(a, a) == a, "\(name) is not idempotent: \(a)")
        #expect(merge(a, b) == merge(b, a), "\(name) is not commutative: \(a), \(b)")
        #expect(merge(merge(a, b), c) == merge(a, merge(b, c)), "\(name) is not associative: \(a), \(b), \(c)")
        #expect(merge(merge(a, b), a) == merge(a, b), "\(name): what is known is merged again: \(a), \(b)")
    }

    @Test(arguments: Trials.seeds(40))
    func propertiesMergeInAnyOrder(seed: UInt64) {
        var random = RandomStates(seed: seed)
        for round in 0..<200 {
            random.times = round % 2 == 0 ? 2 : 8
            let (a, b, c) = (random.property(), random.property(), random.property())
            check(a, b, c, "seed \(seed)") { $0.merged(with: $1) }
        }
    }

    @Test(arguments: Trials.seeds(40))
    func pairsMergeInAnyOrder(seed: UInt64) {
        var random = RandomStates(seed: seed)
        for _ in 0..<100 {
            let (a, b, c) = (random.edge(), random.edge(), random.edge())
            check(a, b, c, "seed \(seed)") { $0.merged(with: $1) }
        }
    }

    @Test(arguments: Trials.seeds(40))
    func objectsMergeInAnyOrder(seed: UInt64) {
        var random = RandomStates(seed: seed)
        for _ in 0..<40 {
            let (a, b, c) = (random.state(), random.state(), random.state())
            check(a, b, c, "seed \(seed)") { $0.merged(with: $1) }
        }
    }

    /// Any order of the same parts, each of them sometimes twice, gives the same bytes.
    @Test(arguments: Trials.seeds(20))
    func partsInAnyOrderGiveTheSameState(seed: UInt64) {
        var random = RandomStates(seed: seed)
        let parts = (0..<8).map { _ in random.state() }
        var results: Set<Data> = []
        for _ in 0..<10 {
            let order = (parts + parts.filter { _ in random.numbers.chance(3) }).shuffled(using: &random.numbers)
            var state = order[0]
            for part in order.dropFirst() { state.merge(part) }
            results.insert(StateList.encode([state]).states.asData)
        }
        #expect(results.count == 1, "seed \(seed)")
    }

    /// What a minimum keeps: values and times as they are merged; what remains, in the order of times.
    @Test(
        arguments: [
            ([(1, 5)], [(1, 5)]), ([(1, 5), (2, 3)], [(2, 3)]), ([(1, 5), (2, 5)], [(2, 5)]),
            ([(1, 5), (2, 7)], [(1, 5), (2, 7)]), ([(1, 5), (2, 7), (3, 6)], [(1, 5), (3, 6)]),
            ([(1, 5), (1, 3)], [(1, 3)]), ([(3, 9), (2, 7), (1, 5)], [(1, 5), (2, 7), (3, 9)]),
            ([(3, 9), (2, 7), (1, 5), (4, 0)], [(4, 0)]), ([(2, 7), (2, 5), (1, 6)], [(2, 5)]),
        ] as [([(UInt64, Int64)], [(UInt64, Int64)])])
    func minimumKeepsWhatMayWinAfterADeletion(merged: [(UInt64, Int64)], kept: [(UInt64, Int64)]) {
        func candidate(_ time: UInt64, _ value: Int64) -> PropertyState.Candidate {
            .init(Stamp(ticks: time << 16, device: RandomStates.devices[0]), .integer(value))
        }
        func state(_ sign: Int64, _ make: (Stamp, SyncValue) -> PropertyState) -> PropertyState {
            let states = merged.map { candidate($0.0, $0.1 * sign) }.map { make($0.stamp, $0.value) }
            return states.dropFirst().reduce(states[0]) { $0.merged(with: $1) }
        }
        #expect(state(1, PropertyState.minimum).candidates == kept.map { candidate($0.0, $0.1) })
        #expect(state(-1, PropertyState.maximum).candidates == kept.map { candidate($0.0, -$0.1) })
    }

    @Test func noValueIsTheWorstMinimumAndMaximum() {
        let (early, late) = (RandomStates.devices[0], RandomStates.devices[1])
        let none = Stamp(ticks: 1 << 16, device: early)
        let some = Stamp(ticks: 1 << 16, device: late)
        #expect(
            PropertyState.minimum(none, .null).merged(with: .minimum(some, .integer(1))) == .minimum(some, .integer(1)))
        #expect(
            PropertyState.maximum(none, .null).merged(with: .maximum(some, .integer(1))) == .maximum(some, .integer(1)))
    }

    /// The order of values is total: of three values, none comes before itself by way of the others.
    @Test func valuesHaveATotalOrder() {
        let decimals = [
            "1", "1.0", "9", "10", "-3", "1e3", "NaN", "x", "-", "", "9x", "5abc", "Infinity", "0x10", "1e", "1x", "2-",
            "1 0", "1e999",
        ]
        var values: [SyncValue] = decimals.map(SyncValue.decimal)
        values += [.null, .stored, .integer(1), .integer(-1), .string("\u{e9}"), .string("e\u{301}"), .uri("a")]
        values += [0.0, -0.0, 1, -1, .nan, -.nan, .infinity, -.infinity].map { .double($0.bitPattern) }
        values += [
            .data(Data()), .data(Data([1])), .blob(digest: Data([1]), size: 1), .blob(digest: Data([1]), size: 2),
        ]
        for a in values {
            #expect(!a.precedes(a), "\(a)")
            for b in values where a != b {
                #expect(a.precedes(b) != b.precedes(a), "\(a), \(b)")
                for c in values where a.precedes(b) && b.precedes(c) { #expect(a.precedes(c), "\(a), \(b), \(c)") }
            }
        }
        #expect(SyncValue.decimal("9").precedes(.decimal("10")))
        #expect(SyncValue.double((-1.0).bitPattern).precedes(.double(0)))
    }
}
