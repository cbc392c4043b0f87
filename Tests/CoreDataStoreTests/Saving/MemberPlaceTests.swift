import CoreDataStore
import TestSupport
import Testing

/// Order values: which members keep theirs, and what the others get.
@Suite struct MemberPlaceTests {
    @Test(
        arguments: [
            ([], []), ([nil], [2048]), ([nil, nil, nil], [2048, 3072, 4096]),
            // Before, between and behind.
            ([nil, 2048], [1536, 2048]), ([2048, nil, 3072], [2048, 2560, 3072]),
            ([2048, nil, nil, nil, 3072], [2048, 2304, 2560, 2816, 3072]), ([2048, nil, nil], [2048, 3072, 4096]),
            // Members that were moved, and members that went.
            ([4096, 2048, 3072], [1536, 2048, 3072]), ([3072, 4096, 2048], [3072, 4096, 5120]),
            ([2048, 5120], [2048, 5120]), ([2048, 2048, 3072], [1536, 2048, 3072]),
            // A gap that is used up: the next member moves, too; if there is no room behind it, the one before.
            ([2048, nil, 2049, 3072], [2048, 2389, 2730, 3072]),
            ([1200, 2048, nil, 2049, 2050, 2051], [1200, 1483, 1766, 2049, 2050, 2051]),
            // Values without gaps: to the end, once.
            ([1, 2, nil, 3, 4], [1, 2, 1026, 2050, 3074]), ([nil, 1, 2, 3], [2048, 3072, 4096, 5120]),
            ([1, 2, 3, nil], [1, 2, 3, 1027]), ([1, 3], [1, 3]),
            // Below zero, as another writer may have it.
            ([-5, nil, 7], [-5, 1, 7]),
        ] as [([Int64?], [Int64])])
    func valuesAreMadeForMembersThatNeedOne(_ present: [Int64?], values: [Int64]) {
        #expect(MemberPlace.values(for: present) == values)
    }

    @Test func valuesBetweenNeighboursNeedRoom() {
        #expect(MemberPlace.values(2, after: 2048, before: nil) == [3072, 4096])
        #expect(MemberPlace.values(1, after: nil, before: 2048) == [1536])
        #expect(MemberPlace.values(3, after: 8, before: 12) == [9, 10, 11])
        #expect(MemberPlace.values(4, after: 8, before: 12) == nil)
        #expect(MemberPlace.values(1, after: nil, before: 1) == nil)
        #expect(MemberPlace.values(1, after: 12, before: 8) == nil)
    }

    @Test func valuesThatLeaveNoRoomAreMadeAnew() {
        let stored: [Int64?] = [2048, .max, nil, .min]
        #expect(MemberPlace.values(for: stored.map { $0.flatMap(MemberPlace.usable) }) == [2048, 3072, 4096, 5120])
        #expect(MemberPlace.usable(-7) == -7)
    }

    @Test("Whatever comes, goes and moves, values ascend and few change", arguments: Trials.seeds(16))
    func valuesAscend(seed: UInt64) {
        var random = SeededNumbers(seed: seed)
        var list: [Int64] = []
        var written = 0
        let place = random.below(4)
        for _ in 0..<200 {
            var next: [Int64?] = list
            switch random.below(8) {
            case 0 where !list.isEmpty: next.remove(at: random.below(list.count))
            case 1 where !list.isEmpty:
                next.insert(next.remove(at: random.below(list.count)), at: random.below(list.count))
            case 2: next.append(nil)
            // At one place over and over.
            default: next.insert(nil, at: min(place, next.count))
            }
            list = MemberPlace.values(for: next)
            written += zip(next, list).count { $0 != $1 }
            #expect(zip(list, list.dropFirst()).allSatisfy { $0 < $1 })
        }
        #expect(written < 200 * 8)
    }
}
