import CoreData
import CoreDataModel
import CoreDataPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import StoreTestSupport
import TestSupport
import Testing

@testable import CoreDataPostgreSQLDriver

/// Stores on a server become stores of another model where they are, or stay what they were.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "\(PostgreSQLServer.missing)"))
struct MigrationTests {
    private static func newSchema() -> String { "m" + UUID().uuidString.filter { $0 != "-" }.lowercased() }

    private static func database(_ options: DatabaseOptions) throws -> any SQLDatabase {
        let database = try PostgreSQLDatabase(PostgreSQLOptions(options))
        if options.createsFile { try database.createSchema() }
        return database
    }

    private static func options(_ server: PostgreSQLServer, _ schema: String) -> DatabaseOptions {
        var options = DatabaseOptions(path: nil)
        options.server = server.url(schema: schema)
        return options
    }

    private static func migration(to document: ModelDocument) throws -> StoreMigration {
        try StoreMigration(
            to: document, model: ModelCompiler.compile(document), configuration: nil, encode: { _, _ in Data() },
            findSource: { _ in nil }, makeDatabase: database)
    }

    /// Random models, objects and edits; what becomes of them is what becomes of plain values, as for files.
    @Test func storesBecomeWhatTheReferenceBecomes() throws {
        let server = try PostgreSQLServer.shared
        let asked = ProcessInfo.processInfo.environment["COREDATA_MIGRATIONS"].flatMap { UInt64($0) }
        for seed in asked.map({ Array(1...max(1, $0)) }) ?? Trials.some(of: Trials.seeds(40), atLeast: 6) {
            var numbers = SeededNumbers(seed: seed)
            var design = ModelDesign(&numbers)
            let schema = Self.newSchema()
            var storeOptions = StoreOptions(path: nil)
            storeOptions.type = "PostgreSQL"
            storeOptions.database = Self.options(server, schema)
            let document = design.document
            storeOptions.document = { document }
            let engine = try StoreEngine.open(
                model: ModelCompiler.compile(document), options: storeOptions, makeDatabase: Self.database)
            try engine.database.write { connection in
                try design.write(
                    connection,
                    SchemaLayout.fresh(
                        model: engine.model, entities: engine.entities, naming: connection.dialect.naming))
            }
            defer {
                try? (engine.database as? PostgreSQLDatabase)?.dropSchema()
                engine.close()
            }
            for step in 1...2 {
                var next = design
                let edits = (0..<(1 + numbers.below(3))).map { _ in next.edit(&numbers) }
                next.settle(from: design)
                let name = "seed \(seed), step \(step): \(edits.joined(separator: ", "))"
                do {
                    try Self.migration(to: next.document).run(storeOptions.database)
                } catch let failure as MigrationFailure where failure.kind == .notInferrable {
                    continue
                } catch {
                    Issue.record("\(name): \(error)")
                    return
                }
                guard try isWhole(storeOptions, next, name) else { return }
                design = next
            }
        }
    }

    /// Whether the objects are those of the design, and the tables those of a fresh store.
    private func isWhole(_ options: StoreOptions, _ design: ModelDesign, _ name: String) throws -> Bool {
        let model = try ModelCompiler.compile(design.document)
        var fresh = options
        let server = try PostgreSQLServer.shared
        fresh.database = Self.options(server, Self.newSchema())
        let other = try StoreEngine.open(model: model, options: fresh, makeDatabase: Self.database)
        defer {
            try? (other.database as? PostgreSQLDatabase)?.dropSchema()
            other.close()
        }
        var existing = options
        existing.createsStore = false
        let engine = try StoreEngine.open(model: model, options: existing, makeDatabase: Self.database)
        defer { engine.close() }
        func parts(_ engine: StoreEngine) throws -> Set<[SQLValue]> {
            try engine.database.read { connection in
                let texts = try connection.rows(CatalogQuery.texts)
                    // The keys' own indexes are named by the server.
                    .filter { row in if case .text(let name) = row[1] { !name.contains("_pkey") } else { false } }
                    .map { Array($0[0...2]) }
                return Set(texts + (try connection.rows(CatalogQuery.columns)))
            }
        }
        let (have, want) = (try parts(engine), try parts(other))
        #expect(have == want, "\(name): \(have.symmetricDifference(want))")
        let actual = try engine.database.read { connection in
            try ModelDesign.views(
                connection,
                SchemaLayout.existing(model: model, entities: Array(model.entities.indices), connection: connection))
        }
        let expected = design.views
        for key in Set(actual.keys).union(expected.keys).sorted() where actual[key] != expected[key] {
            Issue.record(
                "\(name): object \(key) is \(actual[key].map { "\($0)" } ?? "gone"), not \(expected[key].map { "\($0)" } ?? "gone")"
            )
            return false
        }
        return have == want
    }

    // MARK: As programs have them

