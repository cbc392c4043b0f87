import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLite

/// The first connection reads; the writing one is opened by the first write.
@Suite struct SQLiteWriterTests {
    private func filledDatabase() throws -> String {
        let database = try makeDatabase(inFile: true)
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'Emil')") }
        let path = try #require(database.options.path)
        database.close()
        return path
    }

    @Test func aReaderCannotWrite() throws {
        let database = try SQLiteDatabase(SQLiteOptions(path: filledDatabase()))
        let refused = failure { try database.read { try $0.execute("DELETE FROM ZBOOK") } }
        #expect(refused?.kind == .readOnly)
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (2, 1, 'Pippi')") }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(2))
        #expect(failure { try database.read { try $0.execute("DELETE FROM ZBOOK") } }?.kind == .readOnly)
    }

    @Test func aFileThatWasReplacedIsNotWritten() throws {
        let path = try filledDatabase()
        let other = try filledDatabase()
        let database = try SQLiteDatabase(SQLiteOptions(path: path))
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(1))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: other, toPath: path)
        let refused = failure { try database.write { try $0.execute("DELETE FROM ZBOOK") } }
        #expect(refused?.kind == .cannotOpen && refused?.message.contains("'\(path)'") == true)
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(1), "readers go on")
        database.close()
        #expect(try SQLiteDatabase(SQLiteOptions(path: path)).value("SELECT COUNT(*) FROM ZBOOK") == .integer(1))
    }

    @Test func aFileThatIsGoneIsNotMadeAgain() throws {
        let path = try filledDatabase()
        let database = try SQLiteDatabase(SQLiteOptions(path: path))
        try FileManager.default.removeItem(atPath: path)
        #expect(failure { try database.write { try $0.execute("DELETE FROM ZBOOK") } }?.kind == .cannotOpen)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func closingAfterReadingEmptiesTheLog() throws {
        let writing = try makeDatabase(inFile: true)
        try writing.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'Emil')") }
        let path = try #require(writing.options.path)
        let copy = path + ".copy"
        // As after a crash: the file with its log.
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        let reading = try SQLiteDatabase(SQLiteOptions(path: copy))
        #expect(try reading.value("SELECT ZTITLE FROM ZBOOK") == .text("Emil"))
        reading.close()
        #expect(!FileManager.default.fileExists(atPath: copy + "-wal"))
        #expect(try SQLiteDatabase(SQLiteOptions(path: copy)).value("SELECT ZTITLE FROM ZBOOK") == .text("Emil"))
        writing.close()
    }

    @Test func firstWritesOfManyThreadsOpenOneWriter() async throws {
        let database = try SQLiteDatabase(SQLiteOptions(path: filledDatabase()))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 2..<20 {
                group.addTask {
                    _ = try database.write { try $0.run("INSERT INTO ZBOOK VALUES (\(integer: Int64(index)), 1, 'x')") }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(19))
    }
}
