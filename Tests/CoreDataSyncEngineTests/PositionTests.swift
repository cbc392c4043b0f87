import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

@Suite struct PositionTests {
    private let device = DeviceID(high: 1, low: 1)
    private let other = DeviceID(high: 1, low: 2)

    /// Whether each position comes before the next one.
    private func isAscending(_ positions: [String]) -> Bool {
        zip(positions, positions.dropFirst()).allSatisfy { Position.precedes($0, $1) }
    }

    /// Where the next member goes into a list of a number of members, and the greatest length that its positions may have then.
    enum Place: String, CaseIterable {
        case end, start, afterFirst, beforeLast, middleRightward, middleLeftward, betweenTheLastTwo

        var greatestLength: Int {
            switch self {
            case .end, .start: 17
            case .afterFirst, .beforeLast, .middleRightward, .middleLeftward: 22
            // A third of a byte for each of 1,000.
            case .betweenTheLastTwo: 360
            }
        }
    }

    @Test(arguments: Place.allCases)
    func lengthStaysBoundedInThousandsOfInsertsAtOnePlace(place: Place) throws {
        let count = place == .betweenTheLastTwo ? 1_000 : Trials.count(10_000)
        let ends = Position.several(2, between: nil, nil, device: device)
        let middle = Position.between(ends[0], ends[1], device: other)
        var (low, high): (String?, String?) =
            switch place {
            case .end: (ends[1], nil)
            case .start: (nil, ends[0])
            case .afterFirst, .beforeLast, .betweenTheLastTwo: (ends[0], ends[1])
            case .middleRightward: (middle, ends[1])
            case .middleLeftward: (ends[0], middle)
            }
        var longest = 0
        for index in 0..<count {
            let position = Position.between(low, high, device: device)
            try #require(low.map { Position.precedes($0, position) } ?? true, "\(index)")
            try #require(high.map { Position.precedes(position, $0) } ?? true, "\(index)")
            longest = max(longest, position.utf8.count)
            switch place {
            case .end, .beforeLast, .middleRightward: low = position
            case .start, .afterFirst, .middleLeftward: high = position
            case .betweenTheLastTwo: if index % 2 == 0 { low = position } else { high = position }
            }
        }
        #expect(longest <= place.greatestLength)
    }

    /// Two devices insert at random places of one list, sometimes at one place at the same time.
    @Test(arguments: Trials.seeds(20))
    func listKeepsItsOrder(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        let stays = numbers.chance(2)
        var (list, place) = ([String](), 0)
        for index in 0..<Trials.count(1_000) {
            if !stays || numbers.chance(50) { place = numbers.below(list.count + 1) }
            place = min(place, list.count)
            let (low, high) = (place > 0 ? list[place - 1] : nil, place < list.count ? list[place] : nil)
            let count = numbers.chance(20) ? numbers.below(30) : 1
            var added = Position.several(count, between: low, high, device: device)
            if numbers.chance(4) { added += Position.several(count, between: low, high, device: other) }
            added.sort(by: Position.precedes)
            let all = [low].compactMap(\.self) + added + [high].compactMap(\.self)
            try #require(isAscending(all), "seed \(seed), step \(index)")
            list.insert(contentsOf: added, at: place)
            if numbers.chance(2) { place += 1 }
        }
        #expect(isAscending(list))
        // Inserts that stay at one place go left and right of the last one at random.
        #expect(list.map(\.utf8.count).max() ?? 0 < (stays ? 700 : 200))
    }

    @Test func devicesMakeDifferentPositionsAtOnePlace() {
        let ends = Position.several(2, between: nil, nil, device: device)
        for (low, high) in [(nil, nil), (ends[0], ends[1]), (ends[1], nil)] as [(String?, String?)] {
            let a = Position.between(low, high, device: device)
            let b = Position.between(low, high, device: other)
            #expect(a != b)
            // A third member fits between them, and again, from either side.
            var (first, last) = Position.precedes(a, b) ? (a, b) : (b, a)
            for index in 0..<100 {
                let middle = Position.between(first, last, device: device)
                #expect(isAscending([first, middle, last]))
                if index % 3 == 0 { first = middle } else { last = middle }
            }
        }
    }

    @Test func marksOfDevicesDiffer() {
        let devices = (0..<2_000).map { DeviceID(high: UInt64($0 % 40) << 32, low: UInt64($0 / 40)) }
        #expect(Set(devices.map(Tokens.mark)).count == devices.count)
    }

