import CSQLite
import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreDataSQLite

/// A process that died in a transaction that a journal can undo: whoever reads, even without writing, reads what was before.
@Suite struct InterruptedTransactionTests {
    /// A database with a thousand titles, as it lies there in the midst of a transaction that changes them all.
    private func interrupted() throws -> String {
        let folder = try Fixtures.temporaryFolder()
        let path = folder.appendingPathComponent("Books.sqlite").path
        var database: OpaquePointer?
        #expect(sqlite3_open(path, &database) == SQLITE_OK)
        defer { sqlite3_close_v2(database) }
        let text = String(repeating: "old ", count: 50)
        for sql in [
            "CREATE TABLE ZBOOK (Z_PK INTEGER PRIMARY KEY, ZTITLE VARCHAR)",
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO ZBOOK SELECT i, '\(text)' FROM n",
            // So small that pages are written before the end.
            "PRAGMA cache_size = 5", "BEGIN", "UPDATE ZBOOK SET ZTITLE = 'new'",
        ] { #expect(sqlite3_exec(database, sql, nil, nil, nil) == SQLITE_OK) }
        let copy = folder.appendingPathComponent("Copy.sqlite").path
        for suffix in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
        }
        return copy
    }

    @Test(arguments: [false, true])
    func readersReadWhatWasBefore(leavesNothing: Bool) throws {
        let path = try interrupted()
        var options = SQLiteOptions(.file(path: path))
        options.isReadOnly = true
        options.leavesNothing = leavesNothing
        let database = try SQLiteDatabase(options)
        defer { database.close() }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK WHERE ZTITLE LIKE 'old%'") == .integer(1000))
        #expect(try database.value("PRAGMA integrity_check") == .text("ok"))
    }

    @Test(.enabled(if: geteuid() != 0, "the superuser may write everything"))
    func aFileThatCannotBeWrittenIsNotReadAsItIs() throws {
        let path = try interrupted()
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: folder)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder) }
        var options = SQLiteOptions(.file(path: path))
        options.isReadOnly = true
        let found = try #require(failure { try SQLiteDatabase(options).close() })
        #expect(found.message.contains("-journal"))
    }
}
