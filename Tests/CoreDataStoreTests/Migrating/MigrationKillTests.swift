import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// Kills a process while it migrates; what is left is the old store or the new one.
@Suite struct MigrationKillTests {
    /// `COREDATA_KILLS=100` asks for more than the usual 24.
    private static let count =
        ProcessInfo.processInfo.environment["COREDATA_KILLS"].flatMap { Int($0) } ?? Trials.count(24, atLeast: 8)

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("SaveKiller")

    private let old = model(
        entity("Book", attribute("title"), toOne("shelf", "Shelf", inverse: "books")),
        entity("Shelf", attribute("label"), toMany("books", "Book", inverse: "shelf")))
    private let new = model(
        entity("Author", attribute("name")),
        entity(
            "Book", attribute("name").with { $0.renamingIdentifier = "title" }, attribute("isbn"),
            toOne("shelf", "Shelf", inverse: "books")),
        entity(
            "Shelf", attribute("label"), derived("count", .integer64, "books.@count"),
            toMany("books", "Book", inverse: "shelf")))

    private func makeStore(rows: Int) throws -> MigratedStore {
        try MigratedStore(old) { engine in
            try engine.database.write { connection in
                try connection.execute("INSERT INTO ZSHELF (Z_PK, Z_ENT, Z_OPT, ZLABEL) VALUES (1, 2, 1, 'A')")
                try connection.execute(
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZSHELF) SELECT i, 1, 1, 'title ' || i, 1 FROM n"
                )
                try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows)")
            }
        }
    }

    @Test func aKilledMigrationLeavesTheOldStoreOrTheNewOne() throws {
        let store = try makeStore(rows: 3000)
        let file = try Fixtures.temporaryFolder().appendingPathComponent("model.json")
        try JSONEncoder().encode(new).write(to: file)
        let before = try store.dump()
        var numbers = SeededNumbers(seed: 7)
        var outcomes: [String: Int] = [:]
        for round in 0..<Self.count {
            let copy = MigratedStore(path: try Fixtures.temporaryFolder().path + "/Store.sqlite", old)
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: store.path + suffix) {
                try FileManager.default.copyItem(atPath: store.path + suffix, toPath: copy.path + suffix)
            }
            let process = Process()
            process.executableURL = Self.executable
            process.arguments = ["migrate", copy.path, file.path]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            // Some steps are over in no time; the spinning goes on into the commit.
            let wanted = numbers.below(40)
            var text = Data()
            while text.count(where: { $0 == UInt8(ascii: "\n") }) < wanted {
                let part = output.fileHandleForReading.availableData
                guard !part.isEmpty else { break }
                text.append(part)
            }
            var spun = numbers.next()
            for _ in 0..<numbers.below(400_000) { spun = spun &* 31 &+ 1 }
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            let isOld = try copy.dump() == before
            outcomes[isOld ? "old" : "new", default: 0] += 1
            if !isOld {
                #expect(try copy.problems(new) == [], "round \(round) \(spun)")
                #expect(
                    try copy.rows("SELECT COUNT(*), COUNT(ZNAME) FROM ZBOOK") == [[.integer(3000), .integer(3000)]])
                #expect(try copy.rows("SELECT ZCOUNT FROM ZSHELF") == [[.integer(3000)]])
            }
        }
        #expect(outcomes["old"] ?? 0 > 0, "\(outcomes)")
    }

    /// T2: of several that open a store at once one migrates it.
    @Test func severalProcessesAtOnceMigrateOnce() throws {
        let store = try makeStore(rows: 2000)
        let file = try Fixtures.temporaryFolder().appendingPathComponent("model.json")
        try JSONEncoder().encode(new).write(to: file)
        let outputs = (0..<3).map { _ in Pipe() }
        let processes = try outputs.map { output in
            let process = Process()
            process.executableURL = Self.executable
            process.arguments = ["migrate", store.path, file.path]
            process.standardOutput = output
            try process.run()
            return process
        }
        var working = 0
        for (process, output) in zip(processes, outputs) {
            if !output.fileHandleForReading.readDataToEndOfFile().isEmpty { working += 1 }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
        #expect(working == 1)
        #expect(try store.problems(new) == [])
    }
}
