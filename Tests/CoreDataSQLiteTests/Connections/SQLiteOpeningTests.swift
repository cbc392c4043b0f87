import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLite

@Suite struct SQLiteOpeningTests {
    private func file(_ name: String, _ content: Data?) throws -> String {
        let path = try Fixtures.temporaryFolder().appendingPathComponent(name).path
        if let content { try content.write(to: URL(fileURLWithPath: path)) }
        return path
    }

    private func opening(_ path: String, _ change: (inout SQLiteOptions) -> Void = { _ in }) -> SQLFailure? {
        var options = SQLiteOptions(path: path)
        change(&options)
        return failure { _ = try SQLiteDatabase(options) }
    }

    @Test func aFileThatIsNoDatabaseIsNamed() throws {
        for content in [Data("no database".utf8), Data(repeating: 0x41, count: 10_000)] {
            let path = try file("Notes.txt", content)
            let failure = opening(path)
            #expect(failure?.kind == .notADatabase)
            #expect(failure?.message == "'\(path)' is not a SQLite database")
            #expect(opening(path) { $0.isReadOnly = true }?.kind == .notADatabase)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == content, "the file is as it was")
        }
    }

    @Test func aMissingFileIsCreatedOnlyOnDemand() throws {
        let path = try file("Books.sqlite", nil)
        #expect(opening(path) { $0.createsFile = false }?.message == "there is no file at '\(path)'")
        #expect(opening(path) { $0.isReadOnly = true }?.kind == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(opening(path) == nil)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func aDirectoryIsNoFile() throws {
        let path = try Fixtures.temporaryFolder().path
        #expect(opening(path)?.message == "'\(path)' is a directory")
    }

    @Test func aFileThatCannotBeCreatedIsNamed() throws {
        let missing = try Fixtures.temporaryFolder().appendingPathComponent("none/Books.sqlite").path
        for path in [missing, "/proc/Books.sqlite", "", "/tmp/a\0b"] {
            let failure = opening(path)
            #expect(failure?.kind == .cannotOpen, "\(path)")
            #expect(failure?.message.contains("'\(path)'") == true, "\(path)")
        }
    }

    @Test(.enabled(if: getuid() != 0, "the superuser may write everything"))
    func aFileThatMayNotBeWrittenOpensForReadingOnly() throws {
        let database = try makeDatabase(inFile: true)
        let path = try #require(database.options.path)
        database.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        #expect(opening(path)?.kind == .readOnly)
        #expect(opening(path) { $0.isReadOnly = true } == nil)
    }

    @Test func aReadOnlyDatabaseRefusesToWriteAndLeavesTheFileAlone() throws {
        let database = try makeDatabase(inFile: true)
        let path = try #require(database.options.path)
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')") }
        database.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        var options = SQLiteOptions(path: path)
        options.isReadOnly = true
        let readOnly = try SQLiteDatabase(options)
        #expect(try readOnly.value("SELECT ZTITLE FROM ZBOOK") == .text("A"))
        #expect(failure { try readOnly.write { try $0.execute("DELETE FROM ZBOOK") } }?.kind == .readOnly)
        readOnly.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test(.enabled(if: getuid() != 0, "the superuser may read everything"))
    func aFileThatMayNotBeReadSaysSo() throws {
        let database = try makeDatabase(inFile: true)
        let path = try #require(database.options.path)
        database.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: path)
        for isReadOnly in [true, false] {
            let failure = opening(path) { $0.isReadOnly = isReadOnly }
            #expect(failure?.message == "no permission to read '\(path)'")
            #expect(failure?.kind == .unreadable)
        }
    }

    // MARK: A look that leaves nothing

