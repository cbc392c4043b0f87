import CSQLite
import CoreDataSQL
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataSQLite

/// What threads share: nobody touches a connection that another one has, nobody waits for what does not concern him, and no connection
/// is handed on in the middle of a transaction.
@Suite struct SQLiteSharingTests {
    // MARK: Lent connections

    /// A connection's file whose calls are counted as long as this lives.
    private final class CountedFile {
        private static let calls = Mutex(0)
        private let file: UnsafeMutablePointer<sqlite3_file>
        private let usual: UnsafePointer<sqlite3_io_methods>
        private let counted: UnsafeMutablePointer<sqlite3_io_methods>

        init?(_ connection: any SQLConnection) {
            var found: UnsafeMutablePointer<sqlite3_file>?
            guard let connection = connection as? SQLiteConnection,
                sqlite3_file_control(connection.handle, "main", SQLITE_FCNTL_FILE_POINTER, &found) == SQLITE_OK,
                let file = found, let usual = file.pointee.pMethods
            else { return nil }
            (self.file, self.usual) = (file, usual)
            counted = .allocate(capacity: 1)
            var methods = usual.pointee
            methods.xFileControl = { _, _, _ in
                CountedFile.calls.withLock { $0 += 1 }
                return SQLITE_NOTFOUND
            }
            counted.initialize(to: methods)
            file.pointee.pMethods = UnsafePointer(counted)
        }

        var count: Int { Self.calls.withLock { $0 } }

        func restore() {
            file.pointee.pMethods = usual
            counted.deallocate()
        }
    }

    @Test func theFirstWriteLeavesLentConnectionsAlone() throws {
        let made = try makeDatabase(inFile: true)
        let path = try #require(made.options.path)
        made.close()
        // Nobody has written by this one yet, and its only reader is lent.
        let database = try SQLiteDatabase(SQLiteOptions(path: path))
        try database.read { connection in
            _ = try connection.rows("SELECT COUNT(*) FROM ZBOOK")
            let file = try #require(CountedFile(connection))
            let written = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? database.write { try $0.execute("INSERT INTO ZBOOK ( ZTITLE ) VALUES ( 'Dune' )") }
                written.signal()
            }
            written.wait()
            let count = file.count
            file.restore()
            #expect(count == 0, "the writer used a connection that another thread reads with")
        }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(1))
    }

    // MARK: Rollback

    /// An interruption refuses every statement as long as one runs: here one of a read that the write is nested in.
    @Test func anInterruptedWriteIsRolledBack() throws {
        let database = try makeDatabase()
        try database.write { try $0.execute("INSERT INTO ZBOOK ( ZTITLE ) VALUES ( 'Dune' ), ( 'Emma' ), ( 'Emil' )") }
        struct Stop: Error {}
        try database.read { connection in
            let outer = try connection.statement("SELECT ZTITLE FROM ZBOOK")
            defer { outer.reset() }
            #expect(try outer.step())
            #expect(throws: Stop.self) {
                try database.write { connection in
                    try connection.execute("DELETE FROM ZBOOK")
                    database.interrupt()
                    throw Stop()
                }
            }
            #expect(failure { while try outer.step() {} } != nil, "its rows have gone")
        }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(3), "the deletion was never committed")
        try database.write { try $0.execute("INSERT INTO ZBOOK ( ZTITLE ) VALUES ( 'Momo' )") }
        #expect(try database.value("SELECT COUNT(*) FROM ZBOOK") == .integer(4))
    }

    // MARK: The lock that readers need

    /// Waits at each COMMIT that it sees until another thread has read.
    private final class Gate: SQLObserver {
        let isClosed = Atomic<Bool>(false)
        let reached = DispatchSemaphore(value: 0)
        let read = DispatchSemaphore(value: 0)
        let wasHindered = Atomic<Bool>(false)

        func willRun(_ sql: String, bindings: [SQLValue]) throws {
            guard sql == "COMMIT", isClosed.exchange(false, ordering: .sequentiallyConsistent) else { return }
            reached.signal()
            if read.wait(timeout: .now() + 5) == .timedOut {
                wasHindered.store(true, ordering: .sequentiallyConsistent)
            }
        }
    }

    /// The transaction that an idle reader has left open ends before a write; whoever watches that holds up no reader.
    @Test func readersDoNotWaitForTheEndOfAnothersTransaction() throws {
        let database = try makeDatabase(inFile: true)
        let gate = Gate()
        database.setObserver(gate)
        @Sendable func count() throws -> SQLValue? {
            try database.readStatement { try $0.rows("SELECT COUNT(*) FROM ZBOOK") }.first?.first
        }
        // As long as a transaction is open nobody can empty the log.
        var options = SQLiteOptions(path: try #require(database.options.path))
        options.busyTimeout = .zero
        let other = try SQLiteDatabase(options)
        func hasBurst() throws -> Bool {
            for _ in 0..<20 { _ = try count() }
            return try other.writeWithoutTransaction { try $0.rows("PRAGMA wal_checkpoint ( TRUNCATE )") }.first?.first
                != .integer(0)
        }
        // A machine under load may make a pause of any two reads.
        #expect(try (0..<100).contains { _ in try hasBurst() })
        gate.isClosed.store(true, ordering: .sequentiallyConsistent)
        let written = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            try? database.write { try $0.execute("INSERT INTO ZBOOK ( ZTITLE ) VALUES ( 'Dune' )") }
            written.signal()
        }
        #expect(gate.reached.wait(timeout: .now() + 20) == .success)
        Thread.detachNewThread {
            _ = try? database.value("SELECT COUNT(*) FROM ZBOOK")
            gate.read.signal()
        }
        written.wait()
        let wasHindered = gate.wasHindered.load(ordering: .sequentiallyConsistent)
        #expect(!wasHindered, "a reader waited for the transaction of another one to end")
        #expect(try count() == .integer(1))
    }

    // MARK: Places

    /// A copy that another process's store keeps out removes nothing of that.
    @Test func aStoreThatIsMadeMeanwhileIsNotRemoved() throws {
        let source = try makeDatabase(inFile: true)
        let sourcePath = try #require(source.options.path)
        let path = try Fixtures.temporaryFolder().appendingPathComponent("Shop.sqlite").path
        var destination = DatabaseOptions(path: path)
        destination.busyTimeout = .zero
        struct Stop: Error {}
        // Nothing is left of what this process made.
        #expect(throws: Stop.self) {
            try SQLiteFile.replace(
                destination, with: DatabaseOptions(path: sourcePath), ifStill: nil, beforeCopy: { throw Stop() },
                afterCopy: {})
        }
        #expect(!FileManager.default.fileExists(atPath: path))
        let other = try SQLiteDatabase(SQLiteOptions(path: path))
        try other.write { try $0.execute("CREATE TABLE ZTHEIRS ( Z_PK INTEGER )") }
        #expect(
            failure {
                try SQLiteFile.replace(
                    destination, with: DatabaseOptions(path: sourcePath), ifStill: nil, beforeCopy: {}, afterCopy: {})
            }?.kind == .busy)
        #expect(try other.value("SELECT COUNT(*) FROM ZTHEIRS") == .integer(0))
        #expect(FileManager.default.fileExists(atPath: path))
    }
}
