import TestSupport
import Testing

/// What the short form of the tests leaves out on one day, it tries on another.
@Suite struct TrialsTests {
    @Test(arguments: [(2, 1), (3, 1), (10, 5), (12, 1), (16, 5), (19, 7), (25, 1), (166, 1)])
    func everyRoundOfDaysTriesAll(full: Int, least: Int) {
        let count = max(least, full / 4)
        let days = (full + count - 1) / count
        for round in 0..<5 {
            let parts = (0..<days).map { day in
                Trials.rotated(full, atLeast: least, place: 7, isLong: false, day: round * days + day)
            }
            #expect(parts.allSatisfy { $0.count == count && Set($0).count == count && $0 == $0.sorted() })
            #expect(Set(parts.joined()) == Set(0..<full))
        }
    }

    @Test func twoListsOfOneLengthMeetInAllCombinations() {
        var met: Set<[Int]> = []
        for day in 0..<300 {
            for first in Trials.rotated(3, place: 1, isLong: false, day: day) {
                for second in Trials.rotated(6, place: 2, isLong: false, day: day) { met.insert([first, second]) }
            }
        }
        #expect(met.count == 18)
    }

    @Test func theLongFormTriesAll() {
        #expect(Trials.rotated(12, place: 7, isLong: true, day: 3) == Array(0..<12))
        #expect(Trials.rotated(2, atLeast: 2, place: 7, isLong: false, day: 3) == [0, 1])
        #expect(Trials.rotated(0, place: 7, isLong: false, day: 3).isEmpty)
    }
}
