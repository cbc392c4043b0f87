import CoreDataPostgreSQL
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreData

/// Saves of so many objects that the server gets them as arrays, some hundred a statement, or by a copy.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ManyRowsTests {
    /// How the rows of new objects travel.
    enum Form: String, CaseIterable {
        case arrays, copy
        /// As many as are copied, on their way to where nothing is.
        case pooledCopy, manyArrays

        /// The forms that are tried: `arrays` and, in the short form, one of the others, another one every day.
        static let tried = [Form.arrays] + Trials.some(of: [Form.copy, .pooledCopy, .manyArrays])

        var count: Int { self == .arrays ? 700 : 4_200 }
        var isCopy: Bool { self == .copy || self == .pooledCopy }

        var mode: String {
            switch self {
            case .arrays, .copy: ""
            case .pooledCopy: "&pooler=transaction"
            case .manyArrays: "&engine=cockroachdb"
            }
        }

        /// Decimals are not copied.
        var types: [(name: String, type: NSAttributeType)] {
            ManyRowsTests.types.filter { !isCopy || $0.name != "price" }
        }
    }

    private static let types: [(name: String, type: NSAttributeType)] = [
        ("isDone", .booleanAttributeType), ("day", .dateAttributeType), ("key", .UUIDAttributeType),
        ("rating", .integer16AttributeType), ("pages", .integer32AttributeType), ("size", .integer64AttributeType),
        ("price", .decimalAttributeType), ("weight", .doubleAttributeType), ("lightness", .floatAttributeType),
        ("name", .stringAttributeType), ("data", .binaryDataAttributeType), ("link", .URIAttributeType),
    ]

    private static func makeModel(_ form: Form) -> NSManagedObjectModel {
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
            form.types.map { name, type in
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

    private func open(_ form: Form) throws -> (NSPersistentStoreCoordinator, SQLRecorder) {
        PostgreSQLStore.register()
        let url = try PostgreSQLServer.shared.url(schema: Notes.newSchema("m"), form.mode)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.makeModel(form))
        let store = try coordinator.addPersistentStore(type: .postgreSQL, at: url)
        let recorder = SQLRecorder()
        try #require(coordinator.attachedStore(of: store)?.source as? StoreEngine).database.addObserver(recorder)
        return (coordinator, recorder)
    }

    /// Whether events were copied.
    private func copies(_ recorder: SQLRecorder) -> Bool {
        recorder.statements.contains {
            $0.hasPrefix("COPY \"Event\" (") && $0.hasSuffix(") FROM STDIN (FORMAT binary)")
        }
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

    private func check(_ form: Form, _ coordinator: NSPersistentStoreCoordinator, _ step: Int) throws {
        try on(coordinator) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
            request.sortDescriptors = [NSSortDescriptor(key: "pages", ascending: true)]
            let found = Dictionary(
                try context.fetch(request).map { ($0.value(forKey: "key") as? UUID, $0) }, uniquingKeysWith: { $1 })
            #expect(found.count == form.count)
            for index in 0..<form.count {
                let event = try #require(found[key(index)])
                let expected = values(index, step)
                for (name, _) in form.types {
                    #expect(text(event.value(forKey: name)) == text(expected[name]), "\(index), \(name)")
                }
            }
        }
    }

    private func count(_ coordinator: NSPersistentStoreCoordinator) throws -> Int {
        try on(coordinator) { try $0.count(for: NSFetchRequest<NSManagedObject>(entityName: "Event")) }
    }

    private func fill(_ form: Form, _ context: NSManagedObjectContext) -> [NSManagedObject] {
        (0..<form.count).map { index in
            let event = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
            let values = values(index, 0)
            for (name, _) in form.types { event.setValue(values[name], forKey: name) }
            return event
        }
    }

    @Test(arguments: Form.tried)
    func everyValueComesBack(form: Form) throws {
        let (coordinator, recorder) = try open(form)
        try on(coordinator) { context in
            let events = fill(form, context)
            try context.save()
            #expect(copies(recorder) == form.isCopy, "\(recorder.statements)")
            try check(form, coordinator, 0)
            for (index, event) in events.enumerated() {
                let values = values(index, 1)
                for (name, _) in form.types { event.setValue(values[name], forKey: name) }
            }
            try context.save()
            try check(form, coordinator, 1)
            for event in events { event.setValue(nil, forKey: "weight") }
            try context.save()
        }
        try on(coordinator) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Event")
            request.predicate = NSPredicate(format: "weight == nil")
            let count = try context.count(for: request)
            #expect(count == form.count)
        }
    }

    @Test(arguments: Form.tried)
    func aTextThatNoServerKeepsLeavesAllAsItWas(form: Form) throws {
        let (coordinator, _) = try open(form)
        try on(coordinator) { context in
            let events = fill(form, context)
            events[600].setValue("a\0b", forKey: "name")
            #expect(throws: CocoaError.self) { try context.save() }
            let there = try count(coordinator)
            #expect(there == 0)
            #expect(context.insertedObjects.count == form.count)
            events[600].setValue(values(600, 0)["name"], forKey: "name")
            try context.save()
        }
        try check(form, coordinator, 0)
    }

    @Test(arguments: Form.tried)
    func aConflictLeavesAllAsItWas(form: Form) throws {
        let (coordinator, _) = try open(form)
        try on(coordinator) { context in
            let events = fill(form, context)
            try context.save()
            try on(coordinator) { other in
                let event = other.object(with: events[650].objectID)
                event.setValue("another's", forKey: "name")
                try other.save()
            }
            for (index, event) in events.enumerated() { event.setValue(values(index, 1)["size"], forKey: "size") }
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSManagedObjectMergeError)
            #expect(context.updatedObjects.count == form.count)
            try on(coordinator) { other in
                let sizes = try other.fetch(NSFetchRequest<NSManagedObject>(entityName: "Event"))
                    .map { text($0.value(forKey: "size")) }
                #expect(Set(sizes) == Set((0..<form.count).map { text(values($0, 0)["size"]) }))
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

    @Test(arguments: Form.tried)
    func aUniqueValueThatIsTakenLeavesAllAsItWas(form: Form) throws {
        let (coordinator, _) = try open(form)
        try on(coordinator) { context in
            let taken = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
            taken.setValue(key(555), forKey: "key")
            try context.save()
        }
        try on(coordinator) { context in
            _ = fill(form, context)
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == NSManagedObjectConstraintMergeError)
            let there = try count(coordinator)
            #expect(there == 1)
        }
    }

    @Test(arguments: Form.tried)
    func manyLinksKeepTheirOrder(form: Form) throws {
        let (coordinator, _) = try open(form)
        let event = try on(coordinator) { context in
            let event = NSEntityDescription.insertNewObject(forEntityName: "Event", into: context)
            event.setValue(key(1), forKey: "key")
            let guests = (0..<form.count).map { _ in
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
