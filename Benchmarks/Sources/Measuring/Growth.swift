/// Work whose cost for each object must not depend on how many there are.
package enum GrowthKind: String, CaseIterable, Codable, Sendable {
    case insert = "G1"
    case fetch = "G2"
    case update = "G3"
    case append = "G4"
    case appendOrdered = "G5"
    case insertInMiddle = "G6"
    case saveInMiddle = "G7"
    case remove = "G8"
    case removeFromMiddle = "G9"
    case removeAll = "G10"
    case removeAllOrdered = "G11"
    case change = "G12"
    case changeOne = "G13"
    case saveOne = "G14"
    case contexts = "G15"
    case busyContexts = "G16"
    case stores = "G17"
    case observers = "G18"
    case saveAppended = "G19"
    case saveAppendedOrdered = "G20"

    package var title: String {
        switch self {
        case .insert: "insert and save, each"
        case .fetch: "fetch and read, each"
        case .update: "change and save, each"
        case .append: "append to a to-many, each"
        case .appendOrdered: "append to an ordered to-many, each"
        case .insertInMiddle: "insert one in the middle of n ordered"
        case .saveInMiddle: "insert one in the middle of n ordered, save"
        case .remove: "remove one of n unordered"
        case .removeFromMiddle: "remove one from the middle of n ordered"
        case .removeAll: "remove all, each"
        case .removeAllOrdered: "remove all of an ordered to-many, each"
        case .change: "change, process, each"
        case .changeOne: "change one of n registered, process"
        case .saveOne: "change one of n registered, save"
        case .contexts: "context with a fetch, each of n alive"
        case .busyContexts: "context asked asynchronously, each of n at once"
        case .stores: "fetch from n stores, each object"
        case .observers: "save that n observe, each observer"
        case .saveAppended: "append one to n unordered, save"
        case .saveAppendedOrdered: "append one to n ordered, save"
        }
    }

    /// How many there are at each step, the numbers of rows aside; `nil`: as many as rows.
    package var counts: [Int]? {
        switch self {
        case .contexts, .busyContexts: [10, 100, 1000]
        case .stores: [1, 2, 4, 8, 16, 32]
        case .observers: [1, 10, 100, 1000]
        default: nil
        }
    }

    /// The factor from one step to the next that is still called flat.
    ///
    /// Ten times as many objects are no longer in the processor's caches, and a tree of SQLite's is a level deeper;
    /// what grows with the number of objects has a factor of 10.
    package static let bound = 2.0

    /// More threads than before that a process may have.
    package var mostThreads: Int? {
        switch self {
        case .contexts: 4
        case .busyContexts: 64
        default: nil
        }
    }
}

/// What one piece of the work took where there were `count`.
package struct GrowthPoint: Codable {
    package let count: Int
    /// Nanoseconds of processor time.
    package let nanoseconds: Double
    /// The same of plain C calls, where they do the same.
    package let raw: Double?
    /// Threads that the process gained.
    package let threads: Int?
    /// Seconds that one round took.
    package let round: Double

    package init(count: Int, nanoseconds: Double, raw: Double?, threads: Int?, round: Double) {
        self.count = count
        self.nanoseconds = nanoseconds
        self.raw = raw
        self.threads = threads
        self.round = round
    }
}

/// The steps of one kind of work.
package struct GrowthResult: Codable {
    package let kind: GrowthKind
    package var points: [GrowthPoint] = []
    /// Numbers that would have taken too long, by what the steps before took.
    package var skipped: [Int] = []

    package init(kind: GrowthKind) { self.kind = kind }

    /// Seconds that a round may take.
    private static let longestRound = 60.0

    /// Whether a round would take too long, if the time goes on to grow as it did in the last step.
    package func isTooLong(_ count: Int) -> Bool {
        guard let last = points.last else { return false }
        let steps = Double(count) / Double(last.count)
        let factor = factor(at: points.count - 1) ?? 1
        return last.round * steps * max(1, factor) > Self.longestRound
    }

    /// The cost beside that of the step before.
    package func factor(at index: Int) -> Double? {
        index > 0 ? points[index].nanoseconds / points[index - 1].nanoseconds : nil
    }

    package func rawFactor(at index: Int) -> Double? {
        guard index > 0, let now = points[index].raw, let before = points[index - 1].raw else { return nil }
        return now / before
    }

    package func isFlat(at index: Int) -> Bool {
        if let most = kind.mostThreads, (points[index].threads ?? 0) > most { return false }
        return (factor(at: index) ?? 1) <= GrowthKind.bound
    }

    package var isFlat: Bool { skipped.isEmpty && points.indices.allSatisfy(isFlat) }
}

extension Report {
    /// Nanoseconds for each object and the factor to the step before; a ✗ marks what is not flat.
    package var growthTable: String {
        var table = Table(
            ["growth", "", "n", "ns", "factor", "bound", "", "raw ns", "factor", "threads"], leading: [0, 1, 6])
        for result in growth {
            for (index, point) in result.points.enumerated() {
                table.add([
                    result.kind.rawValue, result.kind.title, Self.grouped(point.count),
                    Self.grouped(Int(point.nanoseconds.rounded())), Self.factor(result.factor(at: index)),
                    index > 0 ? Self.factor(GrowthKind.bound) : "", result.isFlat(at: index) ? "" : "✗",
                    point.raw.map { Self.grouped(Int($0.rounded())) } ?? "", Self.factor(result.rawFactor(at: index)),
                    point.threads.map { "+\($0)" } ?? "",
                ])
            }
            for count in result.skipped {
                table.add([result.kind.rawValue, result.kind.title, Self.grouped(count), "too long", "", "", "✗"])
            }
        }
        return table.text
    }

    private static func factor(_ value: Double?) -> String { value.map { String(format: "%.2f", $0) } ?? "" }
}
