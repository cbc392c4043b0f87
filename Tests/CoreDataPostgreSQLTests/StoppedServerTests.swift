import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Synchronization
import TestSupport
import Testing

/// The server is stopped as if it had crashed, while programs save and stores are migrated; `COREDATA_SERVER_STOPS=100` does so more often.
@Suite(.serialized) struct StoppedServerTests {
    private static var stops: Int {
        ProcessInfo.processInfo.environment["COREDATA_SERVER_STOPS"].flatMap(Int.init) ?? 3
    }

    private static func newServer(_ name: String) -> PostgreSQLServer? {
        guard PostgreSQLServer.shared != nil else { return nil }
        do {
            // What is committed is to be there after a crash.
            return try PostgreSQLServer(name, ["synchronous_commit=on", "restart_after_crash=on"])
        } catch {
            Issue.record(error)
            return nil
        }
    }

    @Test func savesAreDoneOnceOrNotAtAll() throws {
        guard let server = Self.newServer("stop") else { return }
        defer { try? server.stopImmediately() }
        var numbers = SeededNumbers(seed: UInt64(Self.stops))
        let schema = Notes.newSchema("s")
        let notes = try Notes(server.url(schema: schema, "&connect_timeout=30"))
        let ledger = Notes.Ledger()
        let isOver = Atomic<Bool>(false)
        let group = DispatchGroup()
        for writer in 0..<4 {
            group.enter()
            Thread.detachNewThread {
                notes.write("\(writer)", ledger) { !isOver.load(ordering: .relaxed) }
                group.leave()
            }
        }
        for _ in 0..<Self.stops {
            Thread.sleep(forTimeInterval: Double(numbers.below(150)) / 1000 + 0.05)
            try server.stopImmediately()
            Thread.sleep(forTimeInterval: Double(numbers.below(50)) / 1000)
            try server.start()
        }
        Thread.sleep(forTimeInterval: 0.2)
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
        guard let server = Self.newServer("stopm") else { return }
        defer { try? server.stopImmediately() }
        PostgreSQLStore.register()
        var numbers = SeededNumbers(seed: UInt64(Self.stops))
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
        var migrated = 0
        for round in 0..<Self.stops {
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
}
