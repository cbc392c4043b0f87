import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// A program is told of what others save on the server.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct RemoteChangeTests {
    private static func makeModel() -> NSManagedObjectModel {
        let name = NSAttributeDescription()
        (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    private static var options: [AnyHashable: Any] {
        [
            NSPersistentHistoryTrackingKey: true, NSPersistentStoreRemoteChangeNotificationPostOptionKey: true,
        ]
    }

    private func newCoordinator(_ url: URL) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: Self.options)
        return coordinator
    }

    private func save(_ name: String, _ coordinator: NSPersistentStoreCoordinator) throws {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(name, forKey: "name")
            try context.save()
        }
    }

    /// Counts what a coordinator is told.
    private final class Listener: @unchecked Sendable {
        // Safe because the lock guards the tokens, and the observer is set once.
        private let lock = NSLock()
        private var tokens: [NSPersistentHistoryToken?] = []
        private var observer: (any NSObjectProtocol)?
        /// Who posts lives as long.
        private let coordinator: NSPersistentStoreCoordinator

        init(_ coordinator: NSPersistentStoreCoordinator) {
            self.coordinator = coordinator
            observer = NotificationCenter.default.addObserver(
                forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
            ) { [weak self] notification in
                let token = notification.userInfo?[NSPersistentHistoryTokenKey] as? NSPersistentHistoryToken
                guard let self else { return }
                lock.withLock { self.tokens.append(token) }
            }
        }

        deinit {
            if let observer { NotificationCenter.default.removeObserver(observer) }
        }

        var count: Int { lock.withLock { tokens.count } }
        var last: NSPersistentHistoryToken? { lock.withLock { tokens.last ?? nil } }

        func waits(for count: Int) -> Bool {
            // Beside all other tests the server may have no connection to spare for a while, and pauses grow to half a minute.
            Polling.holds(within: 120) { self.count >= count }
        }
    }

    private func newURL(_ name: String) throws -> URL {
        PostgreSQLStore.register()
        let schema = "r" + UUID().uuidString.filter { $0 != "-" }.lowercased()
        let url = try PostgreSQLServer.shared.url(schema: schema)
        return try #require(URL(string: url.absoluteString + "&application_name=\(name)"))
    }

    @Test func whatOthersSaveIsToldAndCanBeMerged() throws {
        let url = try newURL("told")
        let elsewhere = try newURL("told")
        let (here, there, other) = (try newCoordinator(url), try newCoordinator(url), try newCoordinator(elsewhere))
        let (listener, silent) = (Listener(here), Listener(other))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = here
        let list = NSFetchRequest<NSManagedObject>(entityName: "Item")
        #expect(try context.performAndWait { try context.count(for: list) } == 0)
        var seen: NSPersistentHistoryToken?
        for round in 1...3 {
            let before = listener.count
            try save("\(round)", there)
            try #require(listener.waits(for: before + 1))
            let token = seen
            let names = try context.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: token)
                let result = try context.execute(request) as? NSPersistentHistoryResult
                for transaction in result?.result as? [NSPersistentHistoryTransaction] ?? [] {
                    context.mergeChanges(fromContextDidSave: transaction.objectIDNotification())
                }
                return Set(try context.fetch(list).compactMap { $0.value(forKey: "name") as? String })
            }
            #expect(names == Set((1...round).map(String.init)))
            seen = listener.last
            #expect(seen != nil)
        }
        // Another schema of the same database is another store.
        #expect(silent.count == 0)
        try here.remove(try #require(here.persistentStores.first))
        let count = listener.count
        try save("later", there)
        try save("elsewhere", other)
        #expect(silent.waits(for: 1))
        #expect(listener.count == count)
    }

    /// Who saves, and who has been told of it once, under an application name; and a connection that can end their sessions.
    private func toldOfFirstSave(
        _ application: String
    ) throws -> (there: NSPersistentStoreCoordinator, listener: Listener, connection: PostgreSQLConnection) {
        let url = try newURL(application)
        let (here, there) = (try newCoordinator(url), try newCoordinator(url))
        let listener = Listener(here)
        try save("a", there)
        try #require(listener.waits(for: 1))
        let connection = try PostgreSQLConnection(
            PostgreSQLOptions(PostgreSQLAddress(PostgreSQLServer.shared.url(schema: "public"))))
        return (there, listener, connection)
    }

    @Test func whoIsCutOffListensAgain() throws {
        let (there, listener, connection) = try toldOfFirstSave("cut")
        defer { connection.close() }
        let ended = try connection.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut' AND query LIKE 'LISTEN%'"
        )
        #expect(ended.count == 2)
        let count = listener.count
        // While nobody listens; it is told when somebody does again.
        try save("b", there)
        #expect(listener.waits(for: count + 1))
        let next = listener.count
        try save("c", there)
        #expect(listener.waits(for: next + 1))
    }

    /// Nothing is told of where nothing was saved meanwhile, and what is saved later is.
    @Test func whoIsCutOffWhileNothingIsSavedHearsOfWhatComes() throws {
        let (there, listener, connection) = try toldOfFirstSave("quiet")
        defer { connection.close() }
        let listening = "FROM pg_stat_activity WHERE application_name = 'quiet' AND query LIKE 'LISTEN%'"
        func sessions() throws -> Set<String> {
            Set(try connection.rows("SELECT CAST(pid AS TEXT) \(listening)").map { "\($0[0])" })
        }
        for round in 1...2 {
            let before = try sessions()
            #expect(before.count == 2)
            _ = try connection.rows("SELECT pg_terminate_backend(pid) \(listening)")
            try Polling.wait(for: "two new sessions that listen", within: 100, every: 0.05) {
                try sessions().subtracting(before).count >= 2
            }
            #expect(try sessions().subtracting(before).count == 2)
            let count = listener.count
            // Nothing must be told meanwhile, so there is nothing to wait for.
            Thread.sleep(forTimeInterval: 0.5)
            #expect(listener.count == count)
            try save("\(round)", there)
            #expect(listener.waits(for: count + 1))
        }
    }

    /// A network may drop a connection without a word to either side.
    @Test func whoListensToADeadConnectionFindsOut() throws {
        let server = try PostgreSQLServer.shared
        let trap = PacketTrap()
        let relay = try PacketRelay(to: server) { trap.fate($0) }
        let schema = Notes.newSchema("d")
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { other.close() }
        try other.execute("CREATE SCHEMA \(schema)")
        var options = PostgreSQLOptions(try PostgreSQLAddress(server.url(schema: schema, folder: relay.folder)))
        options.probe = (.milliseconds(300), .milliseconds(300))
        let told = Mutex(0)
        let watch = try PostgreSQLCommitWatch(options) { told.withLock { $0 += 1 } }
        defer { watch.cancel() }
        func tell() throws { try other.rows(ServerText.tell, [.text(ServerText.channel(schema))]) }
        func count() -> Int { told.withLock { $0 } }
        try tell()
        try Polling.wait(for: "what was told") { count() > 0 }
        trap.set(.lost) { $0.isFromServer }
        let before = count()
        try tell()
        try Polling.wait(for: "the end of the connection") { trap.hasSprung }
        // What was lost is told once somebody listens again, and so is what comes later.
        try Polling.wait(for: "a sign of a new connection") { count() > before }
        let next = count()
        try tell()
        #expect(Polling.holds { count() > next })
    }

    /// Behind a pooler nobody can listen, so that whoever wants to know asks now and then; also of who saves past the pooler.
    @Test(.enabled(if: PgBouncer.isInstalled, "\(PgBouncer.missing)"))
    func behindAPoolerChangesAreAskedFor() throws {
        PostgreSQLStore.register()
        let pooler = try PgBouncer.shared
        let server = try PostgreSQLServer.shared
        let schema = Notes.newSchema("r")
        let here = try newCoordinator(pooler.url(schema: schema, "&pooler=transaction&poll=0.05"))
        let there = try newCoordinator(pooler.url(schema: schema, "&pooler=transaction&poll=0.05"))
        let past = try newCoordinator(server.url(schema: schema))
        let (listener, told) = (Listener(here), Listener(past))
        for (round, coordinator) in [there, past, there].enumerated() {
            let (before, toldBefore) = (listener.count, told.count)
            try save("\(round)", coordinator)
            #expect(listener.waits(for: before + 1))
            // Whoever can listen hears of who saves behind the pooler at once.
            #expect(told.waits(for: toldBefore + 1))
        }
        let count = listener.count
        // Ten times the interval at which it asks: nothing must be told, so there is nothing to wait for.
        Thread.sleep(forTimeInterval: 0.5)
        #expect(listener.count <= count + 1, "told of nothing")
        try here.remove(try #require(here.persistentStores.first))
        let last = listener.count
        try save("later", there)
        // As above.
        Thread.sleep(forTimeInterval: 0.3)
        #expect(listener.count == last)
    }
}
