import CoreData
import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import Testing

@testable import CoreDataPostgreSQLDriver

/// What another program sees of a store's tables, and what it may write there.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ColumnTypeTests {
    private static func makeModel() -> NSManagedObjectModel {
        let event = NSEntityDescription()
        event.name = "Event"
        let types: [(String, NSAttributeType)] = [
            ("isDone", .booleanAttributeType), ("wasDone", .booleanAttributeType), ("day", .dateAttributeType),
            ("key", .UUIDAttributeType), ("rating", .integer16AttributeType), ("pages", .integer32AttributeType),
            ("size", .integer64AttributeType), ("price", .decimalAttributeType), ("weight", .doubleAttributeType),
            ("name", .stringAttributeType), ("data", .binaryDataAttributeType),
        ]
        event.properties = types.map { name, type in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let index = NSFetchIndexDescription(
            name: "open",
            elements: [NSFetchIndexElementDescription(property: event.properties[2], collationType: .binary)])
        index.partialIndexPredicate = NSPredicate(
            format: "isDone == NO AND day > %@ AND key != %@", Date(timeIntervalSinceReferenceDate: 0.5) as NSDate,
            UUID() as NSUUID)
        event.indexes = [index]
        event.uniquenessConstraints = [["key"]]
        let model = NSManagedObjectModel()
        model.entities = [event]
        return model
    }

    private struct Opened {
        var context: NSManagedObjectContext
        var connection: PostgreSQLConnection
    }

    private func open() throws -> Opened {
        PostgreSQLStore.register()
        let schema = "t" + UUID().uuidString.filter { $0 != "-" }.lowercased()
        let url = try PostgreSQLServer.shared.url(schema: schema)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return Opened(
            context: context, connection: try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url))))
    }

    private func insert(_ values: [String: Any], in context: NSManagedObjectContext) -> NSManagedObject {
        let event = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
        event.setValuesForKeys(values)
        return event
    }

    private func count(_ format: String, _ arguments: Any..., in context: NSManagedObjectContext) throws -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return try context.count(for: request)
    }

    @Test func aReaderOfTheSchemaFindsTheTypesThatItExpects() throws {
        let store = try open()
        defer { store.connection.close() }
        let rows = try store.connection.rows(
            "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'Event'"
        )
        let types = Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
        let expected = [
            "_id": "bigint", "isDone": "boolean", "day": "timestamp with time zone", "key": "uuid",
            "rating": "smallint", "pages": "integer", "size": "bigint", "price": "numeric",
            "weight": "double precision", "name": "text", "data": "bytea",
        ]
        for (column, type) in expected { #expect(types[.text(column)] == .text(type), "\(column)") }
    }

    @Test func whatIsSavedIsWhatAnotherProgramReads() throws {
        let store = try open()
        defer { store.connection.close() }
        let key = try #require(UUID(uuidString: "12345678-9ABC-DEF0-1234-56789ABCDEF0"))
        try store.context.performAndWait {
            _ = insert(
                [
                    "isDone": true, "day": Date(timeIntervalSince1970: 0.25), "key": key, "rating": -3, "pages": 70_000,
                ], in: store.context)
            try store.context.save()
        }
        let read = """
            SELECT CAST("isDone" AS TEXT), CAST(day AT TIME ZONE 'UTC' AS TEXT), CAST(key AS TEXT), CAST(rating AS TEXT), \
            CAST(pages AS TEXT) FROM "Event"
            """
        #expect(
            try store.connection.rows(read) == [
                [
                    .text("true"), .text("1970-01-01 00:00:00.25"), .text("12345678-9abc-def0-1234-56789abcdef0"),
                    .text("-3"), .text("70000"),
                ]
            ])
        try store.connection.execute(
            #"UPDATE "Event" SET "isDone" = false, day = '2024-02-29 12:00:00+02', _version = _version + 1"#)
        try store.context.performAndWait {
            store.context.refreshAllObjects()
            #expect(try count("isDone == NO", in: store.context) == 1)
            let day = try #require(ISO8601DateFormatter().date(from: "2024-02-29T10:00:00Z"))
            #expect(try count("day == %@ AND rating == -3", day, in: store.context) == 1)
        }
    }

    @Test func aDateThatWasSavedIsTheDateThatIsRead() throws {
        let store = try open()
        defer { store.connection.close() }
        try store.context.performAndWait {
            for _ in 0..<50 {
                let now = Date(timeIntervalSinceReferenceDate: Date().timeIntervalSinceReferenceDate + 1.3e-7)
                let event = insert(["day": now, "name": "a"], in: store.context)
                try store.context.save()
                let saved = try #require(event.value(forKey: "day") as? Date)
                #expect(abs(saved.timeIntervalSince(now)) < 1e-6)
                #expect(try count("day == %@", now, in: store.context) >= 1)
                #expect(try count("day == %@ AND name LIKE 'a*'", now, in: store.context) >= 1)
                store.context.refresh(event, mergeChanges: false)
                #expect(event.value(forKey: "day") as? Date == saved)
                // Nothing has changed, so that nothing is in conflict.
                event.setValue(now, forKey: "day")
                event.setValue("b", forKey: "name")
                try store.context.save()
                #expect(event.value(forKey: "day") as? Date == saved)
            }
            _ = insert(["day": Date(timeIntervalSinceReferenceDate: 1e15), "name": "far"], in: store.context)
            let error = #expect(throws: CocoaError.self) { try store.context.save() }
            #expect("\(error.map { "\($0)" } ?? "")".contains("'day' of entity 'Event'"))
            store.context.rollback()
            #expect(try count("day < %@", Date(timeIntervalSinceReferenceDate: 1e15), in: store.context) == 50)
        }
    }

    @Test func batchesKnowTheTypes() throws {
        let store = try open()
        defer { store.connection.close() }
        let keys = (0..<700).map { _ in UUID() }
        try store.context.performAndWait {
            let insertion = NSBatchInsertRequest(
                entityName: "Event",
                objects: keys.enumerated().map { index, key in
                    [
                        "key": key, "isDone": index % 2 == 0,
                        "day": Date(timeIntervalSinceReferenceDate: Double(index)),
                        "rating": index % 5, "pages": index,
                    ]
                })
            _ = try store.context.execute(insertion)
            #expect(try count("key IN %@", Array(keys[..<600]), in: store.context) == 600)
            #expect(try count("NOT (key IN %@)", Array(keys[..<3]), in: store.context) == 697)
            #expect(
                try count(
                    "day IN %@", (0..<9).map { Date(timeIntervalSinceReferenceDate: Double($0)) }, in: store.context)
                    == 9)
            func update(_ values: [AnyHashable: Any], _ format: String) throws {
                let request = NSBatchUpdateRequest(entityName: "Event")
                (request.propertiesToUpdate, request.predicate) = (values, NSPredicate(format: format))
                _ = try store.context.execute(request)
            }
            let day = Date(timeIntervalSinceReferenceDate: 5000)
            try update(["wasDone": NSExpression(format: "isDone"), "isDone": true, "day": day], "rating == 1")
            #expect(try count("isDone == YES AND day == %@", day, in: store.context) == 140)
            #expect(try count("wasDone == YES", in: store.context) == 70)
            #expect(try count("wasDone == isDone", in: store.context) == 70)
            // Of rating 1 all are done now, of rating 2 those at odd places are not.
            #expect(try count("isDone + rating == 2", in: store.context) == 140 + 70)
            let large = (0..<700).count { $0 % 5 * $0 * 70_000 > 100_000_000 }
            #expect(try count("rating * pages * 70000 > 100000000", in: store.context) == large)
            let sum = NSExpressionDescription()
            (sum.name, sum.expression, sum.expressionResultType) = (
                "done", NSExpression(format: "sum:(isDone)"), .integer64AttributeType
            )
            let latest = NSExpressionDescription()
            (latest.name, latest.expression, latest.expressionResultType) = (
                "latest", NSExpression(format: "max:(day)"), .dateAttributeType
            )
            let request = NSFetchRequest<NSDictionary>(entityName: "Event")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = [sum, latest]
            let found = try #require(try store.context.fetch(request).first)
            #expect(found["done"] as? Int == 420 && found["latest"] as? Date == day)
        }
    }
}
