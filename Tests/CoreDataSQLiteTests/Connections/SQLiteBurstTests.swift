import CoreDataSQL
import Foundation
import Testing

@testable import CoreDataSQLite

/// Single statements that follow one another fast share a transaction, and nobody must notice.
@Suite struct SQLiteBurstTests {
    let database: SQLiteDatabase
    /// Another user of the file, as another process would be.
    let other: SQLiteDatabase

    init() throws {
        let database = try makeDatabase(inFile: true)
        self.database = database
        var options = SQLiteOptions(path: try #require(database.options.path))
        options.busyTimeout = .zero
        other = try SQLiteDatabase(options)
    }

    private func count(_ database: SQLiteDatabase) throws -> Int64 {
        try database.readStatement { connection in
            let statement = try connection.statement("SELECT COUNT(*) FROM ZBOOK")
            defer { statement.reset() }
            return try statement.step() ? statement.integer(0) : -1
        }
    }

    private func insert(_ database: SQLiteDatabase) throws {
        try database.write { try $0.execute("INSERT INTO ZBOOK ( ZTITLE ) VALUES ( 'Dune' )") }
    }

    /// Whether the log could be emptied, which nobody may read meanwhile.
    private func emptiesLog() throws -> Bool {
        try other.writeWithoutTransaction { try $0.rows("PRAGMA wal_checkpoint ( TRUNCATE )") }.first?.first
            == .integer(0)
    }

    @Test func everyStatementSeesWhatOthersHaveCommitted() throws {
        for expected in 0..<Int64(200) {
            #expect(try count(database) == expected)
            #expect(try count(database) == expected)
            try insert(other)
        }
    }

    @Test func everyStatementSeesWhatTheDatabaseItselfHasCommitted() throws {
        for expected in 0..<Int64(200) {
            #expect(try count(database) == expected)
            #expect(try count(database) == expected)
            try insert(database)
        }
    }

    /// The transaction is really there: else the other tests would test nothing.
    @Test func aBurstKeepsItsTransactionForAMoment() throws {
        try insert(database)
        var wasKept = false
        // A machine under load may make a pause of any two reads.
        for _ in 0..<100 where !wasKept {
            for _ in 0..<20 { _ = try count(database) }
            wasKept = try !emptiesLog()
        }
        #expect(wasKept)
        let deadline = Date() + 10
        while try !emptiesLog(), Date() < deadline { Thread.sleep(forTimeInterval: 0.02) }
        #expect(try emptiesLog())
    }

    @Test func aWriteOfTheDatabaseEndsItsBursts() throws {
        for _ in 0..<20 { _ = try count(database) }
        try insert(database)
        #expect(try emptiesLog())
    }

    @Test func aFailureInABurstLeavesNoTransaction() throws {
        for _ in 0..<20 { _ = try count(database) }
        #expect(throws: SQLFailure.self) {
            try database.readStatement { _ = try $0.statement("SELECT nothing FROM nowhere") }
        }
        #expect(try emptiesLog())
        #expect(try count(database) == 0)
    }

    @Test func aReadOfSeveralStatementsEndsABurstAndSeesOneState() throws {
        for _ in 0..<20 { _ = try count(database) }
        try database.read { connection in
            let before = try connection.rows("SELECT COUNT(*) FROM ZBOOK")
            try insert(other)
            #expect(try connection.rows("SELECT COUNT(*) FROM ZBOOK") == before)
        }
        #expect(try count(database) == 1)
    }

    @Test func aDatabaseClosesInTheMiddleOfABurst() throws {
        for _ in 0..<20 { _ = try count(database) }
        database.close()
        #expect(try emptiesLog())
        try insert(other)
        #expect(try count(other) == 1)
    }

    @Test func manyThreadsReadInBurstsBesideAWriter() async throws {
        let database = database
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var last: Int64 = 0
                    for _ in 0..<300 {
                        let now = try count(database)
                        #expect(now >= last)
                        last = now
                    }
                }
            }
            group.addTask { for _ in 0..<100 { try insert(database) } }
            try await group.waitForAll()
        }
        #expect(try count(database) == 100)
    }
}