    @Test(arguments: [1, 2, 3, 5_000])
    func severalAreAscendingAndShort(count: Int) {
        let ends = Position.several(2, between: nil, nil, device: device)
        let near = Position.several(
            2, between: ends[0], Position.between(ends[0], ends[1], device: device), device: other)
        let neighbours: [(String?, String?)] = [
            (nil, nil), (nil, ends[0]), (ends[1], nil), (ends[0], ends[1]), (near[0], near[1]), (ends[0], near[0]),
        ]
        for (low, high) in neighbours {
            let positions = Position.several(count, between: low, high, device: device)
            #expect(positions.count == count)
            #expect(isAscending([low].compactMap(\.self) + positions + [high].compactMap(\.self)))
            #expect((positions.first?.utf8.count ?? 0) <= 22)
        }
    }

    @Test(
        arguments: [
            ([], []), (["b"], [0]), (["a", "b", "c"], [0, 1, 2]), (["c", "a", "b"], [1, 2]),
            (["b", "c", "a"], [0, 1]),
            (["a", nil, "b"], [0, 2]), ([nil, nil], []), (["a", "a"], [1]),
            (["d", "a", "e", "b", "f", "c", "g"], [1, 3, 5, 6]),
            (["c", "b", "a"], [2]),
        ] as [([String?], [Int])])
    func keepsTheLongestAscendingSubsequence(known: [String?], kept: [Int]) {
        #expect(Position.kept(known) == kept)
    }

    /// Against all subsequences of short lists.
    @Test(arguments: Trials.seeds(8))
    func noLongerSubsequenceAscends(seed: UInt64) {
        var numbers = SeededNumbers(seed: seed)
        for _ in 0..<40 {
            let known = (0..<numbers.below(9)).map { _ in
                numbers.chance(5) ? nil : numbers.pick(["a", "b", "c", "d", "e"])
            }
            var longest = 0
            for mask in 0..<1 << known.count {
                let chosen = known.indices.filter { mask >> $0 & 1 == 1 }.map { known[$0] }
                guard !chosen.contains(nil), isAscending(chosen.compactMap(\.self)) else { continue }
                longest = max(longest, chosen.count)
            }
            let kept = Position.kept(known)
            #expect(kept.count == longest && isAscending(kept.compactMap { known[$0] }), "\(known)")
        }
    }

    @Test(arguments: Trials.seeds(20))
    func assignMovesOnlyWhatMoved(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        var list: [String?] = Array(repeating: nil, count: numbers.below(20) + 1)
        for _ in 0..<60 {
            let kept = Position.kept(list)
            let added = Position.assign(list, device: device)
            #expect(Set(added.keys) == Set(list.indices).subtracting(kept))
            for (index, position) in added { list[index] = position }
            try #require(isAscending(list.compactMap(\.self)), "seed \(seed)")
            switch numbers.below(4) {
            case 0: list.insert(nil, at: numbers.below(list.count + 1))
            case 1: list.insert(list.remove(at: numbers.below(list.count)), at: numbers.below(list.count + 1))
            case 2: list.shuffle(using: &numbers)
            default: if list.count > 1 { list.remove(at: numbers.below(list.count)) }
            }
        }
    }

    @Test func oneMovedMemberGetsOnePosition() {
        var list: [String?] = Position.several(100, between: nil, nil, device: device)
        list.insert(list.remove(at: 80), at: 3)
        #expect(Position.assign(list, device: device).keys.sorted() == [3])
        #expect(Position.assign([], device: device).isEmpty)
    }

    /// Texts of other programs get positions; nothing stops.
    @Test(arguments: [
        "", "!", "a", "V-------", "V-------!", "V-------!abc", "!k3J0aWx9", "V-------!k3J0aWx9!k3J0aWx9", "日本語日本語",
        "--------!k3J0aWx9", "V-------V----", "V-------!k3J0aWx9V----", "zzzzzzzz!zzzzzzz\u{7f}",
    ])
    func textsThatAreNoPositionsAreReplaced(text: String) {
        let valid = Position.between(nil, nil, device: device)
        for (low, high) in [(text, nil), (nil, text), (text, valid), (valid, text), (text, text)]
            as [(String?, String?)]
        {
            #expect(Tokens(Position.between(low, high, device: device)) != nil)
        }
        let assigned = Position.assign([text, valid, text], device: device)
        #expect(assigned.keys.sorted() == [0, 2])
        #expect(isAscending([assigned[0] ?? "", valid, assigned[2] ?? ""]))
    }

    @Test func greatestAndLeastNumbersHaveRoomBeside() {
        let positions = ["zzzzzzzz!k3J0aWx9", "-------0!k3J0aWx9", "zzzzzzzzzzzzz!k3J0aWx9", "------------0!k3J0aWx9"]
        for position in positions {
            #expect(Tokens(position) != nil, "\(position)")
            #expect(Position.precedes(position, Position.between(position, nil, device: device)))
            #expect(Position.precedes(Position.between(nil, position, device: device), position))
        }
        // The neighbours in the wrong order: after the first.
        #expect(Position.precedes(positions[0], Position.between(positions[0], positions[1], device: device)))
    }
}
