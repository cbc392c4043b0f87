import CoreDataSQL
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores of an older model are migrated when they are added: statements T2 to T5, T9 and T10 as programs see them.
@Suite struct AutomaticMigrationTests {
    private func attribute(_ name: String, _ type: NSAttributeType = .stringAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private func model(_ attributes: [NSAttributeDescription], unique: [[Any]] = []) -> NSManagedObjectModel {
        let book = NSEntityDescription()
        book.name = "Book"
        book.properties = attributes
        book.uniquenessConstraints = unique
        let model = NSManagedObjectModel()
        model.entities = [book]
        return model
    }

    private func renamed(_ name: String, from identifier: String) -> NSAttributeDescription {
        let attribute = attribute(name)
        attribute.renamingIdentifier = identifier
        return attribute
    }

    /// A store with a book of each title.
    private func makeStore(_ model: NSManagedObjectModel, titles: [String] = ["One", "Two"]) throws -> URL {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Library.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for title in titles {
                let entity = try #require(model.entitiesByName["Book"])
                NSManagedObject(entity: entity, insertInto: context).setValue(title, forKey: "title")
            }
            try context.save()
        }
        try coordinator.remove(store)
        return url
    }

    private static var automatic: [AnyHashable: Any] {
        [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
        ]
    }

