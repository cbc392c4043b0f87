import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Engines that speak PostgreSQL's protocol and lack some of what it has: they are not asked for that.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct EngineTests {
    private static func database(
        _ url: URL, _ change: (inout PostgreSQLOptions) -> Void = { _ in }
    ) throws
        -> PostgreSQLDatabase
    {
        var options = PostgreSQLOptions(try PostgreSQLAddress(url))
        change(&options)
        return try PostgreSQLDatabase(options)
    }

    @Test func theURLHasTheLastWord() throws {
        let server = try PostgreSQLServer.shared
        for engine in PostgreSQLEngine.allCases {
            let database = try Self.database(server.url(schema: "public", "&engine=\(engine.rawValue)"))
            defer { database.close() }
            #expect(database.engine == engine && database.traits == engine.traits)
            #expect(try database.settings()["engine"] == engine.rawValue)
        }
        let asked = try Self.database(server.url(schema: "public"))
        defer { asked.close() }
        #expect(asked.engine == .postgreSQL)
    }

    /// A store's whole life, by a server that writes down all that it is told.
    @Test func noEngineIsToldWhatItDoesNotKnow() throws {
        let server = try PostgreSQLServer("eng", ["log_statement=all", "log_line_prefix=%a:"])
        for engine in PostgreSQLEngine.allCases {
            let url = server.url(
                schema: Notes.newSchema("e"), "&engine=\(engine.rawValue)&application_name=\(engine.rawValue)&poll=0.05"
            )
            try live(url)
            let log = try String(contentsOfFile: server.folder + "/log", encoding: .utf8)
            let statements = log.split(separator: "\n").filter { $0.hasPrefix("\(engine.rawValue):") }
            #expect(statements.count > 100)
            for statement in statements {
                let word = ForeignWords.first(in: String(statement), engine: engine.rawValue)
                #expect(word == nil, "\(engine.rawValue) does not know \(word ?? ""): \(statement.prefix(300))")
            }
        }
        // What is looked for is there where an engine knows it.
        let log = try String(contentsOfFile: server.folder + "/log", encoding: .utf8).uppercased()
        let missing = ForeignWords.of(engine: "cockroachdb").filter { word in
            ![
                "DEFERR", "NEXTVAL", "SERIAL", "IDENTITY", "CREATE ", "PG_LOCKS", "PG_XACT_STATUS", "PG_TERMINATE",
                "PG_CURRENT_XACT",
            ].contains(where: word.contains) && !log.contains(word)
        }
        #expect(missing == [])
    }

    private func live(_ url: URL) throws {
        let options: [AnyHashable: Any] = [
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
        ]
        let told = Mutex(0)
        do {
            let notes = try Notes(url, options)
            let observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: notes.coordinator, queue: nil
            ) { _ in told.withLock { $0 += 1 } }
            defer { NotificationCenter.default.removeObserver(observer) }
            let context = notes.newContext()
            try context.performAndWait {
                for number in 0..<100 { Notes.insert("\(number)", in: context, data: Data([1, 2])) }
                try context.save()
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                try context.setQueryGenerationFrom(.current)
                request.predicate = NSPredicate(format: "name IN %@", (0..<40).map(String.init))
                let found = try context.fetch(request)
                #expect(found.count == 40)
                for note in found { note.setValue(7, forKey: "count") }
                try context.save()
                for note in found.prefix(20) { context.delete(note) }
                try context.save()
                try context.setQueryGenerationFrom(nil)
                let update = NSBatchUpdateRequest(entityName: "Note")
                update.propertiesToUpdate = ["count": 9]
                try context.execute(update)
                try context.execute(NSPersistentHistoryChangeRequest.deleteHistory(before: Date()))
            }
            #expect(Polling.holds { told.withLock { $0 } > 0 })
            #expect(try notes.contents().count == 80)
            try notes.coordinator.remove(try #require(notes.coordinator.persistentStores.first))
        }
        let database = try Self.database(url)
        defer { database.close() }
        try database.analyze()
        try database.vacuum()
        #expect(try database.settings()["schema"]?.isEmpty == false)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Notes.makeModel())
        try coordinator.destroyPersistentStore(at: url, type: .postgreSQL)
    }

    /// Where nothing can be locked that is not there yet, one of those who make a store makes it, and the others find it.
    @Test(arguments: ["", "&engine=cockroachdb", "&engine=yugabytedb"])
    func aStoreThatManyMakeAtOnceIsMadeOnce(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        for _ in 0..<Trials.count(5, atLeast: 2) {
            let url = server.url(schema: Notes.newSchema("m"), mode)
            let identifiers = Mutex<[String?]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                do {
                    let notes = try Notes(url)
                    let context = notes.newContext()
                    try context.performAndWait {
                        Notes.insert("a", in: context)
                        try context.save()
                    }
                    identifiers.withLock { $0.append(notes.coordinator.persistentStores.first?.identifier) }
                } catch { Issue.record(error) }
            }
            #expect(Set(identifiers.withLock { $0 }).count == 1)
            #expect(try Notes(url).contents().count == 4)
        }
    }

    /// Who writes alone keeps out who writes beside others, and these do not wait for each other.
    @Test(arguments: Trials.some(of: ["", "&pooler=transaction", "&engine=cockroachdb", "&engine=yugabytedb"]))
    func whoeverWritesAloneIsAlone(_ mode: String) throws {
        let server = try PostgreSQLServer.shared
        let url = server.url(schema: Notes.newSchema("a"), mode)
        let notes = try Notes(url)
        let first = try Self.database(url) { $0.lockTimeout = .milliseconds(300) }
        let second = try Self.database(url) { $0.lockTimeout = .milliseconds(300) }
        defer {
            first.close()
            second.close()
        }
        func settled(_ connection: any SQLConnection) throws { try connection.settle() }
        try first.writeBesideOthers(
            atOnce: false,
            { connection in
                try settled(connection)
                try second.writeBesideOthers(atOnce: false, settled, committed: { _ in })
                let failure = #expect(throws: SQLFailure.self) { try second.write(settled) }
                #expect(failure?.kind == .busy)
            }, committed: { _ in })
        try first.write { connection in
            try settled(connection)
            let alone = #expect(throws: SQLFailure.self) { try second.write(settled) }
            let beside = #expect(throws: SQLFailure.self) {
                try second.writeBesideOthers(atOnce: false, settled, committed: { _ in })
            }
            #expect(alone?.kind == .busy && beside?.kind == .busy)
        }
        try second.write(settled)
        #expect(try notes.contents().isEmpty)
    }
}
