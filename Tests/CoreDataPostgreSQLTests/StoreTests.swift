import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQLDriver

/// Stores by a URL, as programs have them. Does nothing where no server is installed.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct StoreTests {
    private static func makeModel() -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties = [
            attribute("name", .stringAttributeType), attribute("code", .stringAttributeType),
            attribute("price", .decimalAttributeType), attribute("count", .integer64AttributeType),
        ]
        item.uniquenessConstraints = [["code"]]
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    /// A URL of a schema that nobody has used.
    private func newURL() throws -> URL {
        PostgreSQLStore.register()
        return try PostgreSQLServer.shared.url(schema: "t" + UUID().uuidString.filter { $0 != "-" }.lowercased())
    }

    private func newCoordinator(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        return coordinator
    }

    private func newContext(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func insert(_ name: String, _ count: Int = 0, in context: NSManagedObjectContext) -> NSManagedObject {
        let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        item.setValue(name, forKey: "name")
        item.setValue(NSNumber(value: count), forKey: "count")
        return item
    }

    private func items(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return try context.fetch(request)
    }

    @Test func aURLIsAllThatAContainerNeeds() throws {
        let url = try newURL()
        for round in 0..<2 {
            let container = NSPersistentContainer(name: "Shop", managedObjectModel: Self.makeModel())
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            container.loadPersistentStores { _, error in #expect(error == nil) }
            let store = try #require(container.persistentStoreCoordinator.persistentStores.first)
            #expect(store.type == NSPostgreSQLStoreType && store.url == url)
            let context = newContext(container.persistentStoreCoordinator)
            try context.performAndWait {
                #expect(try items(context).count == round)
                insert("item \(round)", in: context).setValue(
                    NSDecimalNumber(string: "12345678901234567890.12"), forKey: "price")
                try context.save()
                #expect(try items(context).count == round + 1)
            }
            try container.persistentStoreCoordinator.remove(store)
        }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .postgreSQL, at: url)
        #expect(metadata[NSStoreTypeKey] as? String == NSPostgreSQLStoreType)
    }

    @Test func aStoreIsAttachedOnceByWhateverURL() throws {
        let url = try newURL()
        let coordinator = try newCoordinator(url)
        let other = try #require(URL(string: url.absoluteString + "&pool=3"))
        for again in [url, other] {
            let error = #expect(throws: CocoaError.self) {
                try coordinator.addPersistentStore(type: .postgreSQL, at: again)
            }
            #expect(error?.code.rawValue == NSPersistentStoreOpenError)
            #expect(error?.localizedDescription.contains("already") == true)
        }
        #expect(coordinator.persistentStores.count == 1)
        let context = newContext(coordinator)
        _ = try context.performAndWait { try items(context) }
        try coordinator.remove(try #require(coordinator.persistentStores.first))
        try coordinator.addPersistentStore(type: .postgreSQL, at: other)
    }

    @Test func aStoreOfOneFileIsNoServersStore() throws {
        let url = try newURL()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        for type in [NSPersistentStore.StoreType.xml, .binary] {
            let error = #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: type, at: url) }
            #expect(error?.code == .fileReadUnsupportedScheme)
        }
    }

    /// The option is taken: there is nothing that a server would put off.
    @Test func nothingOfAMigrationIsPutOff() throws {
        let url = try newURL()
        let context = newContext(try newCoordinator(url))
        try context.performAndWait {
            _ = insert("a", 1, in: context)
            try context.save()
        }
        let model = Self.makeModel()
        let item = try #require(model.entitiesByName["Item"])
        item.properties = item.properties.filter { $0.name != "count" }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            type: .postgreSQL, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentStoreDeferredLightweightMigrationOptionKey: true,
            ])
        #expect(store.metadata[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { connection.close() }
        let left = try connection.rows(
            "SELECT 1 FROM pg_attribute WHERE attrelid = CAST('\"Item\"' AS regclass) AND attname = 'count' AND NOT attisdropped"
        )
        #expect(left.isEmpty)
        #expect(try newContext(coordinator).performAndWait { try items(newContext(coordinator)).count } == 1)
    }

    @Test func viewsAreNotInTheWayOfAStore() throws {
        let url = try newURL()
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { connection.close() }
        let schema = try PostgreSQLAddress(url).schema
        try connection.execute("CREATE SCHEMA \(schema)")
        try connection.execute("CREATE VIEW \(schema).stat AS SELECT 1 AS one")
        let context = newContext(try newCoordinator(url))
        try context.performAndWait {
            _ = insert("beside a view", in: context)
            try context.save()
            #expect(try items(context).count == 1)
        }
    }

    @Test func aStoreThatHasLostItsMetadataIsRefused() throws {
        let url = try newURL()
        let coordinator = try newCoordinator(url)
        try coordinator.remove(coordinator.persistentStores[0])
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { connection.close() }
        let table = SQLNames.readable.stored("Z_METADATA")
        try connection.execute("DELETE FROM \(try PostgreSQLAddress(url).schema).\"\(table)\"")
        let error = try #require(throws: CocoaError.self) { try newCoordinator(url) }
        #expect(error.code == .fileReadCorruptFile)
        #expect(error.localizedDescription.contains("the table \(table) has no row. Restore a backup."), "\(error)")
    }

    @Test func nothingIsReadFromWhereNoStoreIs() throws {
        let url = try newURL()
        let error = #expect(throws: CocoaError.self) {
            try newCoordinator(url, [NSReadOnlyPersistentStoreOption: true])
        }
        #expect(error?.localizedDescription.contains("There is no store in the schema") == true)
    }

    @Test func whatIsTooLongForAnIndexIsRefusedWithTheReason() throws {
        let url = try newURL()
        let context = newContext(try newCoordinator(url))
        try context.performAndWait {
            var random = SystemRandomNumberGenerator()
            let item = insert("long", in: context)
            item.setValue((0..<2000).map { _ in String(random.next(), radix: 36) }.joined(), forKey: "code")
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code.rawValue == NSManagedObjectConstraintValidationError)
            #expect(error?.localizedDescription.contains("2,700 bytes") == true)
            item.setValue("short", forKey: "code")
            try context.save()
        }
    }

    @Test func thePasswordIsAskedForAndNowhereSeen() throws {
        let url = try newURL()
        var parts = try #require(URLComponents(url: url, resolvingAgainstBaseURL: false))
        parts.queryItems?.append(URLQueryItem(name: "password", value: "geheim"))
        let coordinator = try newCoordinator(try #require(parts.url))
        let store = try #require(coordinator.persistentStores.first)
        #expect(store.url == url)
        let shown = "\(store) \(store.metadata ?? [:])"
        #expect(!shown.contains("geheim"))
        let secret = try #require(parts.url)
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .postgreSQL, at: secret) }
        parts.queryItems?.append(URLQueryItem(name: "connect_timeout", value: "2"))
        parts.queryItems = parts.queryItems?.map {
            $0.name == "user" ? URLQueryItem(name: "user", value: "nobody") : $0
        }
        let wrong = try #require(parts.url)
        let error = #expect(throws: CocoaError.self) { try newCoordinator(wrong) }
        let text = "\(error.map { "\($0) \($0.userInfo)" } ?? "")"
        #expect(text.contains("nobody") && !text.contains("geheim"))
    }

    @Test func twoProgramsThatChangeTheSameObjectAreInConflict() throws {
        let url = try newURL()
        let (here, there) = (newContext(try newCoordinator(url)), newContext(try newCoordinator(url)))
        try here.performAndWait {
            _ = insert("a", in: here)
            try here.save()
        }
        // Held, so that it is of the version that was fetched.
        let held = try there.performAndWait { try items(there) }
        let theirs = try #require(held.first)
        try here.performAndWait {
            try #require(items(here).first).setValue("b", forKey: "name")
            try here.save()
        }
        try there.performAndWait {
            theirs.setValue("c", forKey: "name")
            let error = #expect(throws: CocoaError.self) { try there.save() }
            #expect(error?.code.rawValue == NSManagedObjectMergeError)
            there.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try there.save()
        }
        try here.performAndWait {
            here.refreshAllObjects()
            let names = try items(here).map { $0.value(forKey: "name") as? String }
            #expect(names == ["c"])
        }
    }

    @Test func manyWritersLoseNothing() throws {
        let url = try newURL()
        _ = try newCoordinator(url, [NSPersistentHistoryTrackingKey: true as NSNumber])
        let (writers, saves) = (6, 12)
        DispatchQueue.concurrentPerform(iterations: writers) { writer in
            do {
                let coordinator = try newCoordinator(url, [NSPersistentHistoryTrackingKey: true as NSNumber])
                let context = newContext(coordinator)
                for save in 0..<saves {
                    try context.performAndWait {
                        for part in 0..<3 { _ = insert("\(writer) \(save) \(part)", in: context) }
                        try context.save()
                    }
                }
            } catch { Issue.record(error) }
        }
        let context = newContext(try newCoordinator(url, [NSPersistentHistoryTrackingKey: true as NSNumber]))
        try context.performAndWait {
            let found = try items(context)
            #expect(found.count == writers * saves * 3)
            #expect(Set(found.map(\.objectID)).count == found.count)
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = try #require(result?.result as? [NSPersistentHistoryTransaction])
            #expect(transactions.count == writers * saves)
            #expect(transactions.map(\.transactionNumber) == transactions.map(\.transactionNumber).sorted())
        }
    }

    @Test func aConnectionThatTheServerEndsIsReplaced() throws {
        let plain = try newURL()
        let name = Notes.newSchema("v")
        let url = try #require(URL(string: plain.absoluteString + "&application_name=\(name)"))
        let context = newContext(try newCoordinator(url))
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(plain)))
        defer { other.close() }
        for round in 0..<3 {
            try context.performAndWait {
                _ = insert("\(round)", in: context)
                try context.save()
                #expect(try items(context).count == round + 1)
            }
            #expect(try other.endSessions(of: name) > 0)
        }
    }

    @Test func batchesAreDoneByTheServer() throws {
        let url = try newURL()
        let context = newContext(try newCoordinator(url, [NSPersistentHistoryTrackingKey: true as NSNumber]))
        try context.performAndWait {
            let insertion = NSBatchInsertRequest(
                entityName: "Item",
                objects: (0..<1000).map { ["name": "item \($0)", "count": NSNumber(value: $0), "code": "c\($0)"] })
            insertion.resultType = .count
            #expect((try context.execute(insertion) as? NSBatchInsertResult)?.result as? Int == 1000)
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.predicate = NSPredicate(format: "count < 10")
            update.propertiesToUpdate = [
                "price": NSDecimalNumber(string: "12345678901234567890.12"), "name": NSExpression(format: "code"),
            ]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 10)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.predicate = NSPredicate(
                format: "price == %@ AND name == code", NSDecimalNumber(string: "12345678901234567890.12"))
            #expect(try context.count(for: request) == 10)
            request.predicate = NSPredicate(format: "price == %@", NSDecimalNumber(string: "12345678901234567890.13"))
            #expect(try context.count(for: request) == 0)
            let some = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            some.predicate = NSPredicate(format: "name LIKE 'item 9*'")
            let deletion = NSBatchDeleteRequest(fetchRequest: some)
            deletion.resultType = .resultTypeCount
            #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 110)
            request.predicate = nil
            #expect(try context.count(for: request) == 890)
            let history = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(history) as? NSPersistentHistoryResult
            let changes = (result?.result as? [NSPersistentHistoryTransaction])?.flatMap { $0.changes ?? [] }
            #expect(changes?.count == 1000 + 10 + 110)
        }
    }

    @Test func rowsWithoutMandatoryValuesAreRefused() throws {  // G9, N4
        let url = try newURL()
        let note = NSEntityDescription()
        note.name = "Note"
        note.properties = ["title", "text"].map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (
                name, .stringAttributeType, name == "text"
            )
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [note]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        let context = newContext(coordinator)
        try context.performAndWait { () throws in
            let rows = (1...600).map { $0 == 600 ? ["text": "x"] : ["title": "\($0)"] }
            let error = #expect(throws: CocoaError.self) {
                try context.execute(NSBatchInsertRequest(entityName: "Note", objects: rows))
            }
            #expect(error?.code.rawValue == NSValidationMissingMandatoryPropertyError)
            #expect(error?.localizedDescription.contains("row 600 ") == true)
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            #expect(try context.count(for: request) == 0)
            try context.execute(NSBatchInsertRequest(entityName: "Note", objects: Array(rows.dropLast())))
            #expect(try context.count(for: request) == 599)
        }
    }

    @Test func whatIsNotThereYetIsRefused() throws {
        let url = try newURL()
        _ = try newCoordinator(url)
        #expect(throws: CocoaError.self) { try newCoordinator(url, [NSSQLitePragmasOption: ["a": "b"]]) }
    }

    @Test func hostileNamesAndValuesAreNothingButNamesAndValues() throws {
        let server = try PostgreSQLServer.shared
        PostgreSQLStore.register()
        let hostile = "a\"; DROP TABLE \"Item\"; --'"
        let entity = NSEntityDescription()
        entity.name = "Table"
        // What else could be mistaken for SQL no model takes for a name.
        let names = ["id", "Z_PK", "Z_ENT", "select", "user", "größe", String(repeating: "long", count: 40)]
        entity.properties = names.map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let schema = "s\"'; drop schema public; --\(UUID().uuidString.prefix(8))"
        var parts = try #require(URLComponents(url: server.url(schema: "x"), resolvingAgainstBaseURL: false))
        parts.queryItems = parts.queryItems?.map {
            $0.name == "schema" ? URLQueryItem(name: "schema", value: schema) : $0
        }
        let url = try #require(parts.url)
        for round in 0..<2 {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(type: .postgreSQL, at: url)
            let context = newContext(coordinator)
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Table")
                #expect(try context.count(for: request) == round)
                let object = NSEntityDescription.insertNewObject(forEntityName: "Table", into: context)
                for name in names { object.setValue(hostile + name, forKey: name) }
                try context.save()
                request.predicate = NSPredicate(format: "%K == %@", "select", hostile + "select")
                let found = try context.fetch(request)
                #expect(found.count == round + 1)
                context.refreshAllObjects()
                for name in names { #expect(object.value(forKey: name) as? String == hostile + name) }
            }
        }
    }
}