    private func open(
        _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = automatic
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: .sqlite, at: url, options: options)
        return coordinator
    }

    private func failure(
        _ url: URL, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]? = automatic
    ) throws -> CocoaError {
        try #require(throws: CocoaError.self) { _ = try open(url, model, options) }
    }

    @Test("T1: who has a store open with the model that it was of does not write to what a migration made of it")
    func whoHasAnotherModelDoesNotWrite() throws {
        let old = model([attribute("title"), attribute("note")])
        let url = try makeStore(old)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        func insert() throws {
            try context.performAndWait {
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue("three", forKey: "title")
                try context.save()
            }
        }
        try insert()
        // The same columns under other names, so that a statement of the old model would run.
        let new = model([renamed("note", from: "title"), renamed("title", from: "note"), attribute("more")])
        _ = try open(url, new)
        let error = try #require(throws: CocoaError.self) { try insert() }
        #expect(error.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        // Nor in any other way than a save.
        let store = try #require(coordinator.persistentStores.first)
        let metadata = coordinator.metadata(for: store)
        coordinator.setMetadata(metadata.merging(["more": 1]) { $1 }, for: store)
        try context.performAndWait {
            let book = try #require(context.insertedObjects.first)
            let error = try #require(throws: CocoaError.self) { try context.obtainPermanentIDs(for: [book]) }
            #expect(error.errorCode == NSPersistentStoreIncompatibleVersionHashError)
            let update = NSBatchUpdateRequest(entityName: "Book")
            update.propertiesToUpdate = ["title": "four"]
            let refusal = try #require(throws: CocoaError.self) { try context.execute(update) }
            #expect(refusal.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        }
        let books = try open(url, new)
        let reader = NSManagedObjectContext(.privateQueue)
        reader.persistentStoreCoordinator = books
        try reader.performAndWait {
            let found = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
            #expect(Set(found.map { $0.value(forKey: "note") as? String }) == ["One", "Two", "three"])
        }
    }

    @Test(
        "T1: who has a store open that was migrated reads nothing from it either; other changes of the schema are none")
    func whoHasAnotherModelDoesNotRead() throws {
        let old = model([attribute("title"), attribute("note")])
        let url = try makeStore(old)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.addPersistentStore(type: .sqlite, at: url)
        func titles(_ predicate: String = "TRUEPREDICATE") throws -> Set<String?> {
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            return try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.predicate = NSPredicate(format: predicate)
                return Set(try context.fetch(request).map { $0.value(forKey: "title") as? String })
            }
        }
        #expect(try titles() == ["One", "Two"])
        let other = try SQLStore.makeDatabase(DatabaseOptions(path: url.path))
        try other.write { try $0.execute("CREATE INDEX mine ON ZBOOK (ZNOTE)") }
        #expect(try titles() == ["One", "Two"])
        try other.write { try $0.execute("DROP INDEX mine") }
        other.close()
        #expect(try titles() == ["One", "Two"])
        // The same columns under other names, so that a statement of the old model would run.
        let new = model([renamed("note", from: "title"), renamed("title", from: "note"), attribute("more")])
        _ = try open(url, new)
        for predicate in ["TRUEPREDICATE", "TRUEPREDICATE", "title != nil", "note == 'One'"] {
            let error = try #require(throws: CocoaError.self) { try titles(predicate) }
            #expect(error.errorCode == NSPersistentStoreIncompatibleVersionHashError, "\(predicate): \(error)")
        }
        // Columns that are gone.
        _ = try open(url, model([renamed("note", from: "title")]))
        let error = try #require(throws: CocoaError.self) { try titles("title == 'x' AND note == 'y'") }
        #expect(error.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        // It is of the model again.
        _ = try open(url, old)
        #expect(try titles() == ["One", "Two"])
    }

    @Test("T3, T4: containers migrate by themselves, and objects keep their IDs")
    func containersMigrate() throws {
        let url = try makeStore(model([attribute("title")]))
        let before = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        let new = model([renamed("name", from: "title"), attribute("pages", .integer32AttributeType)])
        let container = NSPersistentContainer(name: "Library", managedObjectModel: new)
        container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
        var problem: (any Error)?
        container.loadPersistentStores { problem = $1 }
        #expect(problem == nil)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        let books = try container.viewContext.fetch(request)
        #expect(books.map { $0.value(forKey: "name") as? String } == ["One", "Two"])
        #expect(books.map { $0.objectID.uriRepresentation().lastPathComponent } == ["p1", "p2"])
        let after = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        #expect(before[NSStoreUUIDKey] as? String == after[NSStoreUUIDKey] as? String)
        #expect(new.isConfiguration(withName: nil, compatibleWithStoreMetadata: after))
        // New objects get new keys.
        let added = NSManagedObject(entity: try #require(new.entitiesByName["Book"]), insertInto: container.viewContext)
        try container.viewContext.save()
        #expect(added.objectID.uriRepresentation().lastPathComponent == "p3")
    }

    @Test("T2: without the options the store is left alone")
    func nothingIsMigratedUnasked() throws {
        let url = try makeStore(model([attribute("title")]))
        let new = model([attribute("title"), attribute("isbn")])
        #expect(try failure(url, new, nil).code == .persistentStoreIncompatibleVersionHash)
        let error = try failure(url, new, [NSMigratePersistentStoresAutomaticallyOption: true])
        #expect(error.code == .migrationMissingMappingModel)
        #expect(error.localizedDescription.contains(NSInferMappingModelAutomaticallyOption))
        _ = try open(url, model([attribute("title")]), nil)
    }

    @Test("T3: what cannot be inferred is 134140 over 134190, with what would help")
    func whatCannotBeInferredIsTold() throws {
        let url = try makeStore(model([attribute("title"), attribute("pages", .integer16AttributeType)]))
        let required = attribute("isbn")
        required.isOptional = false
        let error = try failure(url, model([attribute("title"), required, attribute("pages", .stringAttributeType)]))
        #expect(error.code == .migrationMissingMappingModel)
        let inner = try #require(error.userInfo[NSUnderlyingErrorKey] as? CocoaError)
        #expect(inner.code == .inferredMappingModel)
        #expect(inner.userInfo["entity"] as? String == "Book")
        let reason = try #require(inner.userInfo["reason"] as? String)
        #expect(reason.contains("Book.isbn") && reason.contains("default value"))
        #expect(reason.contains("Book.pages changes its type"))
        _ = try open(url, model([attribute("title"), attribute("pages", .integer16AttributeType)]), nil)
    }

    @Test("T10: duplicates under a new constraint are 134111")
    func duplicatesAreTold() throws {
        let url = try makeStore(model([attribute("title")]), titles: ["One", "One"])
        let error = try failure(url, model([attribute("title")], unique: [["title"]]))
        #expect(error.errorCode == NSMigrationConstraintViolationError)
        #expect(error.localizedDescription.contains("'Book'") && error.localizedDescription.contains("title"))
        #expect(!error.localizedDescription.contains("One"))
        _ = try open(url, model([attribute("title")]), nil)
    }

    @Test(
        "A migration that is refused leaves the file as it was, its journal mode included",
        arguments: [
            (kind: "required", code: NSMigrationError), ("type", NSMigrationMissingMappingModelError),
            ("unique", NSMigrationConstraintViolationError),
        ])
    func refusedMigrationsLeaveTheJournal(kind: String, code: Int) throws {
        let old = model([attribute("title")])
        let url = try makeStore(old, titles: ["One", "One"])
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        let store = try coordinator.addPersistentStore(
            type: .sqlite, at: url, options: [NSSQLitePragmasOption: ["journal_mode": "DELETE"]])
        try coordinator.remove(store)
        let bytes = try Data(contentsOf: url)
        // The versions of the format for writing and reading: 1 with a rollback journal, 2 with a write-ahead log.
        #expect(bytes[18...19] == Data([1, 1]))
        let required = attribute("isbn")
        required.isOptional = false
        let new =
            switch kind {
            case "required": model([attribute("title"), required])
            case "type": model([attribute("title", .integer16AttributeType)])
            default: model([attribute("title")], unique: [["title"]])
            }
        #expect(try failure(url, new).errorCode == code)
        #expect(try Data(contentsOf: url) == bytes)
        #expect(!FileManager.default.fileExists(atPath: url.path + "-wal"))
        // One that succeeds leaves the store with a log, as opening it does.
        let opened = try open(url, model([attribute("title"), attribute("isbn")]))
        for store in opened.persistentStores { try opened.remove(store) }
        #expect(try Data(contentsOf: url)[18...19] == Data([2, 2]))
    }

    @Test("A store that is to be read only is not migrated")
    func readOnlyStoresAreRefused() throws {
        let url = try makeStore(model([attribute("title")]))
        var options = Self.automatic
        options[NSReadOnlyPersistentStoreOption] = true
        let error = try failure(url, model([attribute("title"), attribute("isbn")]), options)
        #expect(error.code == .migration)
        #expect(error.localizedDescription.contains("read only"))
    }

    @Test(
        "T2: a store that keeps no model needs one in a bundle; versions beside the model are found",
        .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func versionsBesideTheModelAreFound() throws {
        let source = Fixtures.url("grocery-dude/Model.xcdatamodeld")
        let old = try NSManagedObjectModel.load(contentsOf: source, version: "Model")
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Store.sqlite")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: old)
        try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: url))
        let database = try SQLStore.makeDatabase(DatabaseOptions(path: url.path))
        try database.write { try $0.execute("DELETE FROM Z_MODELCACHE") }
        database.close()
        let unknown = model([attribute("title")])
        #expect(try failure(url, unknown).code == .migrationMissingSourceModel)
        _ = try open(url, try NSManagedObjectModel.load(contentsOf: source, version: "Model 2"))
    }
}
