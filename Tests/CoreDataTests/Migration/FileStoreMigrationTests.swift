import CoreDataModel
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores that are one file are migrated when they are added: T2 to T5, T8 to T10, and S2 for those that others have open.
@Suite struct FileStoreMigrationTests {
    private static let types: [NSPersistentStore.StoreType] = [.xml, .binary]

    private let folder: URL
    private let old = model(
        entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
        entity(
            "Book", attribute("title"), attribute("pages", .integer32), derived("saved", .date, "now()"),
            toOne("author", "Author", inverse: "books"), toMany("tags", "Tag", inverse: "books")),
        entity("Comic", parent: "Book", attribute("artist")),
        entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags")))
    private let new = model(
        entity(
            "Author", attribute("name"), derived("count", .integer64, "books.@count"),
            toMany("books", "Book", inverse: "author", ordered: true)),
        entity(
            "Book", attribute("name").with { $0.renamingIdentifier = "title" },
            attribute("isbn", default: "none", optional: false), derived("saved", .date, "now()"),
            toOne("author", "Author", inverse: "books"),
            toMany("labels", "Label", inverse: "books")
                .with { $0.renamingIdentifier = "tags" }),
        entity("Comic", parent: "Book", attribute("artist")),
        entity("Label", attribute("name"), toMany("books", "Book", inverse: "labels"))
            .with { $0.renamingIdentifier = "Tag" })

    init() throws { folder = try Fixtures.temporaryFolder() }

    private func version(_ document: ModelDocument) throws -> NSManagedObjectModel {
        try NSManagedObjectModel(document: document)
    }

    /// Models as a program has them: both versions in a folder, of which stores that keep no model find theirs.
    private func models(_ documents: ModelDocument...) throws -> [NSManagedObjectModel] {
        let versions = documents.enumerated().map { index, document in
            ModelVersions.Version(name: index == 0 ? "Library" : "Library \(index + 1)", document: document)
        }
        let url = folder.appendingPathComponent("Library.momd")
        try ModelCompilation(
            of: ModelVersions(name: "Library", versions: versions, currentName: versions.last?.name ?? ""),
            isFolder: true
        ).write(to: url)
        return try versions.map { try NSManagedObjectModel.load(contentsOf: url, version: $0.name) }
    }

    private static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    @discardableResult
    private func open<R>(
        _ type: NSPersistentStore.StoreType, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: type, at: url(type), options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    private func url(_ type: NSPersistentStore.StoreType) -> URL { folder.appendingPathComponent(type.rawValue) }

    private func fill(_ type: NSPersistentStore.StoreType, _ model: NSManagedObjectModel, titles: [String]) throws {
        try open(type, model) { context in
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("Ann", forKey: "name")
            let tag = NSEntityDescription.insertNewObject(forEntityName: "Tag", into: context)
            tag.setValue("new", forKey: "name")
            for (index, title) in titles.enumerated() {
                let book = NSEntityDescription.insertNewObject(
                    forEntityName: index == 1 ? "Comic" : "Book", into: context)
                book.setValue(title, forKey: "title")
                book.setValue(author, forKey: "author")
                if index > 0 { book.setValue(NSSet(object: tag), forKey: "tags") }
                try context.save()
            }
            if let coordinator = context.persistentStoreCoordinator {
                coordinator.setMetadata(["Mine": "kept"], for: coordinator.persistentStores[0])
                try context.save()
            }
        }
    }

    private func saved(_ context: NSManagedObjectContext) throws -> [String: Date?] {
        let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        return Dictionary(
            uniqueKeysWithValues: books.map {
                ($0.objectID.uriRepresentation().absoluteString, $0.value(forKey: "saved") as? Date)
            })
    }

    @Test("T3, T4, T5: objects, keys, UUID and metadata stay; what the model says changes", arguments: types)
    func filesMigrate(type: NSPersistentStore.StoreType) throws {
        let versions = try models(old, new)
        try fill(type, versions[0], titles: ["One", "Two", "Three"])
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url(type))
        let saved = try open(type, versions[0]) { try self.saved($0) }
        let container = NSPersistentContainer(name: "Library", managedObjectModel: versions[1])
        let description = NSPersistentStoreDescription(url: url(type))
        description.type = type.rawValue
        container.persistentStoreDescriptions = [description]
        var problem: (any Error)?
        container.loadPersistentStores { problem = $1 }
        #expect(problem == nil)
        let context = container.viewContext
        let author = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).first)
        let books = try #require(author.value(forKey: "books") as? NSOrderedSet).array.compactMap {
            $0 as? NSManagedObject
        }
        #expect(books.map { $0.value(forKey: "name") as? String } == ["One", "Two", "Three"])
        #expect(books.map { $0.value(forKey: "isbn") as? String } == ["none", "none", "none"])
        #expect(books.map { $0.entity.name } == ["Book", "Comic", "Book"])
        #expect(author.value(forKey: "count") as? Int == 3)
        let label = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Label")).first)
        #expect((label.value(forKey: "books") as? NSSet)?.count == 2)
        // The moment of the last save is no other.
        #expect(try self.saved(context) == saved)
        let added = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
        try context.save()
        #expect(!saved.keys.contains(added.objectID.uriRepresentation().absoluteString))
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url(type))
        #expect(after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
        #expect(after["Mine"] as? String == "kept")
        #expect(after[NSStoreTypeKey] as? String == type.rawValue)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test("T2, T9, T10: what stops a migration is told as of SQLite stores, and the file stays", arguments: types)
    func failuresLeaveTheFile(type: NSPersistentStore.StoreType) throws {
        let versions = try models(old, new)
        try fill(type, versions[0], titles: ["One", "Two", "One"])
        let bytes = try Data(contentsOf: url(type))
        func failure(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any]) throws -> Int {
            let error = try #require(throws: CocoaError.self) { try open(type, model, options) { _ in } }
            #expect(try Data(contentsOf: url(type)) == bytes)
            return error.errorCode
        }
        #expect(try failure(versions[1], [:]) == NSPersistentStoreIncompatibleVersionHashError)
        var options = Self.automatic
        options[NSInferMappingModelAutomaticallyOption] = false
        #expect(try failure(versions[1], options) == NSMigrationMissingMappingModelError)
        options = Self.automatic
        options[NSReadOnlyPersistentStoreOption] = true
        #expect(try failure(versions[1], options) == NSMigrationError)
        // A model that is in no file has no older version beside it.
        #expect(try failure(version(new), Self.automatic) == NSMigrationMissingSourceModelError)
        var impossible = old
        impossible.entities[0].properties[0] = attribute("name", .integer64)
        #expect(try failure(models(old, impossible)[1], Self.automatic) == NSMigrationMissingMappingModelError)
        var unique = old
        unique.entities[1].uniquenessConstraints = [["title"]]
        #expect(try failure(models(old, unique)[1], Self.automatic) == NSMigrationConstraintViolationError)
        try open(type, versions[0]) { _ in }
    }

    @Test(
        "T10: a manager tells of duplicates as a migration in a database does, by an inferred mapping",
        arguments: [.sqlite] + types, [true, false])
    func managersTellOfDuplicates(type: NSPersistentStore.StoreType, isOfComics: Bool) throws {
        var unique = old
        unique.entities[1].uniquenessConstraints = [["title"]]
        let versions = try models(old, unique)
        try fill(type, versions[0], titles: isOfComics ? ["One", "Two"] : ["One", "One"])
        if isOfComics {
            try open(type, versions[0]) { context in
                for _ in 0..<2 {
                    let comic = NSEntityDescription.insertNewObject(forEntityName: "Comic", into: context)
                    comic.setValue("Three", forKey: "title")
                }
                try context.save()
            }
        }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: versions[0], destinationModel: versions[1])
        let target = folder.appendingPathComponent("New.\(type.rawValue)")
        let manager = NSMigrationManager(sourceModel: versions[0], destinationModel: versions[1])
        for isInDatabase in [true, false] {
            manager.usesStoreSpecificMigrationManager = isInDatabase
            let error = try #require(throws: CocoaError.self) {
                try manager.migrateStore(from: url(type), type: type, mapping: mapping, to: target, type: type)
            }
            #expect(error.errorCode == NSMigrationConstraintViolationError)
            #expect(
                error.localizedDescription.hasPrefix(
                    "The objects of 'Book' are to be unique by (title), and after the migration some would not be."),
                "\(error.localizedDescription)")
            #expect(error.userInfo["entity"] as? String == "Book")
            #expect(error.userInfo["attribute"] as? String == "title")
            #expect(error.userInfo[NSUnderlyingErrorKey] != nil)
            #expect(!FileManager.default.fileExists(atPath: target.path))
        }
    }

    @Test("T2, T6: a mapping model in a bundle comes before an inferred one", arguments: types)
    func mappingModelsAreFollowed(type: NSPersistentStore.StoreType) throws {
        let versions = try models(old, new)
        try fill(type, versions[0], titles: ["One", "Two"])
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: versions[0], destinationModel: versions[1])
        let book = try #require(mapping.entityMappingsByName["IEM_Transform_Book"])
        book.attributeMappings?.first { $0.name == "name" }?.valueExpression = CoreData.NSExpression(
            format: "uppercase($source.title)")
        try mapping.write(to: folder.appendingPathComponent("One.cdm"))
        let bundle = try #require(Bundle(url: folder))
        let migration = try #require(
            MappedMigration(ofStoreAt: url(type), type: type.rawValue, to: versions[1], bundles: [bundle]))
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url(type))
        try migration.run(at: url(type), options: nil)
        let names = try open(type, versions[1]) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map {
                $0.value(forKey: "name") as? String ?? "?"
            }
        }
        // The comic has a mapping of its own.
        #expect(names.sorted() == ["ONE", "Two"])
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url(type))
        #expect(after[NSStoreUUIDKey] as? String == before[NSStoreUUIDKey] as? String)
        #expect(after["Mine"] as? String == "kept")
    }

    @Test("T8: stages lead files too", arguments: types)
    func stagesAreGoneThrough(type: NSPersistentStore.StoreType) throws {
        let versions = try models(old, new)
        try fill(type, versions[0], titles: ["One"])
        let stage = NSCustomMigrationStage(
            migratingFrom: NSManagedObjectModelReference(
                model: versions[0], versionChecksum: versions[0].versionChecksum),
            to: NSManagedObjectModelReference(model: versions[1], versionChecksum: versions[1].versionChecksum))
        stage.willMigrateHandler = { manager, _ in
            let context = try #require(manager.container?.viewContext)
            let book = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first)
            book.setValue("Uno", forKey: "title")
            try context.save()
        }
        var options = Self.automatic
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([stage])
        let names = try open(type, versions[1], options) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map {
                $0.value(forKey: "name") as? String
            }
        }
        #expect(names == ["Uno"])
    }

    @Test(
        "S2: who has a file open that is destroyed, replaced or migrated reads on, and does not write to it",
        arguments: types)
    func whoHasTheFileOpenDoesNotWriteToAnother(type: NSPersistentStore.StoreType) throws {
        let versions = try models(old, new)
        func check(_ change: () throws -> Void, code: Int) throws {
            try? FileManager.default.removeItem(at: url(type))
            try fill(type, versions[0], titles: ["One", "Two"])
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: versions[0])
            try coordinator.addPersistentStore(type: type, at: url(type))
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try change()
            let bytes = try? Data(contentsOf: url(type))
            try context.performAndWait {
                let books = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
                #expect(Set(books.map { $0.value(forKey: "title") as? String }) == ["One", "Two"])
                books.first?.setValue("Three", forKey: "title")
                let error = try #require(throws: CocoaError.self) { try context.save() }
                #expect(error.errorCode == code)
            }
            #expect((try? Data(contentsOf: url(type))) == bytes)
        }
        let other = NSPersistentStoreCoordinator(managedObjectModel: versions[0])
        try check(
            { try other.destroyPersistentStore(at: url(type), type: type) },
            code: CocoaError.Code.fileNoSuchFile.rawValue)
        try check(
            {
                let copy = folder.appendingPathComponent("copy")
                try FileManager.default.copyItem(at: url(type), to: copy)
                try NSPersistentStoreCoordinator.setMetadata(["Mine": "other"], type: type, at: copy)
                try other.replacePersistentStore(at: url(type), withPersistentStoreFrom: copy, type: type)
            }, code: NSPersistentStoreSaveConflictsError)
        try check({ try open(type, versions[1], Self.automatic) { _ in } }, code: NSPersistentStoreSaveConflictsError)
    }
}
