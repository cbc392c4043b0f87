import CoreDataSQL
import Foundation
import TestSupport
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
        #expect(try Polling.holds { try emptiesLog() })
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

    // MARK: Rows by key

    /// The titles of the books with those keys, each by a call of its own.
    private func titles(_ keys: [Int64]) throws -> [String?] {
        try keys.map { key in
            try database.readStatement { connection in
                // As whoever reads rows does: made once for each connection.
                let kept = connection.companion(0) as? any SQLKeyedStatement
                let books = kept ?? connection.keyedStatement(Self.books, key: "Z_PK")
                connection.keep(books, as: 0)
                defer { books.end() }
                return try books.row(key).map {
                    $0.value(1) == .text("Dune \($0.integer(0))") ? "Dune" : "\($0.value(1))"
                }
            }
        }
    }

    private static var books: SelectStatement {
        SelectStatement(["Z_PK", "ZTITLE"].map { .init(.column(nil, $0)) }, from: .init("ZBOOK", as: "ZBOOK"))
    }

    private func fill(_ keys: ClosedRange<Int64>) throws {
        try other.write { connection in
            for key in keys {
                try connection.run(
                    "INSERT INTO ZBOOK ( Z_PK, ZTITLE ) VALUES ( \(bind: .integer(key)), \(bind: .text("Dune \(key)")) )"
                )
            }
        }
    }

    /// It is really there: else the other tests would test nothing.
    @Test func aBurstReadsRowsWithOneStatement() throws {
        try fill(1...10)
        var isUsed = false
        for _ in 0..<100 where !isUsed {
            _ = try titles([1, 2, 3])
            isUsed = try database.readStatement { ($0 as? SQLiteConnection)?.burstStatements.count == 1 }
        }
        #expect(isUsed)
    }

    @Test func rowsAreFoundByKeyInAnyOrderAndAgain() throws {
        try fill(1...300)
        var numbers = SeededNumbers(seed: 7)
        let keys = (0..<1000).map { _ in Int64(numbers.next() % 300 + 1) }
        #expect(try titles(keys) == keys.map { _ in "Dune" })
    }

    @Test func aKeyWithoutARowIsNoneAndTheNextIsFound() throws {
        try fill(1...10)
        let keys: [Int64] = (0..<200).flatMap { [$0 % 10 + 1, -1, 99, $0 % 10 + 1] }
        let expected: [String?] = (0..<200).flatMap { _ in ["Dune", nil, nil, "Dune"] }
        #expect(try titles(keys) == expected)
    }

    @Test func rowsByKeyAreAsOthersHaveCommittedThem() throws {
        try fill(1...10)
        for round in 0..<100 {
            #expect(try titles([1, 2, 3]) == ["Dune", "Dune", round == 0 ? "Dune" : "text(\"\(round)\")"])
            try other.write { try $0.run("UPDATE ZBOOK SET ZTITLE = \(bind: .text("\(round + 1)")) WHERE Z_PK = 3") }
        }
        try other.write { try $0.execute("DELETE FROM ZBOOK WHERE Z_PK = 2") }
        #expect(try titles([1, 2, 1, 2]) == ["Dune", nil, "Dune", nil])
    }

    @Test func rowsByKeySurviveAnotherSchema() throws {
        try fill(1...10)
        _ = try titles(Array(repeating: 1, count: 50))
        try other.write { try $0.execute("CREATE TABLE ZNEW ( Z_PK INTEGER PRIMARY KEY )") }
        #expect(try titles([1, 2, 3]) == ["Dune", "Dune", "Dune"])
        try other.write { try $0.execute("DROP TABLE ZBOOK") }
        #expect(throws: SQLFailure.self) { try titles([1]) }
        #expect(throws: SQLFailure.self) { try titles([1]) }
    }

    @Test func theLogCanBeEmptiedOnceNoRowsAreReadByKey() throws {
        try fill(1...10)
        for _ in 0..<20 { _ = try titles([1, 2, 3]) }
        try insert(database)
        #expect(try emptiesLog())
        for _ in 0..<20 { _ = try titles([1, 2, 3]) }
        database.close()
        #expect(try emptiesLog())
    }

    @Test func anObserverSeesTheStatementOfEachKey() throws {
        try fill(1...10)
        _ = try titles(Array(repeating: 1, count: 50))
        let recorder = SQLRecorder()
        database.setObserver(recorder)
        _ = try titles([1, 2, 99])
        database.setObserver(nil)
        let selects = recorder.runs.map(\.sql).filter { $0.hasPrefix("SELECT") }
        #expect(selects == Array(repeating: "SELECT Z_PK, ZTITLE FROM ZBOOK WHERE Z_PK = ?", count: 3))
        #expect(try titles([1, 2, 99]) == ["Dune", "Dune", nil])
    }

    @Test func anInterruptionBetweenTwoRowsHarmsNone() throws {
        try fill(1...10)
        for _ in 0..<50 {
            #expect(try titles([1, 2, 3]) == ["Dune", "Dune", "Dune"])
            database.interrupt()
        }
    }
}
