import CoreData
import CoreDataPostgreSQL
import Foundation
import PostgreSQLServer
import Testing

/// Saves of so many objects that the server gets them as arrays, some hundred a statement.
@Suite struct ManyRowsTests {
    private static let count = 700
    private static let types: [(name: String, type: NSAttributeType)] = [
        ("isDone", .booleanAttributeType), ("day", .dateAttributeType), ("key", .UUIDAttributeType),
        ("rating", .integer16AttributeType), ("pages", .integer32AttributeType), ("size", .integer64AttributeType),
        ("price", .decimalAttributeType), ("weight", .doubleAttributeType), ("lightness", .floatAttributeType),
        ("name", .stringAttributeType), ("data", .binaryDataAttributeType), ("link", .URIAttributeType),
    ]

    private static func makeModel() -> NSManagedObjectModel {
        let (event, guest) = (NSEntityDescription(), NSEntityDescription())
        (event.name, guest.name) = ("Event", "Guest")
        func relationship(_ name: String, to: NSEntityDescription, isOrdered: Bool) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            (relationship.name, relationship.isOptional, relationship.maxCount) = (name, true, 0)
            (relationship.destinationEntity, relationship.isOrdered) = (to, isOrdered)
            return relationship
        }
        let guests = relationship("guests", to: guest, isOrdered: true)
        let events = relationship("events", to: event, isOrdered: false)
        (guests.inverseRelationship, events.inverseRelationship) = (events, guests)
        event.properties =
            types.map { name, type in
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
                return attribute
            } + [guests]
        event.uniquenessConstraints = [["key"]]
        guest.properties = [events]
        let model = NSManagedObjectModel()
        model.entities = [event, guest]
        return model
    }

    private func open() throws -> NSPersistentStoreCoordinator? {
        PostgreSQLStore.register()
        guard let url = PostgreSQLServer.shared?.url(schema: Notes.newSchema("m")) else { return nil }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel())
        try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        return coordinator
    }

    private func on<R>(
        _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func key(_ index: Int) -> UUID {
        UUID(uuid: (7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(index / 256), UInt8(index % 256)))
    }

    /// Of two dozen rows each lacks another value, and half of them none.
    private func values(_ index: Int, _ step: Int) -> [String: Any] {
        let number = index * 31 + step
        var values: [String: Any] = [
            "isDone": NSNumber(value: number % 2), "day": Date(timeIntervalSinceReferenceDate: Double(number) + 0.125),
            "key": key(index), "rating": number % 300 - 150, "pages": number - 10_000, "size": number << 32,
            "price": NSDecimalNumber(string: "-\(number).1234567890123456789"), "weight": Double(number) / 3,
            "lightness": Float(number) / 4, "name": "Näme \(number) 'x', {NULL}",
            "data": Data(repeating: UInt8(number % 256), count: number % 50),
            "link": URL(fileURLWithPath: "/e/\(number)"),
        ]
        let place = index % (2 * Self.types.count)
        if place < Self.types.count, Self.types[place].name != "key" { values[Self.types[place].name] = nil }
        return values
    }

    private func text(_ value: Any?) -> String { value.map { "\($0)" } ?? "none" }

    private func check(_ coordinator: NSPersistentStoreCoordinator, _ step: Int) throws {
        try on(coordinator) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let found = Dictionary(
                try context.fetch(request).map { ($0.value(forKey: "key") as? UUID, $0) }, uniquingKeysWith: { $1 })
            #expect(found.count == Self.count)
            for index in 0..<Self.count {
                let event = try #require(found[key(index)])
                let expected = values(index, step)
                for (name, _) in Self.types {
                    #expect(text(event.value(forKey: name)) == text(expected[name]), "\(index), \(name)")
                }
            }
        }
    }

    private func count(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
        try on(coordinator) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Event")) }
    }

    private func fill(_ context: NSManagedObjectContext) -> [NSManagedObject] {
        (0..<Self.count).map { index in
            let event = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
            for (name, _) in Self.types { event.setValue(values(index, 0)[name], forKey: name) }
            return event
        }
    }

    @Test func everyValueComesBack() throws {
        guard let coordinator = try open() else { return }
        try on(coordinator) { context in
            let events = fill(context)
            try context.save()
            try check(coordinator, 0)
            for (index, event) in events.enumerated() {
                for (name, _) in Self.types { event.setValue(values(index, 1)[name], forKey: name) }
            }
            try context.save()
            try check(coordinator, 1)
            for event in events { event.setValue(nil, forKey: "weight") }
            try context.save()
        }
        try on(coordinator) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
            request.predicate = NSPredicate(format: "weight == nil")
            let count = try context.count(for: request)
            #expect(count == Self.count)
        }
    }

    @Test func aTextThatNoServerKeepsLeavesAllAsItWas() throws {
        guard let coordinator = try open() else { return }
        try on(coordinator) { context in
            let events = fill(context)
            events[600].setValue("a\0b", forKey: "name")
            #expect(throws: (any Error).self) { try context.save() }
            let there = try count(coordinator)
            #expect(there == 0)
            #expect(context.insertedObjects.count == Self.count)
            events[600].setValue(values(600, 0)["name"], forKey: "name")
            try context.save()
        }
        try check(coordinator, 0)
    }

    @Test func aConflictLeavesAllAsItWas() throws {
        guard let coordinator = try open() else { return }
        try on(coordinator) { context in
            let events = fill(context)
            try context.save()
            try on(coordinator) { other in
                let event = other.object(with: events[650].objectID)
                event.setValue("another's", forKey: "name")
                try other.save()
            }
            for (index, event) in events.enumerated() { event.setValue(values(index, 1)["size"], forKey: "size") }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSManagedObjectMergeError)
            #expect(context.updatedObjects.count == Self.count)
            try on(coordinator) { other in
                let sizes = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Event"))
                    .map { text($0.value(forKey: "size")) }
                #expect(Set(sizes) == Set((0..<Self.count).map { text(values($0, 0)["size"]) }))
            }
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            try context.save()
            try on(coordinator) { other in
                let event = other.object(with: events[650].objectID)
                #expect(event.value(forKey: "name") as? String == "another's")
                #expect(text(event.value(forKey: "size")) == text(values(650, 1)["size"]))
            }
        }
    }

    @Test func aUniqueValueThatIsTakenLeavesAllAsItWas() throws {
        guard let coordinator = try open() else { return }
        try on(coordinator) { context in
            let taken = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
            taken.setValue(key(555), forKey: "key")
            try context.save()
        }
        try on(coordinator) { context in
            _ = fill(context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSManagedObjectConstraintMergeError)
            let there = try count(coordinator)
            #expect(there == 1)
        }
    }

    @Test func manyLinksKeepTheirOrder() throws {
        guard let coordinator = try open() else { return }
        let event = try on(coordinator) { context in
            let event = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
            event.setValue(key(1), forKey: "key")
            let guests = (0..<Self.count).map { _ in
                NSEntityDescription.insertNewObject(forEntityName: "Guest", into: context)
            }
            event.setValue(NSOrderedSet(array: guests.reversed()), forKey: "guests")
            try context.save()
            // All places change; the pairs are there.
            event.setValue(NSOrderedSet(array: Array(guests[300...] + guests[..<300])), forKey: "guests")
            try context.save()
            return (event.objectID, guests.map(\.objectID))
        }
        try on(coordinator) { context in
            let found = context.object(with: event.0).mutableOrderedSetValue(forKey: "guests").array
            #expect(found.compactMap { ($0 as? NSManagedObject)?.objectID } == Array(event.1[300...] + event.1[..<300]))
        }
    }
}
