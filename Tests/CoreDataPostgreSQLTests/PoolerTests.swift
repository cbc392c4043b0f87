import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQLDriver

/// A store behind PgBouncer in transaction mode: nothing that a session has is there in its next transaction.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct PoolerTests {
    private static func database(_ url: URL) throws -> PostgreSQLDatabase {
        try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
    }

    private static func text(_ sql: String, _ database: PostgreSQLDatabase) throws -> SQLValue? {
        try database.read { try text(sql, $0) }
    }

    private static func text(_ sql: String, _ connection: any SQLConnection) throws -> SQLValue? {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        return try statement.step() ? statement.value(0) : nil
    }

    @Test(.enabled(if: PgBouncer.isInstalled, "\(PgBouncer.missing)"))
    func whoForgetsThePoolerIsTold() throws {
        let pooler = try PgBouncer.shared
        // Whatever number the pooler makes up.
        for _ in 0..<8 {
            let failure = #expect(throws: SQLFailure.self) {
                try Self.database(pooler.url(schema: Notes.newSchema("p"), ""))
            }
            #expect(failure?.kind == .cannotOpen)
            #expect(failure?.message.contains("pooler=transaction") == true)
        }
        // Above the API, too.
        let error = #expect(throws: CocoaError.self) { _ = try Notes(pooler.url(schema: Notes.newSchema("p"), "")) }
        #expect("\(String(describing: error))".contains("pooler=transaction"))
        // And whoever is not behind one may say so without harm.
        let server = try PostgreSQLServer.shared
        let notes = try Notes(server.url(schema: Notes.newSchema("p"), "&pooler=transaction"))
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
        }
        #expect(try notes.contents().map(\.name) == ["a"])
    }

    @Test(.enabled(if: PgBouncer.isInstalled, "\(PgBouncer.missing)"))
    func eachTransactionHasItsOwnSettings() throws {
        let pooler = try PgBouncer.shared
        let names = [Notes.newSchema("p"), Notes.newSchema("p")]
        let databases = try names.map { try Self.database(pooler.url(schema: $0)) }
        defer { for database in databases { database.close() } }
        for database in databases { try database.createSchema() }
        defer { for database in databases { try? database.dropSchema() } }
        var sessions: Set<SQLValue> = []
        func check(_ name: String, _ connection: any SQLConnection) throws {
            #expect(try Self.text("SELECT current_schema()::TEXT", connection) == .text(name))
            #expect(try Self.text("SELECT current_setting('TimeZone')", connection) == .text("UTC"))
            if let session = try Self.text("SELECT pg_backend_pid()::BIGINT", connection) { sessions.insert(session) }
        }
        for round in 0..<20 {
            // A transaction of the one while one of the other is open has another session than that; later either may have either.
            let (one, other) = round.isMultiple(of: 2) ? (0, 1) : (1, 0)
            try databases[one].read { connection in
                try check(names[one], connection)
                try databases[other].read { try check(names[other], $0) }
            }
        }
        #expect(sessions.count > 1, "the pooler gave everybody the same session")
        // What was set is not left to whoever gets the session next.
        let server = try Self.database(pooler.url(schema: "public"))
        defer { server.close() }
        for _ in 0..<20 { #expect(try Self.text("SELECT current_schema()::TEXT", server) == .text("public")) }
        let left = try databases[0].read { connection in
            try (connection as? PostgreSQLConnection)?.rows("SELECT name FROM pg_prepared_statements") ?? []
        }
        #expect(left.isEmpty)
    }

    /// A pooler that sees a transaction end gives its session away, also where a part of the next one has come already.
    @Test(.enabled(if: PgBouncer.isInstalled, "\(PgBouncer.missing)"))
    func longStatementsRightBehindAnotherTransactionArriveWhole() throws {
        let pooler = try PgBouncer.shared
        let database = try Self.database(pooler.url(schema: "public"))
        defer { database.close() }
        let long = Data((0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        for _ in 0..<30 {
            let found = try database.read { connection in
                let statement = try connection.statement("SELECT LENGTH($1::BYTEA)::BIGINT")
                defer { statement.reset() }
                try statement.bind([.blob(long)], at: 0)
                return try statement.step() ? statement.integer(0) : 0
            }
            #expect(found == 2_000_000)
        }
    }

    /// Many contexts save the same rows and others, and each save is there once.
    @Test(.enabled(if: PgBouncer.isInstalled, "\(PgBouncer.missing)"))
    func manyWritersLoseNothing() throws {
        let pooler = try PgBouncer.shared
        let notes = try Notes(pooler.url(schema: Notes.newSchema("p")))
        let ledger = Notes.Ledger()
        let deadline = Date(timeIntervalSinceNow: 3)
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            notes.write("writer \(index)", ledger) { Date() < deadline }
        }
        #expect(ledger.summary.saved > 4 && ledger.summary.refused == 0 && ledger.summary.unknown == 0)
        #expect(ledger.mistakes(try notes.contents()) == [])
    }

    /// P3: what a context reads stays as it was, on one session that the pooler leaves to it.
    @Test(.enabled(if: PgBouncer.isInstalled, "\(PgBouncer.missing)"))
    func generationsAreKept() throws {
        let pooler = try PgBouncer.shared
        let notes = try Notes(pooler.url(schema: Notes.newSchema("p")))
        let (writer, reader) = (notes.newContext(), notes.newContext())
        func save(_ name: String) throws {
            try writer.performAndWait {
                Notes.insert(name, in: writer)
                try writer.save()
            }
        }
        let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
        try save("a")
        try reader.performAndWait {
            try reader.setQueryGenerationFrom(.current)
            #expect(try reader.count(for: request) == 1)
        }
        for index in 0..<20 { try save("b\(index)") }
        try reader.performAndWait {
            #expect(try reader.count(for: request) == 1)
            try reader.setQueryGenerationFrom(nil)
            #expect(try reader.count(for: request) == 21)
        }
    }

    private static func notesWithOne(_ url: URL) throws -> Notes {
        let notes = try Notes(url)
        let context = notes.newContext()
        try context.performAndWait {
            Notes.insert("a", in: context)
            try context.save()
        }
        return notes
    }

    /// A session that is lost while it commits is found by whose transaction it has.
    @Test func aLostTransactionIsEndedAndAskedFor() throws {
        let server = try PostgreSQLServer.shared
        let url = server.url(schema: Notes.newSchema("p"), "&pooler=transaction")
        _ = try Self.notesWithOne(url)
        let database = try Self.database(url)
        defer { database.close() }
        let (mine, other) = (try database.open(), try database.open())
        defer { other.close() }
        try mine.detectCommitTable()
        mine.begin(ServerText.beginWriting)
        try mine.runLater(ServerText.markWriter, [.integer(database.writer)])
        mine.note(6, of: database.writer)
        #expect(try mine.rows("SELECT 1::BIGINT") == [[.integer(1)]])
        let ended = try other.betweenTransactions {
            try other.rows(ServerText.endSessionOfWriter, [.integer(database.writer)])
        }
        #expect(ended == [[.integer(1)]])
        let noted = try other.betweenTransactions {
            try other.rows(ServerText.giveUpCommit, [.integer(database.writer), .integer(6)])
        }
        #expect(noted == [[.integer(7)]])
        #expect(throws: SQLFailure.self) { try mine.commit() }
        mine.close()
    }

    /// A transaction that nobody has seen when it is asked for, since it is still on its way, comes to nothing.
    @Test(arguments: ["", "&pooler=transaction"])
    func whatWasGivenUpIsNotCommittedLater(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let url = server.url(schema: Notes.newSchema("l"), mode)
        let notes = try Self.notesWithOne(url)
        let database = try Self.database(url)
        defer { database.close() }
        let (mine, other) = (try database.open(), try database.open())
        defer {
            mine.close()
            other.close()
        }
        try mine.detectCommitTable()
        func giveUp(_ number: Int64) throws -> SQLValue? {
            try other.betweenTransactions {
                try other.rows(ServerText.giveUpCommit, [.integer(database.writer), .integer(number)])
            }.first?.first
        }
        let version = try other.betweenTransactions { try other.schemaVersion() }
        func write(_ number: Int64) throws {
            mine.begin(ServerText.beginWriting, commitsAtOnce: true)
            mine.note(number, of: database.writer)
            try mine.expectSchemaVersion(version) {}
            let statement = try mine.statement("UPDATE \"Note\" SET \"count\" = \"count\" + 1")
            try statement.runLater(expecting: 1) {}
            statement.reset()
            #expect(mine.commitsAtOnce)
            try mine.commit()
        }
        for (number, isGivenUp): (Int64, Bool) in [(2, true), (4, false), (6, false), (8, true), (10, false)] {
            if isGivenUp {
                #expect(try giveUp(number) == .integer(number + 1))
                let failure = #expect(throws: SQLFailure.self) { try write(number) }
                #expect(failure?.kind == .expectation)
                mine.rollBack()
            } else {
                try write(number)
                #expect(try giveUp(number) == .integer(number))
            }
        }
        #expect(try notes.contents().map(\.count) == [3])
    }
}
