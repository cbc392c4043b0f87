import CoreData
import CoreDataPostgreSQL
import Foundation
import MigrationScenarios
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// The server is stopped as if it had crashed, while programs save and stores are migrated; `COREDATA_SERVER_STOPS=100` does so more often.
@Suite(.serialized, .enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct StoppedServerTests {
    /// A number for each time that the server is stopped: three, of which the short form has another one every day.
    private static let rounds: [Int] = {
        let asked = ProcessInfo.processInfo.environment["COREDATA_SERVER_STOPS"].flatMap(Int.init)
        return asked.map { Array(0..<max(1, $0)) } ?? Trials.some(of: [0, 1, 2])
    }()
    private static var stops: Int { rounds.count }
    private static var seed: UInt64 { UInt64(stops + rounds[0]) }

    private static func newServer(_ name: String) throws -> PostgreSQLServer {
        // What is committed is to be there after a crash.
        try PostgreSQLServer(name, ["synchronous_commit=on", "restart_after_crash=on"])
    }

    @Test func savesAreDoneOnceOrNotAtAll() throws {
        let server = try Self.newServer("stop")
        defer { try? server.stopImmediately() }
        var numbers = SeededNumbers(seed: Self.seed)
        let schema = Notes.newSchema("s")
        let notes = try Notes(server.url(schema: schema, "&connect_timeout=30"))
        let ledger = Notes.Ledger()
        let isOver = Atomic<Bool>(false)
        defer { isOver.store(true, ordering: .relaxed) }
        let group = DispatchGroup()
        for writer in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                notes.write("\(writer)", ledger) { !isOver.load(ordering: .relaxed) }
                group.leave()
            }
        }
        for _ in Self.rounds {
            // The moments of the crash and of the start are by chance: there is nothing to wait for.
            Thread.sleep(forTimeInterval: Double(numbers.below(150)) / 1000 + 0.05)
            try server.stopImmediately()
            Thread.sleep(forTimeInterval: Double(numbers.below(50)) / 1000)
            try server.start()
        }
        let before = ledger.summary.saved
        try Polling.wait(for: "a save after the last start") { ledger.summary.saved > before }
        isOver.store(true, ordering: .relaxed)
        group.wait()
        let mistakes = ledger.mistakes(try Notes(server.url(schema: schema)).contents())
        #expect(mistakes.isEmpty)
        // Programs are to go on, not only to be told of errors.
        let summary = ledger.summary
        #expect(summary.saved > Self.stops && summary.unknown == 0, "\(summary)")
        print("stopped \(Self.stops) times: \(summary)")
    }

    private static func model(_ version: Int) -> NSManagedObjectModel {
        func attribute(_ name: String, _ type: NSAttributeType, was: String? = nil) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            attribute.renamingIdentifier = was
            return attribute
        }
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties =
            version == 1
            ? [attribute("name", .stringAttributeType), attribute("count", .integer64AttributeType)]
            : [
                attribute("title", .stringAttributeType, was: "name"), attribute("count", .integer64AttributeType),
                attribute("more", .stringAttributeType),
            ]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    private static func open(
        _ url: URL, _ version: Int, _ options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model(version))
        try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
        return coordinator
    }

    @Test func migrationsAreDoneWholeOrNotAtAll() throws {
        let server = try Self.newServer("stopm")
        defer { try? server.stopImmediately() }
        PostgreSQLStore.register()
        var numbers = SeededNumbers(seed: Self.seed)
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        var migrated = 0
        for round in Self.rounds {
            let url = server.url(schema: "m\(round)")
            let coordinator = try Self.open(url, 1)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                for index in 0..<500 {
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue("item \(index)", forKey: "name")
                    item.setValue(index, forKey: "count")
                }
                try context.save()
            }
            try coordinator.remove(try #require(coordinator.persistentStores.first))
            let group = DispatchGroup()
            group.enter()
            let wasMigrated = Atomic<Bool>(false)
            // Frozen options of plain values.
            nonisolated(unsafe) let settings = options
            Thread.detachNewThread {
                if (try? Self.open(url, 2, settings)) != nil { wasMigrated.store(true, ordering: .relaxed) }
                group.leave()
            }
            // By chance, as above.
            Thread.sleep(forTimeInterval: Double(numbers.below(60)) / 1000)
            try server.stopImmediately()
            try server.start()
            group.wait()
            let isOld = (try? Self.open(url, 1)) != nil
            // Whoever was told that it is migrated was told the truth.
            #expect(!(wasMigrated.load(ordering: .relaxed) && isOld), "round \(round)")
            if !isOld { migrated += 1 }
            let after = try Self.open(url, 2, options)
            let reader = NSManagedObjectContext(.privateQueue)
            reader.persistentStoreCoordinator = after
            let found = try reader.performAndWait {
                try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).map {
                    "\($0.value(forKey: "title") ?? "") \($0.value(forKey: "count") ?? "")"
                }
            }
            #expect(Set(found) == Set((0..<500).map { "item \($0) \($0)" }), "round \(round)")
            #expect(found.count == 500, "round \(round)")
        }
        print("stopped \(Self.stops) times: \(migrated) were migrated before")
    }

    /// Migrations that make another store, or are many steps: the server is stopped in the midst of them, and another program goes on.
    @Test(arguments: Trials.some(of: ["mapped", "chain", "staged"]))
    func longMigrationsAreDoneWholeOrNotAtAll(_ way: String) throws {
        let server = try Self.newServer("stop" + way.prefix(2))
        defer { try? server.stopImmediately() }
        PostgreSQLStore.register()
        let library = try Library()
        var numbers = SeededNumbers(seed: Self.seed + UInt64(way.count))
        var seen: [String: Int] = [:]
        func migrate(_ url: URL) throws {
            let library = try Library()
            guard way != "staged" else {
                var options = Library.automatic
                options[NSPersistentStoreStagedMigrationManagerOptionKey] = library.stages()
                return try library.open(url, .postgreSQL, 3, options) { _ in }
            }
            try ProgressiveMigration(
                to: library.models[way == "chain" ? 2 : 1], configuration: nil, type: NSPostgreSQLStoreType,
                mappings: [("1to2", try library.mapping())]
            ).run(at: url, options: nil)
        }
        for round in Self.rounds {
            let url = server.url(schema: "l\(round)", "&connect_timeout=10")
            try library.fill(url, .postgreSQL, "Book", count: 24)
            let group = DispatchGroup()
            group.enter()
            let wasMigrated = Atomic<Bool>(false)
            // Safe because it is not changed.
            nonisolated(unsafe) let work = migrate
            Thread.detachNewThread {
                if (try? work(url)) != nil { wasMigrated.store(true, ordering: .relaxed) }
                group.leave()
            }
            // By chance, as above.
            Thread.sleep(forTimeInterval: Double(numbers.below(1600)) / 1000)
            try server.stopImmediately()
            try server.start()
            group.wait()
            let state = try #require(try library.state(of: url, .postgreSQL, count: 24))
            let known = try #require(ServerMigrationTests.ways[way])
            #expect(known.contains(state), "round \(round): \(state)")
            // Whoever was told that it is migrated was told the truth.
            #expect(!wasMigrated.load(ordering: .relaxed) || state == known.last, "round \(round): \(state)")
            seen[state, default: 0] += 1
            try migrate(url)
            #expect(try library.state(of: url, .postgreSQL, count: 24) == known.last, "round \(round)")
        }
        print("stopped \(Self.stops) times (\(way)): \(seen)")
    }

    /// A copy that the server's end has stopped goes on where it was.
    @Test func aCopyGoesOnAfterTheServerHasStopped() throws {
        let server = try Self.newServer("stopc")
        defer { try? server.stopImmediately() }
        PostgreSQLStore.register()
        let library = try Library()
        let file = try ServerMigrationTests.copyOfManyBooks()
        defer { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }
        for round in Self.rounds {
            let url = server.url(schema: "c\(round)", "&connect_timeout=2")
            func copy(_ progress: @escaping (Int) -> Void) throws -> StoreCopy {
                let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.models[0])
                let store = try coordinator.addPersistentStore(type: .sqlite, at: file)
                defer { try? coordinator.remove(store) }
                return try StoreCopy.run(store, of: coordinator, to: url, type: .postgreSQL) { done, _ in
                    progress(done)
                }
            }
            var isStopped = false
            #expect(throws: CocoaError.self) {
                try copy { done in
                    guard done > 4000 * (round % 4 + 1), !isStopped else { return }
                    isStopped = true
                    try? server.stopImmediately()
                }
            }
            try server.start()
            let made = try copy { _ in }
            #expect(made.foundCount > 0 && made.differences.isEmpty, "round \(round)")
            #expect(try library.state(of: url, .postgreSQL, count: 9000) == "v1", "round \(round)")
        }
    }

    /// What a migration or a copy makes does not fit: the store is as it was, and what was made is gone.
    @Test(.enabled(if: PostgreSQLServer.canMakeDisks, "\(PostgreSQLServer.noDisks)"))
    func whereThereIsNoSpaceLeftNothingIsHalfDone() throws {
        let server = try Self.newServer("stopf")
        let disk = try server.makeSmallDisk(megabytes: 4)
        defer { try? server.stopImmediately() }
        PostgreSQLStore.register()
        let url = server.url(schema: "f")
        let notes = try Notes(url)
        let context = notes.newContext()
        var numbers = SystemRandomNumberGenerator()
        try context.performAndWait {
            for number in 0..<40 {
                // What cannot be compressed.
                let data = Data((0..<(1 << 15)).flatMap { _ in withUnsafeBytes(of: numbers.next()) { Array($0) } })
                Notes.insert("\(number)", in: context, data: data)
            }
            try context.save()
        }
        let owner = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { owner.close() }
        try owner.execute("CREATE TABLESPACE small LOCATION '\(disk)'")
        let small = "&options=-c%20default_tablespace%3Dsmall"
        let new = NSManagedObjectModel()
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = Notes.makeModel().entities[0].properties.compactMap { $0.copy() as? NSPropertyDescription }
        let more = NSAttributeDescription()
        (more.name, more.attributeType, more.isOptional) = ("more", .stringAttributeType, true)
        note.properties.append(more)
        new.entities = [note]
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: Notes.makeModel(), destinationModel: new)
        mapping.entityMappings.first?.attributeMappings?.first { $0.name == "name" }?.valueExpression =
            CoreData.NSExpression(format: "uppercase($source.name)")
        let migration = ProgressiveMigration(
            to: new, configuration: nil, type: NSPostgreSQLStoreType, mappings: [("1to2", mapping)])
        let error = #expect(throws: CocoaError.self) {
            try migration.run(at: server.url(schema: "f", small), options: nil)
        }
        #expect(error?.localizedDescription.contains("No space left") == true, "\(String(describing: error))")
        #expect(try notes.contents().count == 40)
        let store = try #require(notes.coordinator.persistentStores.first)
        let copied = #expect(throws: CocoaError.self) {
            try StoreCopy.run(
                store, of: notes.coordinator, to: server.url(schema: "g", small), type: .postgreSQL
            ) { _, _ in }
        }
        #expect(copied?.code == .fileWriteOutOfSpace, "\(String(describing: copied))")
        // Where there is room it is done.
        #expect(try migration.run(at: url, options: nil))
        let reader = NSPersistentStoreCoordinator(managedObjectModel: new)
        try reader.addPersistentStore(type: .postgreSQL, at: url)
        #expect(try owner.rows(#"SELECT 1 FROM pg_namespace WHERE nspname LIKE '%_new_%'"#).isEmpty)
    }
}
