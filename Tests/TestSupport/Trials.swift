import Foundation

/// The number of seeds, kills and rounds that tests of random work try.
///
/// `make test` runs a short form of each such test: a quarter of its seeds, other ones every day, so that a week of runs tries all of
/// them. `make test-long` sets `COREDATA_LONG_TESTS` and runs all. A failing test names its seed.
///
/// A list is divided into parts, one for each day. The order of the parts is random, and another one in each round of them and at each
/// place in the tests that asks: a test that takes some of two lists, such as scenarios and seeds, comes to all of their combinations.
///
/// | Variable | Meaning |
/// | --- | --- |
/// | `COREDATA_LONG_TESTS` | all seeds, kills and rounds |
/// | `COREDATA_SEEDS=80` | the seeds 1 to 80 in each test |
/// | `COREDATA_FIRST_SEED=7` | the seeds from 7 on |
/// | `COREDATA_ROTATION=3` | the seeds of the third day, to repeat a run of another day |
public enum Trials {
    /// Whether tests run in full.
    public static let isLong = environment("COREDATA_LONG_TESTS") != nil

    /// The seeds of a test that has `full` of them.
    ///
    ///     Trials.seeds(12)    // [4, 5, 6] on one day, [10, 11, 12] on the next; 1 to 12 in the long form
    public static func seeds(_ full: Int, file: StaticString = #fileID, line: Int = #line) -> [UInt64] {
        let first = number("COREDATA_FIRST_SEED")
        if let asked = number("COREDATA_SEEDS") ?? first {
            return ((first ?? 1)...max(first ?? 1, asked)).map(UInt64.init)
        }
        return rotated(full, place: place(file, line)).map { UInt64($0 + 1) }
    }

    /// The number of rounds of a test that has `full` of them: a quarter in the short form, at least `least`.
    public static func count(_ full: Int, atLeast least: Int = 1) -> Int {
        isLong ? full : min(full, max(least, full / 4))
    }

    /// The elements that the short form tries: a quarter, at least `least`, other ones every day.
    public static func some<Element>(
        of all: [Element], atLeast least: Int = 1, file: StaticString = #fileID, line: Int = #line
    ) -> [Element] {
        rotated(all.count, atLeast: least, place: place(file, line)).map { all[$0] }
    }

    /// Indices below `full`: all of them, or the part of the day. Each index comes in each round of as many days as there are parts.
    ///
    /// - Parameter place: gives the parts another order for each place that asks.
    package static func rotated(
        _ full: Int, atLeast least: Int = 1, place: UInt64, isLong: Bool = Trials.isLong, day: Int = Trials.day
    ) -> [Int] {
        if isLong || full <= least { return Array(0..<max(0, full)) }
        let short = max(least, full / 4)
        let parts = (full + short - 1) / short
        var numbers = SeededNumbers(seed: place &+ UInt64(day / parts))
        let first = Array(0..<parts).shuffled(using: &numbers)[day % parts] * short
        return (0..<short).map { (first + $0) % full }.sorted()
    }

    /// A number of a place in the sources, equal in every run.
    private static func place(_ file: StaticString, _ line: Int) -> UInt64 {
        // FNV-1a.
        file.description.utf8.reduce(0xCBF2_9CE4_8422_2325 ^ UInt64(line)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    package static let day = number("COREDATA_ROTATION") ?? Int(Date().timeIntervalSince1970 / 86400)

    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }
    private static func number(_ name: String) -> Int? { environment(name).flatMap { Int($0) } }
}
