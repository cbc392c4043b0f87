import CoreDataPostgreSQL
import CoreDataSQL
import Foundation
import PostgreSQLServer
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataPostgreSQLDriver

/// Who has a store open while another program migrates it reads what was there, or is told (134100); never the new rows by the old model.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct ReadersOfMigrationsTests {
    /// What becomes of a model: in each the numbers or the columns of entities mean something else afterwards.
    enum Change: String, CaseIterable, Sendable {
        /// Cats go, and dogs get their number.
        case noCats
        /// The names of persons and of their notes change places, each in a table that is written anew.
        case swapped
    }

    private static func makeModel(_ change: Change?) -> NSManagedObjectModel {
        func text(_ name: String, was former: String? = nil) -> NSAttributeDescription {
            let text = attribute(name, .stringAttributeType)
            text.isOptional = true
            text.renamingIdentifier = former
            return text
        }
        let (animal, cat, dog) = (NSEntityDescription(), NSEntityDescription(), NSEntityDescription())
        (animal.name, cat.name, dog.name) = ("Animal", "Cat", "Dog")
        animal.properties = [text("name")]
        if change == .noCats { animal.properties.append(text("age")) }
        animal.subentities = change == .noCats ? [dog] : [cat, dog]
        let (person, note) = (NSEntityDescription(), NSEntityDescription())
        (person.name, note.name) = ("Person", "Note")
        let (notes, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (notes.name, notes.destinationEntity, notes.maxCount, notes.isOptional) = ("notes", note, 0, true)
        (owner.name, owner.destinationEntity, owner.maxCount, owner.isOptional) = ("owner", person, 1, true)
        (notes.inverseRelationship, owner.inverseRelationship) = (owner, notes)
        person.properties = [text("name"), notes]
        note.properties =
            change == .swapped
            ? [text("first", was: "last"), text("last", was: "first"), text("more"), owner]
            : [text("first"), text("last"), owner]
        let model = NSManagedObjectModel()
        model.entities = [animal, dog, person, note] + (change == .noCats ? [] : [cat])
        return model
    }

    private static func open(_ model: NSManagedObjectModel, _ url: URL) throws -> NSManagedObjectContext {
        PostgreSQLStore.register()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            type: .postgreSQL, at: url,
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// What a program may ask; each in words, of a context that has read nothing.
    private static let questions: [(String, @Sendable (NSManagedObjectContext, NSManagedObjectID) throws -> [String])] =
        [
            (
                "count of cats",
                { context, _ in ["\(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Cat")))"] }
            ),
            ("cats", { context, _ in try names(context, "Cat", "name") }),
            ("animals", { context, _ in try names(context, "Animal", "name") }),
            (
                "cats in portions",
                { context, _ in
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Cat")
                    request.fetchBatchSize = 3
                    return try context.fetch(request).map { $0.value(forKey: "name") as? String ?? "-" }.sorted()
                }
            ),
            (
                "IDs",
                { context, _ in
                    let request = NSFetchRequest<NSManagedObjectID>(entityName: "Animal")
                    request.resultType = .managedObjectIDResultType
                    return try context.fetch(request).map { $0.entity.name ?? "" }.sorted()
                }
            ),
            (
                "dictionaries",
                { context, _ in
                    let request = NSFetchRequest<NSDictionary>(entityName: "Note")
                    request.resultType = .dictionaryResultType
                    return try context.fetch(request).map { $0["first"] as? String ?? "-" }.sorted()
                }
            ),
            ("notes", { context, _ in try names(context, "Note", "first") }),
            (
                "notes of a person",
                { context, person in
                    let person = try context.existingObject(with: person)
                    let notes = person.value(forKey: "notes") as? Set<NSManagedObject> ?? []
                    return notes.map { $0.value(forKey: "first") as? String ?? "-" }.sorted()
                }
            ),
            (
                "notes with their persons",
                { context, _ in
                    let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                    request.relationshipKeyPathsForPrefetching = ["notes"]
                    return try context.fetch(request).map { "\(($0.value(forKey: "notes") as? NSSet)?.count ?? -1)" }
                }
            ),
        ]

    private static func names(_ context: NSManagedObjectContext, _ entity: String, _ key: String) throws -> [String] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity)).map {
            "\($0.entity.name ?? "") \($0.value(forKey: key) as? String ?? "-")"
        }.sorted()
    }

    private static func fill(_ context: NSManagedObjectContext) throws -> NSManagedObjectID {
        try context.performAndWait {
            for (entity, count) in [("Cat", 4), ("Dog", 7)] {
                for index in 0..<count {
                    NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                        .setValue("\(entity) \(index)", forKey: "name")
                }
            }
            let person = NSEntityDescription.insertNewObject(forEntityName: "Person", into: context)
            for index in 0..<5 {
                let note = NSEntityDescription.insertNewObject(forEntityName: "Note", into: context)
                note.setValue("F\(index)", forKey: "first")
                note.setValue("L\(index)", forKey: "last")
                note.setValue(person, forKey: "owner")
            }
            try context.save()
            return person.objectID
        }
    }

    /// Each change in each mode; in the short form three of these pairs.
    private static let trials = Trials.some(
        of: Change.allCases.flatMap { change in
            ["", "&pooler=transaction", "without its function"].map { (change, $0) }
        }, atLeast: 3)

    /// Somebody reads the tables, so that the migration waits for him, and the reader for the migration.
    @Test(arguments: trials)
    func aReaderThatWaitsForAMigration(_ change: Change, _ mode: String) throws {
        let server = try PostgreSQLServer.shared
        for (name, ask) in Trials.some(of: Self.questions) {
            let schema = Notes.newSchema("g")
            let url = server.url(schema: schema, mode.hasPrefix("&") ? mode : "")
            let old = try Self.open(Self.makeModel(nil), url)
            let person = try Self.fill(old)
            let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: schema))))
            defer { other.close() }
            if mode == "without its function" { try other.execute("DROP FUNCTION \"_schema_number\"()") }
            func fresh() -> NSManagedObjectContext {
                let context = NSManagedObjectContext(.privateQueue)
                context.persistentStoreCoordinator = old.persistentStoreCoordinator
                return context
            }
            let expected = try fresh().asking { try ask($0, person) }
            // The store's row cache would answer for the server.
            old.performAndWait { old.reset() }
            try other.execute("BEGIN")
            for table in ["Animal", "Note", "Person"] { try other.execute("SELECT 1 FROM \"\(table)\" LIMIT 1") }
            let group = DispatchGroup()
            var waiting: Int64 { get throws { try Self.waiting(schema, server) } }
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                #expect(throws: Never.self) { _ = try Self.open(Self.makeModel(change), url) }
            }
            try Polling.wait(for: "the migration to wait for the reader") { try waiting >= 1 }
            let context = fresh()
            group.enter()
            Thread.detachNewThread {
                defer { group.leave() }
                do {
                    let found = try context.asking { try ask($0, person) }
                    // A fault cannot throw: why it has nothing is in the log.
                    if name == "notes of a person", found.isEmpty { return }
                    #expect(found == expected, "\(name), \(change.rawValue), \(mode)")
                } catch let error as CocoaError {
                    #expect(
                        error.code.rawValue == NSPersistentStoreIncompatibleVersionHashError,
                        "\(name), \(change.rawValue), \(mode): \(error) \(error.userInfo)")
                } catch { Issue.record("\(name), \(change.rawValue), \(mode): \(error)") }
            }
            // Not every reader waits, and nothing tells of one that does not.
            _ = try Polling.holds(within: 0.2, every: 0.005) { try waiting >= 2 }
            try other.execute("COMMIT")
            group.wait()
            // Afterwards nobody is told anything else.
            let error = #expect(throws: CocoaError.self) { try fresh().asking { try ask($0, person) } }
            #expect(
                error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError,
                "\(name): \(String(describing: error))")
        }
    }

    /// A table that was written anew would look empty to a state from before.
    @Test func aQueryGenerationOfAMigratedStoreIsRefused() throws {
        let server = try PostgreSQLServer.shared
        let url = server.url(schema: Notes.newSchema("g"))
        let old = try Self.open(Self.makeModel(nil), url)
        _ = try Self.fill(old)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = old.persistentStoreCoordinator
        try context.performAndWait {
            try context.setQueryGenerationFrom(.current)
            // The notes are not read, so that nothing keeps the migration from them.
            #expect(try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Animal")) == 11)
        }
        _ = try Self.open(Self.makeModel(.swapped), url)
        context.performAndWait {
            let error = #expect(throws: CocoaError.self) { try Self.names(context, "Note", "first") }
            #expect(error?.code.rawValue == NSPersistentStoreOperationError, "\(String(describing: error))")
        }
    }

    private static func waiting(_ schema: String, _ server: PostgreSQLServer) throws -> Int64 {
        let database = try PostgreSQLDatabase(PostgreSQLOptions(PostgreSQLAddress(server.url(schema: schema))))
        defer { database.close() }
        let text = """
            SELECT COUNT(*) FROM pg_locks AS l JOIN pg_class AS c ON c.oid = l.relation \
            WHERE NOT l.granted AND c.relnamespace = current_schema()::regnamespace
            """
        guard case .integer(let count)? = try database.ask(text) else { return 0 }
        return count
    }
}

extension NSManagedObjectContext {
    fileprivate func asking<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        try performAndWait { try body(self) }
    }
}