    /// What a log holds is read, whether or not there is an index of it, and the folder is as it was.
    @Test(arguments: [
        ["Books.sqlite"], ["Books.sqlite", "Books.sqlite-wal"],
        ["Books.sqlite", "Books.sqlite-shm", "Books.sqlite-wal"],
    ])
    func aLookLeavesNothingBesideTheFile(names: [String]) throws {
        let database = try makeDatabase(inFile: true)
        let path = try #require(database.options.path)
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')") }
        // A database without log has everything in its file.
        if names.count == 1 { database.close() }
        let folder = try Fixtures.temporaryFolder()
        let copy = folder.appendingPathComponent("Books.sqlite").path
        for name in names {
            try FileManager.default.copyItem(
                atPath: path + name.dropFirst("Books.sqlite".count), toPath: folder.appendingPathComponent(name).path)
        }
        var options = SQLiteOptions(path: copy)
        options.isReadOnly = true
        options.leavesNothing = true
        let look = try SQLiteDatabase(options)
        // More than one connection reads.
        try look.read { first in
            let rows = try first.rows("SELECT ZTITLE FROM ZBOOK")
            #expect(rows == [[.text("A")]])
            let other = SQLiteLook(look)
            Thread(block: other.run).start()
            let titles = other.titles()
            #expect(titles == [[.text("A")]])
        }
        #expect(failure { try look.write { try $0.execute("DELETE FROM ZBOOK") } }?.kind == .readOnly)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        look.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == names)
        database.close()
    }

    /// A connection that is used again and again asks for the index of the log; without a log that must not make one.
    @Test(arguments: ["delete", "wal"]) func whatHasNoLogGetsNoIndexOfOne(mode: String) throws {
        let folder = try Fixtures.temporaryFolder()
        var options = SQLiteOptions(path: folder.appendingPathComponent("Books.sqlite").path)
        options.pragmas["journal_mode"] = mode
        let made = try SQLiteDatabase(options)
        try made.write { try $0.execute("CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY)") }
        made.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Books.sqlite"])
        options.pragmas = [:]
        options.isReadOnly = true
        options.leavesNothing = true
        let look = try SQLiteDatabase(options)
        try look.read { connection in
            let rows = try connection.rows("SELECT COUNT(*) FROM ZBOOK")
            #expect(rows == [[.integer(0)]])
            let own = try #require(connection as? SQLiteConnection)
            #expect(own.logIndex == nil)
        }
        look.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Books.sqlite"])
    }

    @Test func aDamagedFileIsReportedAndNotRead() throws {
        let database = try makeDatabase(inFile: true)
        let path = try #require(database.options.path)
        try database.write { connection in
            for key in 1...500 {
                try connection.run("INSERT INTO ZBOOK VALUES (\(integer: Int64(key)), 1, 'Some title of a book')")
            }
        }
        database.close()
        var content = try Data(contentsOf: URL(fileURLWithPath: path))
        for index in 8192..<content.count { content[index] = 0xEE }
        try content.write(to: URL(fileURLWithPath: path))
        let damaged = try SQLiteDatabase(SQLiteOptions(path: path))
        #expect(failure { _ = try damaged.rows("SELECT ZTITLE FROM ZBOOK") }?.kind == .corrupt)
        let problems = (try? damaged.integrityProblems()) ?? ["unreadable"]
        #expect(!problems.isEmpty)
    }

    @Test func aTruncatedFileIsReported() throws {
        let database = try makeDatabase(inFile: true)
        let path = try #require(database.options.path)
        database.close()
        let content = try Data(contentsOf: URL(fileURLWithPath: path))
        try content.prefix(50).write(to: URL(fileURLWithPath: path))
        let failure = opening(path)
        #expect(failure?.kind == .corrupt)
        #expect(failure?.message.contains(path) == true)
    }

    @Test func exclusiveLockingUsesOneConnection() throws {
        let database = try makeDatabase(inFile: true) { $0.pragmas = ["locking_mode": "EXCLUSIVE"] }
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')") }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(1))
    }
}

/// Reads on a thread of its own, so that a second connection does it.
private final class SQLiteLook: @unchecked Sendable {
    // Safe because `titles` waits for `run` to end.
    private let database: SQLiteDatabase
    private let isDone = DispatchSemaphore(value: 0)
    private var found: [[SQLValue]] = []

    init(_ database: SQLiteDatabase) { self.database = database }

    @Sendable func run() {
        found = (try? database.rows("SELECT ZTITLE FROM ZBOOK")) ?? []
        isDone.signal()
    }

    func titles() -> [[SQLValue]] {
        isDone.wait()
        return found
    }
}
