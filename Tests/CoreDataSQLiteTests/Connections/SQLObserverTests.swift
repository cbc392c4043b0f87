import CoreDataPrimitives
import CoreDataSQL
import Foundation
import Synchronization
import Testing

@testable import CoreDataSQLite

@Suite struct SQLObserverTests {
    @Test func everyStatementIsSeenWithItsValues() throws {
        let database = try makeDatabase()
        let recorder = SQLRecorder()
        database.setObserver(recorder)
        let builder = RowBuilder(columnCount: 1)
        builder.setText("Row", at: 0)
        let row = builder.finish(primaryKey: 1, version: 1, entity: 0)
        try database.write { connection in
            let insert = try connection.statement("INSERT INTO ZBOOK VALUES (?, ?, ?)")
            try insert.bind(1, at: 0)
            try insert.bind(row, columns: [0], kinds: [.text], at: 2)
            try insert.run()
            insert.reset()
            try connection.execute("DELETE FROM ZBOOK; ; SELECT 1; /* nothing */")
        }
        #expect(
            recorder.runs == [
                .init(sql: "BEGIN IMMEDIATE", bindings: []),
                .init(sql: "INSERT INTO ZBOOK VALUES (?, ?, ?)", bindings: [.integer(1), .null, .text("Row")]),
                .init(sql: "DELETE FROM ZBOOK", bindings: []),
                .init(sql: "SELECT 1", bindings: []),
                .init(sql: "COMMIT", bindings: []),
            ])
        database.setObserver(nil)
        recorder.removeAll()
        #expect(try database.value("SELECT 1") == .integer(1))
        #expect(recorder.runs == [])
    }

    @Test func theEndOfARunTellsItsRows() throws {
        final class Counter: SQLObserver {
            let rows = Mutex<[String]>([])
            func didRun(_ sql: String, duration: Duration, rows: Int) {
                self.rows.withLock { $0.append("\(sql): \(rows)") }
                #expect(duration >= .zero)
            }
        }
        let database = try makeDatabase(inFile: true)
        let counter = Counter()
        database.setObserver(counter)
        try database.write { try $0.run("INSERT INTO ZBOOK VALUES (1, 1, 'A'), (2, 1, 'B')") }
        #expect(try database.rows("SELECT * FROM ZBOOK").count == 2)
        #expect(
            counter.rows.withLock { $0 } == [
                "BEGIN IMMEDIATE: 0", "INSERT INTO ZBOOK VALUES (1, 1, 'A'), (2, 1, 'B'): 2", "COMMIT: 0",
                "BEGIN: 0", "SELECT * FROM ZBOOK: 2", "COMMIT: 0",
            ])
    }

    @Test(arguments: [false, true])
    func aFaultAtAnyStatementUndoesTheWrite(inFile: Bool) throws {
        let database = try makeDatabase(inFile: inFile)
        try database.write { try $0.execute("INSERT INTO ZBOOK VALUES (1, 1, 'A')") }
        var number = 1
        while true {
            let injector = SQLFaultInjector(failingStatement: number)
            database.setObserver(injector)
            let failed = failure {
                try database.write { connection in
                    try connection.run("INSERT INTO ZBOOK VALUES (2, 1, 'B')")
                    try connection.run("UPDATE ZBOOK SET ZTITLE = 'C'")
                }
            }
            database.setObserver(nil)
            guard injector.hasFailed else { break }
            #expect(failed?.message == "injected failure")
            #expect(try database.rows("SELECT Z_PK, ZTITLE FROM ZBOOK") == [[.integer(1), .text("A")]])
            number += 1
        }
        // BEGIN, two statements, COMMIT.
        #expect(number == 5)
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(2))
    }
}
