import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQLDriver

/// What follows from columns that have types, and from a server that fails on values.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct TypedColumnTests {
    // MARK: Answered again in memory

    @Test func whatTheServerCannotComputeIsAnsweredInMemoryInsideATransaction() throws {
        let server = try PostgreSQLServer.shared
        let database = try PostgreSQLDatabase(
            PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { database.close() }
        try database.read { outer in
            let before = try outer.rows(SQLText("SELECT 1"))
            #expect(before == [[.integer(1)]])
            for _ in 0..<2 {
                #expect(throws: SQLFailure.self) {
                    try database.read { try $0.rows(SQLText("SELECT CAST(9223372036854775807 AS BIGINT) * 2")) }
                }
                #expect(throws: SQLFailure.self) {
                    try database.readStatement { try $0.rows(SQLText("SELECT 1 / 0")) }
                }
                let after = try outer.rows(SQLText("SELECT 1"))
                #expect(after == [[.integer(1)]])
            }
        }
    }

    @Test(arguments: [false, true])
    func batchesWhosePredicateTheServerCannotComputeFindInMemory(_ recordsHistory: Bool) throws {
        let server = try PostgreSQLServer.shared
        let notes = try Notes(
            server.url(schema: Notes.newSchema("b")), [NSPersistentHistoryTrackingKey: recordsHistory as NSNumber])
        let context = notes.newContext()
        try context.performAndWait {
            for (index, name) in ["a", "b", "c", "d"].enumerated() {
                Notes.insert(name, in: context).setValue(index, forKey: "count")
            }
            try context.save()
            // Too large for the server's numbers where the count is more than 1.
            let large = NSPredicate(format: "count * 9000000000000000000 > 100")
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = large
            #expect(try context.count(for: request) == 3)
            let update = NSBatchUpdateRequest(entityName: "Note")
            update.predicate = large
            update.propertiesToUpdate = ["name": "large"]
            update.resultType = .updatedObjectsCountResultType
            #expect((try context.execute(update) as? NSBatchUpdateResult)?.result as? Int == 3)
            let some = NSFetchRequest<any NSFetchRequestResult>(entityName: "Note")
            some.predicate = NSPredicate(format: "count * 9000000000000000000 > 10000000000000000000")
            let deletion = NSBatchDeleteRequest(fetchRequest: some)
            deletion.resultType = .resultTypeCount
            #expect((try context.execute(deletion) as? NSBatchDeleteResult)?.result as? Int == 2)
            guard recordsHistory else { return }
            let history = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(history) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction]
            #expect(transactions?.map { $0.changes?.count ?? 0 } == [4, 3, 2])
        }
        #expect(try notes.contents().map(\.name) == ["a", "large"])
    }

    // MARK: Derived attributes of truth

    private static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
        return attribute
    }

    private static func model(_ derived: [(String, NSAttributeType, String)]) -> NSManagedObjectModel {
        let (list, item) = (NSEntityDescription(), NSEntityDescription())
        (list.name, item.name) = ("List", "Item")
        let (items, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (items.name, items.destinationEntity, items.inverseRelationship) = ("items", item, owner)
        (items.isOptional, items.maxCount) = (true, 0)
        (owner.name, owner.destinationEntity, owner.inverseRelationship) = ("list", list, items)
        (owner.isOptional, owner.maxCount) = (true, 1)
        item.properties = [
            attribute("isDone", .booleanAttributeType), attribute("key", .UUIDAttributeType),
            attribute("day", .dateAttributeType), owner,
        ]
        list.properties =
            [items, attribute("isOpen", .booleanAttributeType)]
            + derived.map { name, type, expression in
                let attribute = NSDerivedAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
                attribute.derivationExpression = NSExpression(format: expression)
                return attribute
            }
        let model = NSManagedObjectModel()
        model.entities = [list, item]
        return model
    }

    private func open(_ model: NSManagedObjectModel, _ url: URL) throws -> NSManagedObjectContext {
        PostgreSQLStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Whoever writes, the rows of the store follow, and no other's: also where the program looks elsewhere for tables, or nowhere.
    @Test func triggersAreOfTheirStore() throws {
        let server = try PostgreSQLServer.shared
        let model = Self.model([
            ("count", .integer64AttributeType, "items.@count"), ("done", .integer64AttributeType, "sum:(items.isDone)"),
        ])
        let schemas = [Notes.newSchema("t"), Notes.newSchema("t")]
        for schema in schemas {
            let context = try open(model, server.url(schema: schema))
            try context.performAndWait {
                let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: context)
                NSEntityDescription.insertNewObject(forEntityName: "Item", into: context).setValue(list, forKey: "list")
                try context.save()
            }
        }
        let connection = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: "public"))))
        defer { connection.close() }
        func values(_ schema: String) throws -> [SQLValue] {
            try connection.rows("SELECT \"count\", \"done\" FROM \(schema).\"List\"").first ?? []
        }
        let (theirs, mine) = (schemas[0], schemas[1])
        for (number, path) in [theirs, "''", "\(theirs), \(mine)", "public"].enumerated() {
            try connection.execute("SET search_path = \(path)")
            let former = try connection.rows("SHOW search_path")
            try connection.execute(
                """
                INSERT INTO \(mine)."Item" ("_id", "_entity", "_version", "isDone", "list") \
                SELECT \(100 + number), "_entity", 1, TRUE, "list" FROM \(mine)."Item" LIMIT 1
                """)
            #expect(try connection.rows("SHOW search_path") == former)
            let count = Int64(number + 1)
            #expect(try values(mine) == [.integer(count + 1), .integer(count)], "\(path)")
            #expect(try values(theirs) == [.integer(1), .integer(0)], "\(path)")
        }
        // In a transaction it looks where it did, too.
        try connection.execute("BEGIN")
        try connection.execute("DELETE FROM \(mine).\"Item\" WHERE \"_id\" >= 100")
        #expect(try connection.rows("SHOW search_path") == [[.text("public")]])
        try connection.execute("COMMIT")
        #expect(try values(mine) == [.integer(1), .integer(0)])
    }

    @Test func truthIsAddedUpAsANumber() throws {
        let server = try PostgreSQLServer.shared
        let model = Self.model([
            ("done", .integer64AttributeType, "sum:(items.isDone)"),
            ("anyDone", .booleanAttributeType, "max:(items.isDone)"),
            ("allDone", .booleanAttributeType, "min:(items.isDone)"),
            ("openNumber", .integer16AttributeType, "isOpen"), ("openCopy", .booleanAttributeType, "isOpen"),
            ("lastDay", .dateAttributeType, "max:(items.day)"),
        ])
        let context = try open(model, server.url(schema: Notes.newSchema("t")))
        try context.performAndWait {
            let list = NSEntityDescription.insertNewObject(forEntityName: "List", into: context)
            try context.save()
            list.setValue(true, forKey: "isOpen")
            let items = (0..<3).map { index in
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(index > 0, forKey: "isDone")
                item.setValue(Date(timeIntervalSinceReferenceDate: Double(index)), forKey: "day")
                item.setValue(list, forKey: "list")
                return item
            }
            func values() throws -> [Int?] {
                try context.save()
                context.refreshAllObjects()
                return ["done", "anyDone", "allDone", "openNumber", "openCopy"].map {
                    (list.value(forKey: $0) as? NSNumber)?.intValue
                }
            }
            #expect(try values() == [2, 1, 0, 1, 1])
            #expect(list.value(forKey: "lastDay") as? Date == Date(timeIntervalSinceReferenceDate: 2))
            items[0].setValue(true, forKey: "isDone")
            list.setValue(false, forKey: "isOpen")
            #expect(try values() == [3, 1, 1, 0, 0])
            for item in items { item.setValue(false, forKey: "isDone") }
            #expect(try values() == [0, 0, 0, 0, 0])
            for item in items { context.delete(item) }
            #expect(try values() == [0, nil, nil, 0, 0])
        }
    }

    @Test(arguments: [
        ("min:(items.key)", NSAttributeType.UUIDAttributeType), ("sum:(items.day)", .dateAttributeType),
        ("max:(items.day)", .doubleAttributeType), ("now()", .doubleAttributeType),
        ("items.@count", .booleanAttributeType), ("isOpen", .stringAttributeType),
    ])
    func whatColumnsCannotKeepIsRefusedWhenTheStoreIsAdded(_ expression: String, _ type: NSAttributeType) throws {
        let server = try PostgreSQLServer.shared
        let url = server.url(schema: Notes.newSchema("t"))
        let error = #expect(throws: CocoaError.self) { try open(Self.model([("made", type, expression)]), url) }
        let text = "\(error.map { "\($0)" } ?? "")"
        #expect(text.contains("'made' of entity 'List'") && text.contains("cannot be stored"), "\(text)")
        _ = try open(Self.model([]), url)
    }

    // MARK: Columns of other types

    @Test func columnsOfOtherTypesAreToldWhenTheStoreIsOpened() throws {
        let server = try PostgreSQLServer.shared
        let url = server.url(schema: Notes.newSchema("o"))
        let model = Self.model([])
        let context = try open(model, url)
        let day = Date(timeIntervalSinceReferenceDate: 700_000_000.25)
        let key = UUID()
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            for (name, value) in [("isDone", true), ("day", day), ("key", key)] as [(String, Any)] {
                item.setValue(value, forKey: name)
            }
            try context.save()
        }
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { other.close() }
        // As the first previews had them.
        for change in [
            #""isDone" TYPE BIGINT USING CAST("isDone" AS INTEGER)"#,
            #""day" TYPE DOUBLE PRECISION USING EXTRACT(EPOCH FROM "day") - 978307200"#,
            #""key" TYPE BYTEA USING DECODE(REPLACE(CAST("key" AS TEXT), '-', ''), 'hex')"#,
        ] { try other.execute(#"ALTER TABLE "Item" ALTER COLUMN "# + change) }
        let error = #expect(throws: CocoaError.self) { try open(model, url) }
        #expect(error?.code.rawValue == NSPersistentStoreIncompatibleSchemaError)
        let text = error?.localizedDescription ?? ""
        for part in [#""Item"."isDone" is bigint, not boolean"#, #""Item"."day""#, #""Item"."key""#, "converted"] {
            #expect(text.contains(part), "\(text)")
        }
        // As the documentation has them made what they are to be.
        for change in [
            #""isDone" TYPE BOOLEAN USING "isDone" <> 0"#,
            #""day" TYPE TIMESTAMPTZ USING TO_TIMESTAMP("day" + 978307200)"#,
            #""key" TYPE UUID USING CAST(ENCODE("key", 'hex') AS UUID)"#,
            // Wider is as good.
            #""list" TYPE BIGINT"#,
        ] { try other.execute(#"ALTER TABLE "Item" ALTER COLUMN "# + change) }
        let again = try open(model, url)
        try again.performAndWait {
            let item = try #require(try again.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
            #expect(item.value(forKey: "isDone") as? Bool == true && item.value(forKey: "key") as? UUID == key)
            #expect(item.value(forKey: "day") as? Date == day)
        }
    }
}
