import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// Semantics O: what a server's history keeps of deleted objects, in columns that hold bytes only.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct TombstoneTests {
    private let values: [(String, NSAttributeType, NSObject)] = [
        ("int16", .integer16AttributeType, NSNumber(value: Int16.min)),
        ("int32", .integer32AttributeType, NSNumber(value: Int32.max)),
        ("int64", .integer64AttributeType, NSNumber(value: Int64.max)),
        ("double", .doubleAttributeType, NSNumber(value: 0.1)),
        ("float", .floatAttributeType, NSNumber(value: Float(1.5))),
        ("decimal", .decimalAttributeType, NSDecimalNumber(string: "12345678901234567890.12345")),
        ("text", .stringAttributeType, "Käse 'n' \u{1F9C0}" as NSString),
        ("done", .booleanAttributeType, NSNumber(value: true)),
        ("date", .dateAttributeType, Date(timeIntervalSinceReferenceDate: -978_307_200.25) as NSDate),
        ("key", .UUIDAttributeType, NSUUID()),
        ("link", .URIAttributeType, NSURL(fileURLWithPath: "/a folder/file")),
        ("bytes", .binaryDataAttributeType, Data([0, 255, 39]) as NSData),
    ]

    @Test(arguments: [false, true]) func everyTypeIsKept(isBatch: Bool) throws {
        let server = try PostgreSQLServer.shared
        let entity = NSEntityDescription()
        entity.name = "Thing"
        entity.properties = values.map { name, type, _ in
            let attribute = attribute(name, type)
            attribute.preservesValueInHistoryOnDeletion = true
            return attribute
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            type: .postgreSQL, at: server.url(schema: Notes.newSchema("t")),
            options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { () throws in
            let full = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            for (name, _, value) in values { full.setValue(value, forKey: name) }
            let empty = NSEntityDescription.insertNewObject(forEntityName: "Thing", into: context)
            try context.save()
            if isBatch {
                try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Thing")))
            } else {
                for thing in [full, empty] { context.delete(thing) }
                try context.save()
            }
            let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
            let result = try context.execute(request) as? NSPersistentHistoryResult
            let transactions = result?.result as? [NSPersistentHistoryTransaction]
            let changes = transactions?.last?.changes?.filter { $0.changeType == .delete } ?? []
            #expect(changes.count == 2)
            let kept = changes.compactMap(\.tombstone).max { $0.count < $1.count } ?? [:]
            for (name, _, value) in values {
                #expect((kept[name] as? NSObject)?.isEqual(value) == true, "\(name): \(kept[name] ?? "nothing")")
            }
        }
    }

    @Test func moreValuesThanAStatementTakesAreAnsweredInMemory() throws {
        let server = try PostgreSQLServer.shared
        let notes = try Notes(server.url(schema: Notes.newSchema("v")))
        let context = notes.newContext()
        try context.performAndWait { () throws in
            for index in 0..<3 { Notes.insert("\(index)", in: context).setValue(index, forKey: "count") }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
            request.predicate = NSCompoundPredicate(
                orPredicateWithSubpredicates: (1..<66_000).map { NSPredicate(format: "count == %d", $0) })
            #expect(try context.count(for: request) == 2)
            request.predicate = NSPredicate(format: "count IN %@", (1..<66_000).map { Double($0) } as NSArray)
            #expect(try context.count(for: request) == 2)
        }
    }
}
