import Testing

/// The time of day comes from `StoreClock`, which a test can set; see docs/decisions/seams.md.
@Suite struct ClockTests {
    private static let targets = [
        "CoreDataPrimitives", "CoreDataXML", "CoreDataZip", "CoreDataDigests", "CoreDataModel", "CoreDataPredicate",
        "CoreDataSQL", "CoreDataSQLite", "CoreDataPostgreSQLDriver", "CoreDataStore", "CoreData",
    ]

    /// The files that ask the system, and why.
    private static let exceptions: [String: String] = [
        "Sources/CoreDataPrimitives/StoreClock.swift": "the one place",
        "Sources/CoreDataPrimitives/FolderLock.swift": "compares with the time of a file, which the system has set",
        "Sources/CoreData/FetchedResults/SectionCache.swift":
            "compares with the time of a file, which the system has set",
        "Sources/CoreDataZip/ZipWriter.swift": "the caller's to give",
        "Sources/CoreDataSQLite/Connections/SQLiteConnection+Bursts.swift": "measures pauses between statements",
        "Sources/CoreDataPostgreSQLDriver/Connections/PostgreSQLClock.swift": "waits for a server",
        "Sources/CoreData/Context/MainQueueWork.swift": "a timer of the run loop",
    ]

    @Test(arguments: targets)
    func theTimeOfDayComesFromTheClock(target: String) throws {
        for (path, text) in try Repository.sources(of: target) where Self.exceptions[path] == nil {
            for line in text.questionsForTheTime { Issue.record("\(path):\(line): ask a StoreClock") }
        }
    }

    /// An exception that nothing needs is none.
    @Test func exceptionsAreNeeded() throws {
        let sources = try Self.targets.flatMap { try Repository.sources(of: $0) }
        for path in Self.exceptions.keys {
            let isNeeded = sources.contains { $0.path == path && !$0.text.questionsForTheTime.isEmpty }
            #expect(isNeeded, "\(path) does not ask the system for the time")
        }
    }

    @Test(arguments: [
        ("let a = Date()", [1]), ("let a = Date.now", [1]), ("a()\nclock_gettime(CLOCK_REALTIME, &time)", [2]),
        ("Date(timeIntervalSinceNow: 1)", [1]), ("func makeDate() {}", []),
        ("Date(timeIntervalSinceReferenceDate: 1)", []),
        ("// Date()", []), ("ContinuousClock.now", []),
    ])
    func questionsAreFound(source: String, lines: [Int]) {
        #expect(SourceText(source).questionsForTheTime == lines)
    }
}

extension SourceText {
    /// The lines that ask the system for the time of day. How long something takes is another question.
    fileprivate var questionsForTheTime: [Int] {
        lines(containing: ["Date()", "Date.now", "timeIntervalSinceNow", "clock_gettime", "gettimeofday"]).filter {
            index in
            lines[index].firstMatch(
                of: /\b(?:Date\(\)|Date\.now\b|timeIntervalSinceNow\b|clock_gettime\b|gettimeofday\b)/.wordBoundaryKind(
                    .simple)) != nil
        }.map { $0 + 1 }
    }
}