    private static func attribute(
        _ name: String, _ type: NSAttributeType, _ value: Any? = nil, was: String? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, value == nil)
        attribute.defaultValue = value
        attribute.renamingIdentifier = was
        return attribute
    }

    private static func model(_ version: Int, isUnique: Bool = false) -> NSManagedObjectModel {
        let item = NSEntityDescription()
        item.name = "Item"
        item.properties = [
            attribute(version == 1 ? "name" : "title", .stringAttributeType, was: version == 1 ? nil : "name"),
            attribute("count", .integer64AttributeType),
        ]
        if version == 1 {
            item.properties.append(attribute("old", .stringAttributeType))
        } else {
            item.properties += [
                attribute("isDone", .booleanAttributeType, true), attribute("rating", .integer16AttributeType, 3),
                attribute("day", .dateAttributeType, Date(timeIntervalSinceReferenceDate: 0.25)),
                attribute(
                    "key", .UUIDAttributeType, UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
                attribute("price", .decimalAttributeType, NSDecimalNumber(string: "1234567890123456789.5")),
                attribute("data", .binaryDataAttributeType, Data([1, 2])),
                attribute("note", .stringAttributeType, "it's"),
            ]
        }
        if version == 2 {
            let upper = NSDerivedAttributeDescription()
            (upper.name, upper.attributeType, upper.isOptional) = ("upper", .stringAttributeType, true)
            upper.derivationExpression = NSExpression(format: "uppercase:(title)")
            item.properties.append(upper)
        }
        if isUnique { item.uniquenessConstraints = [["count"]] }
        let model = NSManagedObjectModel()
        model.entities = [item]
        return model
    }

    private static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    private func newURL() throws -> URL {
        PostgreSQLStore.register()
        return try PostgreSQLServer.shared.url(schema: Self.newSchema())
    }

    private func open(
        _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil
    ) throws
        -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .postgreSQL, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func fill(_ url: URL, _ names: [String]) throws {
        let context = try open(url, Self.model(1))
        try context.performAndWait {
            for name in names {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue(name, forKey: "name")
                item.setValue(7, forKey: "count")
            }
            try context.save()
        }
    }

    private func items(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item"))
    }

    @Test func aContainerMigratesItsStore() throws {
        let url = try newURL()
        try fill(url, ["a", "b"])
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { other.close() }
        try other.execute(#"ALTER TABLE "Item" ADD COLUMN theirs INTEGER DEFAULT 5"#)
        #expect(throws: CocoaError.self) { try open(url, Self.model(2)) }
        let container = NSPersistentContainer(name: "Shop", managedObjectModel: Self.model(2))
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        container.loadPersistentStores { _, error in #expect(error == nil) }
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let found = try items(context)
            #expect(Set(found.compactMap { $0.value(forKey: "title") as? String }) == ["a", "b"])
            for item in found {
                #expect(item.value(forKey: "count") as? Int == 7 && item.value(forKey: "isDone") as? Bool == true)
                #expect(item.value(forKey: "rating") as? Int == 3 && item.value(forKey: "note") as? String == "it's")
                #expect(item.value(forKey: "day") as? Date == Date(timeIntervalSinceReferenceDate: 0.25))
                #expect((item.value(forKey: "key") as? UUID)?.uuidString == "01020304-0506-0708-090A-0B0C0D0E0F10")
                #expect(
                    item.value(forKey: "price") as? NSDecimalNumber == NSDecimalNumber(string: "1234567890123456789.5"))
                #expect(item.value(forKey: "data") as? Data == Data([1, 2]))
                let title = item.value(forKey: "title") as? String
                #expect(item.value(forKey: "upper") as? String == title?.uppercased())
            }
            _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            try context.save()
        }
        // The table was altered: what somebody else added is still there.
        #expect(try other.rows(#"SELECT theirs FROM "Item""#).count == 3)
        #expect(throws: CocoaError.self) { try open(url, Self.model(1)) }
    }

    @Test func whoeverStartsFirstMigratesAndTheOthersWait() throws {
        let url = try newURL()
        try fill(url, (0..<200).map { "\($0)" })
        let counts = (0..<6).map { _ in Atomic() }
        DispatchQueue.concurrentPerform(iterations: counts.count) { index in
            do {
                let context = try open(url, Self.model(2), Self.automatic)
                try context.performAndWait { counts[index].value = try items(context).count }
            } catch { Issue.record(error) }
        }
        #expect(counts.map(\.value) == Array(repeating: 200, count: counts.count))
    }

    private final class Atomic: @unchecked Sendable {
        // Safe because each is one thread's.
        var value = 0
    }

    @Test func whatFailsLeavesTheStoreAsItWas() throws {
        let url = try newURL()
        try fill(url, ["a", "b"])
        let error = #expect(throws: CocoaError.self) { try open(url, Self.model(2, isUnique: true), Self.automatic) }
        #expect(error?.code.rawValue == NSMigrationConstraintViolationError)
        // A view of somebody else's that needs a column which is to go.
        let other = try PostgreSQLConnection(PostgreSQLOptions(PostgreSQLAddress(url)))
        defer { other.close() }
        try other.execute(#"CREATE VIEW theirs AS SELECT old FROM "Item""#)
        let refused = #expect(throws: CocoaError.self) { try open(url, Self.model(2), Self.automatic) }
        #expect(refused?.localizedDescription.contains("depend") == true)
        let context = try open(url, Self.model(1))
        try context.performAndWait {
            let names = try items(context).compactMap { $0.value(forKey: "name") as? String }
            #expect(Set(names) == ["a", "b"])
        }
        try other.execute("DROP VIEW theirs")
        _ = try open(url, Self.model(2), Self.automatic)
    }

    @Test func whoHasTheStoreOpenIsToldThatItIsAnotherOne() throws {
        let url = try newURL()
        try fill(url, ["a"])
        let old = try open(url, Self.model(1))
        let held = try old.performAndWait { try items(old) }
        _ = try open(url, Self.model(2), Self.automatic)
        try old.performAndWait {
            try #require(held.first).setValue("b", forKey: "name")
            let error = #expect(throws: CocoaError.self) { try old.save() }
            #expect(error?.code.rawValue == NSPersistentStoreIncompatibleVersionHashError)
        }
    }
}
