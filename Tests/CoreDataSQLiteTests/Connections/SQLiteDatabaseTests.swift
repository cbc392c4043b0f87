import CoreDataSQL
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataSQLite

private struct Stop: Error {}

@Suite struct SQLiteDatabaseTests {
    @Test(arguments: [false, true])
    func aWriteIsCommittedWhenItReturnsAndUndoneWhenItThrows(inFile: Bool) throws {
        let database = try makeDatabase(inFile: inFile)
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'Kept')") }
        #expect(throws: Stop.self) {
            try database.write { connection in
                try connection.execute("DELETE FROM ZBOOK; INSERT INTO ZBOOK VALUES (2, 1, 'Lost')")
                throw Stop()
            }
        }
        #expect(
            failure {
                try database.write {
                    try $0.execute("INSERT INTO ZBOOK VALUES (3, 1, 'Lost too')")
                    try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'Twice')")
                }
            }?.kind == .constraint)
        #expect(try database.rows("SELECT Z_PK, ZTITLE FROM ZBOOK") == [[.integer(1), .text("Kept")]])
    }

    @Test func aNewFileHasApplesSettings() throws {
        // store-format §1
        let database = try makeDatabase(inFile: true)
        let expected: [(SQLText, SQLValue)] = [
            ("PRAGMA page_size", .integer(4096)), ("PRAGMA auto_vacuum", .integer(2)),
            ("PRAGMA journal_mode", .text("wal")), ("PRAGMA encoding", .text("UTF-8")),
            ("PRAGMA synchronous", .integer(1)),
        ]
        for (pragma, value) in expected {
            #expect(try database.writeWithoutTransaction { try $0.rows(pragma) } == [[value]], "\(pragma.sql)")
        }
        let path = try #require(database.options.path)
        database.close()
        let header = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)).prefix(100))
        #expect(header[16...19].elementsEqual([0x10, 0, 2, 2]))
        #expect(header[52...55].contains { $0 != 0 }, "auto_vacuum")
        #expect(header[67] == 1, "incremental")
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    @Test func pragmasOverrideTheDriversOwn() throws {
        let database = try makeDatabase(inFile: true) {
            $0.pragmas = [
                "journal_mode": "DELETE", "page_size": "8192", "cache_size": "-100", "case_sensitive_like": "1",
            ]
        }
        let expected: [(SQLText, SQLValue)] = [
            ("PRAGMA journal_mode", .text("delete")), ("PRAGMA page_size", .integer(8192)),
            ("PRAGMA cache_size", .integer(-100)),
        ]
        for (pragma, value) in expected {
            #expect(try database.writeWithoutTransaction { try $0.rows(pragma) } == [[value]], "\(pragma.sql)")
        }
        #expect(try database.value("PRAGMA cache_size") == .integer(-100))
        #expect(try database.value("SELECT 'a' LIKE 'A'") == .integer(0))
        #expect(failure { _ = try makeDatabase { $0.pragmas = ["x = 1; DROP TABLE y; --": "1"] } } != nil)
        #expect(throws: Never.self) { try makeDatabase { $0.pragmas = ["unknown": "'; DROP TABLE y; --"] } }
    }

    @Test func aReaderSeesOneStateFromItsFirstStatementOn() throws {
        let database = try makeDatabase(inFile: true)
        try database.read { reader in
            #expect(try reader.rows("SELECT COUNT(*) FROM ZBOOK") == [[.integer(0)]])
            try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')") }
            #expect(try reader.rows("SELECT COUNT(*) FROM ZBOOK") == [[.integer(0)]])
        }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(1))
    }

    @Test func readersCannotWrite() throws {
        let database = try makeDatabase(inFile: true)
        #expect(failure { try database.read { try $0.execute("DELETE FROM ZBOOK") } }?.kind == .readOnly)
    }

    @Test(arguments: [false, true])
    func readersBesideAWriterSeeWholeTransactions(inFile: Bool) throws {
        let database = try makeDatabase(inFile: inFile) { $0.readerCount = 3 }
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 0, 'A'), (2, 0, 'B')") }
        let problems = Mutex<[String]>([])
        let reads = Mutex(0)
        // Worker 0 writes; the others read until it is done.
        let isDone = Mutex(false)
        DispatchQueue.concurrentPerform(iterations: 6) { worker in
            do {
                if worker == 0 {
                    defer { isDone.withLock { $0 = true } }
                    for _ in 0..<200 {
                        try database.write { connection in
                            try connection.execute("UPDATE ZBOOK SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 1")
                            try connection.execute("UPDATE ZBOOK SET Z_OPT = Z_OPT + 1 WHERE Z_PK = 2")
                        }
                    }
                } else {
                    repeat {
                        let rows = try database.rows("SELECT DISTINCT Z_OPT FROM ZBOOK")
                        if rows.count != 1 { problems.withLock { $0.append("\(rows)") } }
                        reads.withLock { $0 += 1 }
                    } while !isDone.withLock { $0 }
                }
            } catch {
                problems.withLock { $0.append("\(error)") }
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(reads.withLock { $0 } > 0)
        #expect(try database.rows("SELECT DISTINCT Z_OPT FROM ZBOOK") == [[.integer(200)]])
    }

    @Test func writersTakeTurns() throws {
        let database = try makeDatabase(inFile: true)
        let problems = Mutex<[String]>([])
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 0, 'A')") }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<25 {
                do {
                    try database.write { connection in
                        guard case .integer(let count)? = try connection.rows("SELECT Z_OPT FROM ZBOOK").first?.first
                        else { return problems.withLock { $0.append("no row") } }
                        try connection.run("UPDATE ZBOOK SET Z_OPT = \(bind: .integer(count + 1))")
                    }
                } catch {
                    problems.withLock { $0.append("\(error)") }
                }
            }
        }
        #expect(problems.withLock { $0 } == [])
        #expect(try database.value("SELECT Z_OPT FROM ZBOOK") == .integer(200))
    }

    @Test func anotherDatabaseOnTheFileMakesAWriteBusy() throws {
        let first = try makeDatabase(inFile: true)
        var options = first.options
        options.busyTimeout = .milliseconds(1)
        let second = try SQLiteDatabase(options)
        try first.write { connection in
            try connection.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')")
            #expect(failure { try second.write { _ in } }?.kind == .busy)
            #expect(try second.value("SELECT COUNT(*) FROM ZBOOK") == .integer(0))
        }
        try second.write { try $0.execute("INSERT INTO ZBOOK VALUES (2, 1, 'B')") }
        #expect(try first.value("SELECT COUNT(*) FROM ZBOOK") == .integer(2))
    }

    @Test(arguments: [false, true])
    func callsMayBeNestedOnOneThreadButNotWrites(inFile: Bool) throws {
        let database = try makeDatabase(inFile: inFile) { $0.readerCount = 1 }
        try database.read { outer in
            try outer.execute("SELECT 1")
            #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(0))
            try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')") }
        }
        try database.write { _ in
            let count = try database.value("SELECT COUNT(*) FROM ZBOOK")
            #expect(count == .integer(1))
            #expect(failure { try database.write { _ in } } != nil)
        }
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (2, 1, 'B')") }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(2))
    }

    @Test func aStatementLeftRunningDoesNotHoldAReadersState() throws {
        let database = try makeDatabase(inFile: true) { $0.readerCount = 1 }
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A'), (2, 1, 'B')") }
        var kept: (any SQLStatement)?
        try database.read { connection in
            let statement = try connection.statement("SELECT * FROM ZBOOK")
            #expect(try statement.step())
            kept = statement
        }
        try database.write { try $0.execute("DELETE FROM ZBOOK") }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(0))
        #expect(failure { _ = try kept?.step() } != nil)
        kept?.reset()
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(0))
    }

    @Test func aWriteInsideAReadInMemoryDoesNotEndItsStatements() throws {
        let database = try makeDatabase()
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A'), (2, 1, 'B'), (3, 1, 'C')") }
        var titles: [SQLValue] = []
        try database.read { connection in
            let statement = try connection.statement("SELECT ZTITLE FROM ZBOOK ORDER BY Z_PK")
            defer { statement.reset() }
            while try statement.step() {
                titles.append(statement.value(0))
                try database.write { try $0.execute("UPDATE ZBOOK SET Z_OPT = Z_OPT + 1") }
                try? database.write { _ in throw Stop() }
            }
        }
        #expect(titles == [.text("A"), .text("B"), .text("C")])
        #expect(try database.value("SELECT Z_OPT FROM ZBOOK WHERE Z_PK = 3") == .integer(4))
    }

    @Test(arguments: [false, true])
    func aDatabaseMayBeClosedFromInsideACall(inFile: Bool) throws {
        let database = try makeDatabase(inFile: inFile)
        try database.read { connection in
            let statement = try connection.statement("SELECT 1")
            #expect(try statement.step())
            database.close()
            #expect(statement.integer(0) == 1)
        }
        let other = try makeDatabase(inFile: inFile)
        try other.write { connection in
            other.close()
            try connection.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')")
        }
        for closed in [database, other] {
            #expect(failure { _ = try closed.value("SELECT 1") }?.message == "the database is closed")
        }
        // A database in memory is gone.
        try #require((other.options.path != nil) == inFile)
        guard let path = other.options.path else { return }
        let reopened = try SQLiteDatabase(SQLiteOptions(path: path))
        #expect(try reopened.value("SELECT COUNT(*) FROM ZBOOK") == .integer(1))
        #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
    }

    @Test func aFileThatOthersReadKeepsItsJournalMode() throws {
        let first = try makeDatabase(inFile: true) { $0.pragmas = ["journal_mode": "DELETE"] }
        try first.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')") }
        var options = SQLiteOptions(path: try #require(first.options.path))
        options.busyTimeout = .milliseconds(1)
        try first.read { connection in
            #expect(try connection.rows("SELECT COUNT(*) FROM ZBOOK") == [[.integer(1)]])
            let second = try SQLiteDatabase(options)
            #expect(try second.value("SELECT COUNT(*) FROM ZBOOK") == .integer(1))
            let mode = try second.writeWithoutTransaction { try $0.rows("PRAGMA synchronous") }
            #expect(mode == [[.integer(2)]])
        }
    }

    @Test func aTransactionThatSQLiteEndedTakesNoMoreStatements() throws {
        let database = try makeDatabase(inFile: true)
        #expect(throws: SQLFailure.self) {
            try database.write { connection in
                try connection.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')")
                try? connection.execute("INSERT OR ROLLBACK INTO ZBOOK VALUES (1, 1, 'Twice')")
                try? connection.execute("INSERT INTO ZBOOK VALUES (2, 1, 'On its own')")
            }
        }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(0))
    }

    @Test func aClosedDatabaseRefuses() throws {
        let database = try makeDatabase(inFile: true)
        #expect(try database.value("SELECT 1") == .integer(1))
        database.close()
        database.close()
        #expect(failure { _ = try database.value("SELECT 1") }?.message == "the database is closed")
        #expect(failure { try database.write { _ in } }?.message == "the database is closed")
    }

    @Test func interruptEndsARunningStatement() throws {
        let database = try makeDatabase()
        let endless: SQLText = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT COUNT(*) FROM c"
        final class Interrupter: SQLObserver {
            let database: SQLiteDatabase
            init(_ database: SQLiteDatabase) { self.database = database }
            func willRun(_ sql: String, bindings: [SQLValue]) throws {
                Thread.detachNewThread { while !self.isDone.withLock({ $0 }) { self.database.interrupt() } }
            }
            let isDone = Mutex(false)
        }
        let interrupter = Interrupter(database)
        database.setObserver(interrupter)
        #expect(failure { _ = try database.value(endless) }?.kind == .interrupted)
        interrupter.isDone.withLock { $0 = true }
        database.setObserver(nil)
    }

    @Test func aHealthyFileHasNoProblems() throws {
        #expect(try makeDatabase(inFile: true).integrityProblems() == [])
    }

    @Test func derivedAttributesAreReportedDuringTheirWrite() throws {
        // store-format §6
        let database = try makeDatabase()
        try database.write { connection in
            try connection.execute(
                """
                CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, ZBOOK INTEGER );
                ALTER TABLE ZBOOK ADD COLUMN Z_ENT INTEGER;
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT) VALUES (7, 3, 0);
                CREATE TRIGGER Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT AFTER INSERT ON ZPAGE FOR EACH ROW \
                WHEN (NEW.ZBOOK NOT NULL) BEGIN UPDATE ZBOOK SET Z_OPT = IFNULL(Z_OPT, 0) + 1 WHERE Z_PK = NEW.ZBOOK; \
                SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZBOOK', Z_ENT, Z_PK, 'pagesCount', Z_OPT) \
                FROM ZBOOK WHERE Z_PK = NEW.ZBOOK; END;
                """)
            #expect(connection.derivedAttributeReports == [])
            try connection.execute("INSERT INTO ZPAGE VALUES (1, 7), (2, NULL)")
            #expect(
                connection.derivedAttributeReports == [
                    DerivedAttributeReport(
                        table: "ZBOOK", entityNumber: 3, primaryKey: 7, attribute: "pagesCount", value: .integer(1),
                        isInsertion: false)
                ])
        }
        try database.write { #expect($0.derivedAttributeReports == []) }
    }

    /// The column's name stands where a derived attribute's stands; NULL for what is not known fails no write.
    @Test func triggersOfPhotosReportTheirRows() throws {
        // store-format §5
        let database = try makeDatabase()
        try database.write { connection in
            try connection.execute(
                """
                CREATE TABLE ZFACE ( Z_PK INTEGER PRIMARY KEY, ZPERSON INTEGER );
                CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZFACECOUNT INTEGER );
                INSERT INTO ZPERSON VALUES (4, 9, NULL), (5, NULL, NULL);
                CREATE TRIGGER ZT_ZPERSON_ZFACECOUNT_ZFACE_INSERT_INCREMENT AFTER INSERT ON ZFACE FOR EACH ROW BEGIN \
                UPDATE ZPERSON SET ZFACECOUNT = IFNULL(ZFACECOUNT,0) + 1 WHERE NEW.ZPERSON = Z_PK; \
                SELECT NSCoreDataTriggerUpdateAffectedObjectValue('ZPERSON', Z_ENT, Z_PK, 'ZFACECOUNT', ZFACECOUNT) \
                FROM ZPERSON WHERE Z_PK = NEW.ZPERSON; END;
                INSERT INTO ZFACE VALUES (1, 4), (2, 5), (3, 6)
                """)
            #expect(connection.derivedAttributeReports.map(\.entityNumber) == [9, 0])
            #expect(connection.derivedAttributeReports.map(\.primaryKey) == [4, 5])
            #expect(connection.derivedAttributeReports.map(\.attribute) == ["ZFACECOUNT", "ZFACECOUNT"])
            #expect(connection.derivedAttributeReports.map(\.value) == [.integer(1), .integer(1)])
            #expect(connection.derivedAttributeReports.map(\.isInsertion) == [false, false])
        }
    }
}
