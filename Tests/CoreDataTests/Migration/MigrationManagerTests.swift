import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Statements T6 to T9: object by object.
@Suite struct MigrationManagerTests {
    private static func model(_ entities: [EntityElement]) throws -> NSManagedObjectModel {
        var document = ModelDocument()
        document.entities = entities
        return try NSManagedObjectModel(document: document)
    }

    private let old: NSManagedObjectModel
    private let new: NSManagedObjectModel

    init() throws {
        old = try Self.model([
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
            entity(
                "Book", attribute("title"), attribute("pages", .integer32), toOne("author", "Author", inverse: "books")),
            entity("Comic", parent: "Book", attribute("artist")),
        ])
        new = try Self.model([
            entity("Author", attribute("name"), toMany("books", "Book", inverse: "author", ordered: true)),
            entity(
                "Book", attribute("name").with { $0.renamingIdentifier = "title" }, attribute("pages", .integer32),
                attribute("isLong", .boolean, default: "NO"), toOne("author", "Author", inverse: "books")),
            entity("Comic", parent: "Book", attribute("artist")),
        ])
    }

    private func makeStore() throws -> URL {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Old.sqlite")
        try inContext(url, old, adds: true) { context in
            func make(_ name: String, _ values: [String: Any]) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: name, into: context)
                for (key, value) in values { object.setValue(value, forKey: key) }
                return object
            }
            let ann = make("Author", ["name": "Ann"])
            _ = make("Book", ["title": "One", "pages": 100, "author": ann])
            _ = make("Comic", ["title": "Two", "pages": 900, "author": ann, "artist": "Bob"])
            _ = make("Book", ["title": "Three"])
            try context.save()
        }
        return url
    }

    private func inContext<R>(
        _ url: URL, _ model: NSManagedObjectModel, adds: Bool = false, _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    /// A line for each book, and the authors' books.
    private func contents(_ url: URL) throws -> [String] {
        try inContext(url, new) { context in
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map { book in
                let author = book.value(forKey: "author") as? NSManagedObject
                let artist = book.entity.name == "Comic" ? book.value(forKey: "artist") as? String ?? "?" : "-"
                return
                    "\(book.entity.name ?? "") \(book.value(forKey: "name") as? String ?? "?") \(book.value(forKey: "pages") as? Int ?? -1) \(book.value(forKey: "isLong") as? Bool == true) \(author?.value(forKey: "name") as? String ?? "-") \(artist)"
            }
        }
    }

    private func migrate(
        _ mapping: NSMappingModel, fast: Bool = false, _ change: (NSMigrationManager) -> Void = { _ in }
    ) throws -> URL {
        let source = try makeStore()
        let destination = source.deletingLastPathComponent().appendingPathComponent("New.sqlite")
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = fast
        change(manager)
        do {
            try manager.migrateStore(from: source, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        } catch {
            #expect(!FileManager.default.fileExists(atPath: destination.path))
            throw error
        }
        #expect(manager.migrationProgress == 1)
        #expect(try NSPersistentStoreCoordinator.verifyPersistentStore(at: destination, model: new).findings.isEmpty)
        return destination
    }

    @Test("T6, T7: objects and the database's own way come to the same", arguments: [true, false])
    func inferredMappingsMigrate(fast: Bool) throws {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let url = try migrate(mapping, fast: fast)
        #expect(
            try contents(url) == [
                "Book One 100 false Ann -", "Book Three -1 false - -", "Comic Two 900 false Ann Bob",
            ])
    }

    @Test("T7: an inferred mapping that was changed is gone through object by object")
    func changedMappingsCount() throws {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        mapping.entityMappings[0].entityMigrationPolicyClassName = "NoSuchPolicy"
        let error = try #require(throws: CocoaError.self) { _ = try migrate(mapping, fast: true) }
        #expect(error.errorCode == NSEntityMigrationPolicyError)
        #expect(error.localizedDescription.contains("NoSuchPolicy"))
    }

    @Test("the store has to be of the older model, whichever way it is migrated", arguments: [true, false])
    func theSourceIsOfTheOlderModel(fast: Bool) throws {
        let other = try Self.model([entity("Author", attribute("name"), attribute("born", .date))])
        let url = try makeStore()
        let manager = NSMigrationManager(sourceModel: other, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = fast
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: other, destinationModel: new)
        let destination = url.deletingLastPathComponent().appendingPathComponent("New.sqlite")
        let error = try #require(throws: CocoaError.self) {
            try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        }
        #expect(error.errorCode == NSMigrationManagerSourceStoreError)
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }

    @Test("134160: a destination that cannot be made is told by its own name", arguments: [true, false])
    func destinationsThatCannotBeMade(fast: Bool) throws {
        let url = try makeStore()
        let manager = NSMigrationManager(sourceModel: old, destinationModel: new)
        manager.usesStoreSpecificMigrationManager = fast
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        // Below a file there is no folder, not even for root.
        let file = url.deletingLastPathComponent().appendingPathComponent("none")
        try Data().write(to: file)
        for name in ["New.sqlite", "more/New.sqlite"] {
            let destination = file.appendingPathComponent(name)
            let error = try #require(throws: CocoaError.self) {
                try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
            }
            #expect(error.errorCode == NSMigrationManagerDestinationStoreError)
            #expect(error.localizedDescription.contains("none/\(name)"))
            #expect(!error.localizedDescription.contains(".migrating-"))
        }
        let destination = url.deletingLastPathComponent().appendingPathComponent("deep/down/New.sqlite")
        try manager.migrateStore(from: url, type: .sqlite, mapping: mapping, to: destination, type: .sqlite)
        #expect(FileManager.default.fileExists(atPath: destination.path))
    }

    @Test("134120: a lightweight migration whose watcher throws is cancelled, and the store is as it was")
    func cancelledLightweightMigrations() throws {
        struct Enough: Error {}
        let url = try makeStore()
        var migration = LightweightMigration(to: new, configuration: nil)
        migration.progress = { if $0 > 0.3 { throw Enough() } }
        let error = try #require(throws: CocoaError.self) { try migration.run(at: url, options: nil) }
        #expect(error.errorCode == NSMigrationCancelledError)
        #expect(error.userInfo[NSUnderlyingErrorKey] is Enough)
        try inContext(url, old) { _ in }
    }

    @Test func mappingsOfUnknownEntitiesAndValuesOfOtherTypesAreErrors() throws {
        let unknown = mapping()
        unknown.entityMappings[0].destinationEntityName = "Nope"
        let error = try #require(throws: CocoaError.self) { _ = try migrate(unknown) }
        #expect(error.errorCode == NSMigrationError)
        #expect(error.localizedDescription.contains("Nope"))
        let wrong = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        let books = try #require(wrong.entityMappings.first { $0.destinationEntityName == "Book" })
        let name = try #require(books.attributeMappings?.first { $0.name == "name" })
        for value in [3, CGFloat(3), Date(timeIntervalSinceReferenceDate: 3)] as [Any] {
            name.valueExpression = CoreData.NSExpression(forConstantValue: value)
            let refusal = try #require(throws: CocoaError.self) { _ = try migrate(wrong) }
            #expect(refusal.errorCode == NSEntityMigrationPolicyError)
            #expect(refusal.localizedDescription.contains("'name' of 'Book'"))
        }
    }

    private func mapping(policy: String? = nil) -> NSMappingModel {
        func property(_ name: String, _ expression: String) -> NSPropertyMapping {
            let mapping = NSPropertyMapping()
            mapping.name = name
            mapping.valueExpression = CoreData.NSExpression(format: expression)
            return mapping
        }
        func entity(
            _ name: String, _ attributes: [NSPropertyMapping], _ relationships: [NSPropertyMapping]
        ) -> NSEntityMapping {
            let mapping = NSEntityMapping()
            mapping.name = "\(name)To\(name)"
            mapping.sourceEntityName = name
            mapping.destinationEntityName = name
            mapping.mappingType = .transformEntityMappingType
            mapping.attributeMappings = attributes
            mapping.relationshipMappings = relationships
            return mapping
        }
        let author = property(
            "author",
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"AuthorToAuthor\", $source.author)"
        )
        let model = NSMappingModel()
        let book = entity(
            "Book",
            [
                property("name", "$source.title"), property("pages", "$source.pages"),
                property(
                    "isLong",
                    policy == nil
                        ? "TERNARY($source.pages > 500, YES, NO)"
                        : "FUNCTION($entityPolicy, \"isLong:\", $source.pages)"),
            ],
            [author])
        book.entityMigrationPolicyClassName = policy
        model.entityMappings = [entity("Author", [property("name", "$source.name")], []), book]
        return model
    }

    @Test(
        "T6: a policy is found by its name, and expressions call its functions",
        arguments: ["LongBookPolicy", "CoreDataTests.LongBookPolicy"])
    func policiesAreCalled(name: String) throws {
        let url = try migrate(mapping(policy: name))
        // Comics have no mapping: they are left behind.
        #expect(try contents(url) == ["Book One 100 true Ann -", "Book THREE -1 false - -"])
    }

    @Test(
        "T2, T9: a mapping model in a bundle is found by hashes, and the store keeps its UUID and metadata",
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func mappingModelsInBundlesAreFound() throws {
        let folder = try Fixtures.temporaryFolder()
        for name in ["Model2toModel3", "Model3toModel4"] {
            try FileManager.default.copyItem(
                at: Fixtures.url("grocery-dude/\(name).xcmappingmodel"),
                to: folder.appendingPathComponent("\(name).xcmappingmodel"))
        }
        let bundle = try #require(Bundle(url: folder))
        let file = Fixtures.url("grocery-dude/Model.xcdatamodeld")
        let models = try (2...4).map { try NSManagedObjectModel.load(contentsOf: file, version: "Model \($0)") }
        #expect(NSMappingModel(from: [bundle], forSourceModel: models[0], destinationModel: models[2]) == nil)
        let url = folder.appendingPathComponent("Store.sqlite")
        try inContext(url, models[0]) { context in
            let object = NSEntityDescription.insertNewObject(forEntityName: "Measurement", into: context)
            object.setValue("7 g", forKey: "abc")
            let coordinator = try #require(context.persistentStoreCoordinator)
            coordinator.setMetadata(["Mine": "kept"], for: coordinator.persistentStores[0])
            try context.save()
        }
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        let migration = try #require(MappedMigration(ofStoreAt: url, to: models[1], bundles: [bundle]))
        try migration.run(at: url, options: nil)
        let values = try inContext(url, models[1]) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Amount")).map {
                $0.value(forKey: "xyz") as? String
            }
        }
        #expect(values == ["7 g"])
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
        #expect(after["Mine"] as? String == "kept")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("migrating") } == [])
    }

    @Test(
        "T6: expressions ask for the mapping that they are in",
        arguments: [
            ("$entityMapping.name", "BookToBook"), ("$entityMapping.sourceEntityName", "Book"),
            ("uppercase($entityMapping.destinationEntityName)", "BOOK"), ("$propertyMapping.name", "name"),
            ("$manager.userInfo.prefix", "mine"), ("$entityMapping.userInfo.suffix", "theirs"),
        ])
    func mappingsInExpressions(expression: String, expected: String) throws {
        let mapping = mapping(policy: nil)
        let book = try #require(mapping.entityMappingsByName["BookToBook"])
        book.userInfo = ["suffix": "theirs"]
        book.attributeMappings?.first { $0.name == "name" }?.valueExpression = CoreData.NSExpression(format: expression)
        let url = try migrate(mapping) { $0.userInfo = ["prefix": "mine"] }
        let titles = try contents(url).filter { $0.hasPrefix("Book ") }
        #expect(!titles.isEmpty && titles.allSatisfy { $0.hasPrefix("Book \(expected) ") }, "\(titles)")
    }

    @Test("134170: what a mapping has no key for is told with what there is")
    func unknownKeysOfMappings() throws {
        let mapping = mapping(policy: nil)
        mapping.entityMappingsByName["BookToBook"]?.attributeMappings?.first { $0.name == "name" }?.valueExpression =
            CoreData.NSExpression(format: "$entityMapping.nmae")
        let error = try #require(throws: CocoaError.self) { _ = try migrate(mapping) }
        #expect(error.errorCode == NSEntityMigrationPolicyError)
        #expect(
            error.localizedDescription.contains("'nmae'") && error.localizedDescription.contains("sourceEntityName"))
    }

    @Test func unknownPoliciesAreErrors() throws {
        let error = try #require(throws: CocoaError.self) { _ = try migrate(mapping(policy: "NoSuchPolicy")) }
        #expect(error.code == .entityMigrationPolicy)
        #expect(error.localizedDescription.contains("NoSuchPolicy"))
    }

    @Test("T6: a cancelled migration throws what it was given, and leaves nothing", arguments: [true, false])
    func cancellation(fast: Bool) throws {
        struct Enough: Error {}
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: old, destinationModel: new)
        #expect(throws: Enough.self) {
            _ = try migrate(mapping, fast: fast) { manager in
                // Forgotten when a migration begins, so that it is cancelled from within.
                manager.progressListener = { if $0 > 0.1 { manager.cancelMigrationWithError(Enough()) } }
            }
        }
    }
}

/// Calls a book of more than 50 pages long, and shouts the titles of those without author.
final class LongBookPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        guard sInstance.value(forKey: "author") == nil else { return }
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
        for book in made { book.setValue((book.value(forKey: "name") as? String)?.uppercased(), forKey: "name") }
    }

    override func value(ofFunction name: String, arguments: [Any?]) throws -> Any? {
        guard name == "isLong:" else { return try super.value(ofFunction: name, arguments: arguments) }
        return (arguments[0] as? NSNumber)?.intValue ?? 0 > 50
    }
}
