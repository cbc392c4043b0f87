import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import MigrationScenarios
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Migrations that ask for objects, or lead over several versions, of stores on a server: done whole or not at all, by one program at a time.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ServerMigrationTests {
    /// The server itself, and behind a pooler.
    static let modes = ["", "pooler", "&engine=cockroachdb"]
    /// One of the modes in the short form, another one every day.
    private static let modesOfMappings = Trials.some(of: modes)
    private static let modesOfChains = Trials.some(of: modes)
    private static let modesOfFailures = Trials.some(of: modes)

    static func url(_ mode: String, _ schema: String = Notes.newSchema("v")) throws -> URL {
        PostgreSQLStore.register()
        guard mode == "pooler" else { return try PostgreSQLServer.shared.url(schema: schema, mode) }
        if !PgBouncer.isInstalled { try Test.cancel("\(PgBouncer.missing)") }
        return try PgBouncer.shared.url(schema: schema)
    }

    static func connect(_ schema: String = "public") throws -> PostgreSQLConnection {
        let server = try PostgreSQLServer.shared
        return try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: schema))))
    }

    /// The schemas beside a store's that were begun for it.
    static func leavings(of url: URL) throws -> [String] {
        let schema = try PostgreSQLAddress(url).schema
        let connection = try connect()
        defer { connection.close() }
        return try connection.rows(
            "SELECT CAST(nspname AS TEXT) FROM pg_namespace WHERE starts_with(nspname, $1::TEXT)",
            [.text(schema + "_new")]
        ).compactMap { row in if case .text(let name) = row[0] { name } else { nil } }
    }

    static func mapped(_ library: Library, version: Int = 2) throws -> ProgressiveMigration {
        ProgressiveMigration(
            to: library.models[version - 1], configuration: nil, type: NSPostgreSQLStoreType,
            mappings: [("1to2", try library.mapping())])
    }

    static func uuid(_ url: URL) throws -> String? {
        try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)[NSStoreUUIDKey]
            as? String
    }

    @Test(arguments: modesOfMappings) func aMappingModelLeadsThere(_ mode: String) throws {
        let url = try Self.url(mode)
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
        metadata["ours"] = "it's"
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: .postgreSQL, at: url)
        let uuid = try Self.uuid(url)
        let other = try Self.connect(PostgreSQLAddress(url).schema)
        defer { other.close() }
        try other.execute("CREATE TABLE theirs (id INTEGER)")
        let noted = try other.rows(#"SELECT "_id" FROM "_commits" ORDER BY 1"#)
        // Somebody has it open, and writes to it afterwards.
        try library.open(url, .postgreSQL, 1) { context in
            let book = try #require(
                try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            #expect(try Self.mapped(library).run(at: url, options: nil))
            book.setValue("late", forKey: "title")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
        }
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v2 upper")
        #expect(try Self.uuid(url) == uuid)
        let now = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
        #expect(now["ours"] as? String == "it's")
        #expect(try other.rows("SELECT * FROM theirs").isEmpty)
        // By these whoever lost a connection learns what became of a save.
        let after = try other.rows(#"SELECT "_id" FROM "_commits" ORDER BY 1"#)
        #expect(noted.allSatisfy(after.contains))
        #expect(try Self.leavings(of: url).isEmpty)
        // There is nothing to do any more.
        #expect(try !Self.mapped(library).run(at: url, options: nil))
    }

    @Test(arguments: modesOfChains) func aChainLeadsOverTheVersionsBetween(_ mode: String) throws {
        let url = try Self.url(mode)
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        var done: [Double] = []
        #expect(try Self.mapped(library, version: 3).run(at: url, options: nil) { done.append($0) })
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v3 upper")
        #expect(done == done.sorted() && done.last == 1)
        #expect(try Self.leavings(of: url).isEmpty)
    }

    @Test func manyWhoStartAtOnceMigrateOnce() throws {
        for mode in PgBouncer.isInstalled ? ["", "pooler"] : [""] {
            let url = try Self.url(mode)
            let library = try Library()
            try library.fill(url, .postgreSQL, "Book", count: 24)
            let count = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: 5) { _ in
                do {
                    if try Self.mapped(Library(), version: 3).run(at: url, options: nil) {
                        count.add(1, ordering: .relaxed)
                    }
                } catch { Issue.record(error) }
            }
            #expect(count.load(ordering: .relaxed) == 1)
            #expect(try library.state(of: url, .postgreSQL, count: 24) == "v3 upper")
            #expect(try Self.leavings(of: url).isEmpty)
        }
    }

    @Test(arguments: Trials.some(of: ["", "pooler"])) func theCodeOfAStageRunsOnceHoweverManyStart(
        _ mode: String
    ) throws {
        let url = try Self.url(mode)
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        let told = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            do {
                let library = try Library()
                var options = Library.automatic
                options[NSPersistentStoreStagedMigrationManagerOptionKey] = library.stages { word in
                    told.withLock { $0.append(word) }
                }
                try library.open(url, .postgreSQL, 3, options) { _ in }
            } catch { Issue.record(error) }
        }
        #expect(told.withLock { $0 } == ["will", "did"])
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v3 willed")
    }

    @Test func theOptionsOfAStoreAskForIt() throws {
        let url = try Self.url("")
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        // Without a mapping model in the program all is inferred.
        var options = Library.automatic
        options[NSMigratePersistentStoresProgressivelyOption] = true
        try library.open(url, .postgreSQL, 3, options) { _ in }
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v3")
        // A model to which nothing leads.
        let strange = try NSManagedObjectModel(document: model(entity("Book", attribute("number", .string))))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: strange)
        let error = #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
        }
        #expect(error?.code == .migrationMissingMappingModel)
        #expect(error?.localizedDescription.contains("Book") == true, "\(String(describing: error))")
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v3")
    }

    // MARK: Managers

    @Test func aManagerMakesStoresOnServersAndInFiles() throws {
        let url = try Self.url("")
        let other = try Self.url("")
        let inferred = try Self.url("")
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Store.sqlite")
        let manager = NSMigrationManager(sourceModel: library.models[0], destinationModel: library.models[1])
        try manager.migrateStore(
            from: url, type: .postgreSQL, mapping: library.mapping(), to: other, type: .postgreSQL)
        #expect(try library.state(of: other, .postgreSQL, count: 24) == "v2 upper")
        try manager.migrateStore(
            from: url, type: .postgreSQL, mapping: library.inferredMapping(), to: inferred, type: .postgreSQL)
        #expect(try library.state(of: inferred, .postgreSQL, count: 24) == "v2")
        try manager.migrateStore(from: url, type: .postgreSQL, mapping: library.mapping(), to: file, type: .sqlite)
        #expect(try library.state(of: file, .sqlite, count: 24) == "v2 upper")
        let (old, new) = (folder.appendingPathComponent("Old.sqlite"), try Self.url(""))
        try library.fill(old, .sqlite, "Book", count: 24)
        try manager.migrateStore(from: old, type: .sqlite, mapping: library.mapping(), to: new, type: .postgreSQL)
        #expect(try library.state(of: new, .postgreSQL, count: 24) == "v2 upper")
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v1")
        for place in [url, other, inferred, new] { #expect(try Self.leavings(of: place).isEmpty) }
    }

    // MARK: What fails

    final class FailingPolicy: NSEntityMigrationPolicy {
        static let message = "no such book"

        override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
            throw CocoaError(.validationMissingMandatoryProperty, userInfo: [NSLocalizedDescriptionKey: Self.message])
        }
    }

    @Test(arguments: modesOfFailures) func whatFailsLeavesTheStoreAsItWas(_ mode: String) throws {
        let url = try Self.url(mode)
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        let mapping = try library.mapping()
        mapping.entityMappings.last?.entityMigrationPolicyClassName = "FailingPolicy"
        let migration = ProgressiveMigration(
            to: library.models[1], configuration: nil, type: NSPostgreSQLStoreType, mappings: [("1to2", mapping)])
        let error = #expect(throws: CocoaError.self) { try migration.run(at: url, options: nil) }
        #expect(error?.localizedDescription.contains(FailingPolicy.message) == true, "\(String(describing: error))")
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v1")
        #expect(try Self.leavings(of: url).isEmpty)
        // Who saves meanwhile was only kept waiting.
        try library.open(url, .postgreSQL, 1) { context in
            context.insert(NSManagedObject(entity: library.models[0].entitiesByName["Tag"]!, insertInto: nil))
            try context.save()
        }
    }

    /// What stands in the way of the old tables' going: the view of somebody else.
    @Test func whatOthersNeedOfTheOldTablesIsNotTakenAway() throws {
        let url = try Self.url("")
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        let other = try Self.connect(PostgreSQLAddress(url).schema)
        defer { other.close() }
        try other.execute(#"CREATE VIEW theirs AS SELECT title FROM "Book""#)
        let error = #expect(throws: CocoaError.self) { try Self.mapped(library).run(at: url, options: nil) }
        #expect(error?.localizedDescription.contains("depend") == true, "\(String(describing: error))")
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v1")
        #expect(try other.rows("SELECT * FROM theirs").count == 24)
        #expect(try Self.leavings(of: url).isEmpty)
    }

    @Test func aRoleThatMayMakeNoSchemaIsTold() throws {
        let server = try PostgreSQLServer.shared
        let url = try Self.url("")
        let library = try Library()
        try library.fill(url, .postgreSQL, "Book", count: 24)
        let (schema, role) = (try PostgreSQLAddress(url).schema, Notes.newSchema("r"))
        let owner = try Self.connect(schema)
        defer { owner.close() }
        for statement in [
            "CREATE ROLE \(role) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(role)",
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role)",
        ] { try owner.execute(statement) }
        let theirs = server.url(schema: schema, user: role)
        let error = #expect(throws: CocoaError.self) { try Self.mapped(library).run(at: theirs, options: nil) }
        #expect(error?.code == .fileWriteNoPermission, "\(String(describing: error))")
        #expect(error?.localizedDescription.contains("permission denied") == true, "\(String(describing: error))")
        // It may make one, and may not take the tables away that are another's.
        try owner.execute("GRANT CREATE ON DATABASE postgres TO \(role)")
        let second = #expect(throws: CocoaError.self) { try Self.mapped(library).run(at: theirs, options: nil) }
        #expect(second?.localizedDescription.contains("owner") == true, "\(String(describing: second))")
        // Nor change them.
        let third = #expect(throws: CocoaError.self) {
            try library.open(theirs, .postgreSQL, 3, Library.automatic) { _ in }
        }
        #expect(third?.localizedDescription.contains("permission denied") == true, "\(String(describing: third))")
        #expect(try library.state(of: url, .postgreSQL, count: 24) == "v1")
        #expect(try Self.leavings(of: url).isEmpty)
    }

    // MARK: Places

    @Test func whatADeadProgramHasLeftGoesAndNothingElse() throws {
        let server = try PostgreSQLServer.shared
        let url = try Self.url("")
        let schema = try PostgreSQLAddress(url).schema
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { database.close() }
        let (dead, living) = (try database.takePlace(purpose: nil), try database.takePlace(purpose: "a"))
        let connection = try Self.connect()
        defer { connection.close() }
        // Called as if it were one, and its comment is nearly one's.
        let foreign = schema + "_new_1abc"
        try connection.execute("CREATE SCHEMA \(foreign)")
        try connection.execute("COMMENT ON SCHEMA \(foreign) IS 'OpenCoreData on the way to'")
        #expect(try Set(Self.leavings(of: url)) == [dead.name, living.name, foreign])
        dead.hold?.release()
        let next = try database.takePlace(purpose: "b")
        #expect(try Set(Self.leavings(of: url)) == [living.name, next.name, foreign])
        #expect(!next.isFound)
        // Whoever does the same goes on with it, once nobody else does.
        let twin = try database.takePlace(purpose: "a")
        #expect(!twin.isFound)
        living.hold?.release()
        let again = try database.takePlace(purpose: "a")
        #expect(again.isFound && again.name == living.name)
        for place in [twin, again, next] {
            try database.remove(place: place.name)
            place.hold?.release()
        }
        #expect(try Self.leavings(of: url) == [foreign])
        try connection.execute("DROP SCHEMA \(foreign)")
        // Of another store whose name begins so.
        let longer = try PostgreSQLDatabase(
            PostgreSQLOptions(PostgreSQLAddress(server.url(schema: schema + "_new_store"))))
        defer { longer.close() }
        let theirs = try longer.takePlace(purpose: nil)
        theirs.hold?.release()
        let own = try database.takePlace(purpose: nil)
        #expect(try Self.leavings(of: url).contains(theirs.name))
        try database.remove(place: own.name)
        own.hold?.release()
        try longer.remove(place: theirs.name)
    }
}
