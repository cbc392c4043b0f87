import CoreDataSQL
import CoreDataSQLite
import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// Kills a process while it saves; `Tests/SaveKiller` tells what it writes.
@Suite struct SaveKillTests {
    private static let killCount = Trials.count(40)

    private static let executable = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("SaveKiller")

    @Test func aProcessThatIsKilledLosesNothingAndLeavesNothingHalfDone() throws {
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite").path
        let creation = try Process.run(Self.executable, arguments: ["create", path])
        creation.waitUntilExit()
        #expect(creation.terminationStatus == 0)
        var generator = SeededGenerator(state: 20_010_101)
        var acknowledged: Int64 = 0
        var saveCount = 0
        for round in 0..<Self.killCount {
            let told = try runAndKill(path, seed: round, &generator)
            saveCount += told.count
            #expect(told == Array((acknowledged + 1)..<(acknowledged + 1 + Int64(told.count))), "round \(round)")
            acknowledged = try check(path, acknowledged: told.last ?? acknowledged, round)
        }
        #expect(saveCount > Self.killCount)
    }

    /// Starts the saver, kills it after some saves at an arbitrary point of the next, and returns what it told.
    private func runAndKill(_ path: String, seed: Int, _ generator: inout SeededGenerator) throws -> [Int64] {
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = ["run", path, String(seed)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let wanted = Int.random(in: 1...12, using: &generator)
        var text = Data()
        while text.count(where: { $0 == UInt8(ascii: "\n") }) < wanted {
            let part = output.fileHandleForReading.availableData
            guard !part.isEmpty else { break }
            text.append(part)
        }
        // The saver goes on meanwhile; how far it gets is left to chance.
        var spun = generator.next()
        for _ in 0..<Int.random(in: 0...20_000, using: &generator) { spun = spun &* 31 &+ 1 }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal, "\(spun)")
        text.append(output.fileHandleForReading.readDataToEndOfFile())
        // A line that was cut off by the kill was not told.
        let lines = text.prefix(upTo: (text.lastIndex(of: UInt8(ascii: "\n")) ?? text.startIndex - 1) + 1)
        return String(decoding: lines, as: UTF8.self).split(separator: "\n").compactMap { Int64($0) }
    }

    /// Checks the rules that every save keeps; returns the number of saves in the store.
    private func check(_ path: String, acknowledged: Int64, _ round: Int) throws -> Int64 {
        var options = SQLiteOptions(path: path)
        options.createsFile = false
        let database = try SQLiteDatabase(options)
        defer { database.close() }
        #expect(try database.integrityProblems() == [], "round \(round)")
        func integers(_ text: SQLText) throws -> [Int64] {
            try database.read { try $0.rows(text) }.flatMap { $0 }.map {
                if case .integer(let value) = $0 { value } else { -1 }
            }
        }
        let saved = try integers("SELECT ZVALUE FROM ZCOUNTER").first ?? -1
        #expect(saved == acknowledged || saved == acknowledged + 1, "round \(round): committed, then lost")
        #expect(try integers("SELECT Z_OPT FROM ZCOUNTER") == [saved + 1])
        #expect(try integers("SELECT ZNUMBER FROM ZBATCH ORDER BY Z_PK") == Array(1..<(saved + 1)))
        let halfDone = try integers(
            "SELECT ZNUMBER FROM ZBATCH b WHERE ZITEMCOUNT <> (SELECT COUNT(*) FROM ZITEM WHERE ZBATCH = b.ZNUMBER)")
        #expect(halfDone == [], "round \(round)")
        #expect(try integers("SELECT ZNUMBER FROM ZBATCH WHERE ZITEMCOUNT = 0").count == max(0, Int(saved) - 3))
        for table in ["ZBATCH", "ZITEM", "ZCOUNTER"] {
            let behind = try integers(
                """
                SELECT COUNT(*) FROM Z_PRIMARYKEY WHERE 'Z' || UPPER(Z_NAME) = \(bind: .text(table)) \
                AND Z_MAX < (SELECT MAX(Z_PK) FROM \(identifier: table))
                """)
            #expect(behind == [0], "\(table), round \(round)")
        }
        try checkPictures(path, database, round)
        return saved
    }

    /// Every file that a row names is there and whole.
    private func checkPictures(_ path: String, _ database: SQLiteDatabase, _ round: Int) throws {
        let external = ExternalData(storePath: path)
        for case .blob(let stored)? in try database.read({ try $0.rows("SELECT ZPICTURE FROM ZBATCH") }).map(\.first) {
            let count = try stored.withUnsafeBytes { try external.data(of: $0).count }
            #expect(count == 10 || count == ExternalData.fileThreshold, "round \(round)")
        }
    }
}

/// SplitMix64.
private struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
