import CoreData
import Foundation
import Testing

/// What Apple's documentation of migration shows, as a program does it that knows nothing else: T1 to T5, T8, T11.
@Suite struct DocumentedMigrationTests {
    private let library: DocumentedLibrary

    init() throws { library = try DocumentedLibrary() }

    // MARK: Versions and compatibility

    @Test("T1: the metadata say which model a store is of, and a model whether it fits")
    func compatibility() throws {
        try library.fill()
        let metadata = try library.metadata()
        #expect(metadata[NSStoreTypeKey] as? String == NSSQLiteStoreType)
        #expect(UUID(uuidString: metadata[NSStoreUUIDKey] as? String ?? "") != nil)
        let hashes = metadata[NSStoreModelVersionHashesKey] as? [String: Data]
        #expect(hashes == library.first.entityVersionHashesByName)
        #expect(library.first.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
        #expect(!library.second.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata))
    }

    @Test("T1, T11: what a program does with values is no other version; what a store keeps is")
    func whatMakesAVersion() throws {
        try library.fill()
        let metadata = try library.metadata()
        func fits(_ change: (NSEntityDescription) -> Void) -> Bool {
            let model = DocumentedLibrary.library([
                DocumentedLibrary.attribute("title"), DocumentedLibrary.attribute("pages", .integer32AttributeType),
            ])
            if let book = model.entitiesByName["Book"] { change(book) }
            return model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
        #expect(fits { _ in })
        #expect(fits { $0.attributesByName["pages"]?.defaultValue = 7 })
        #expect(fits { $0.userInfo = ["a": "b"] })
        #expect(fits { $0.managedObjectClassName = "Other" })
        #expect(fits { $0.relationshipsByName["author"]?.deleteRule = .cascadeDeleteRule })
        #expect(
            fits {
                $0.attributesByName["pages"]?.setValidationPredicates(
                    [NSPredicate(format: "SELF > 0")], withValidationWarnings: ["no pages"])
            })
        #expect(!fits { $0.attributesByName["pages"]?.isOptional = false })
        #expect(!fits { $0.attributesByName["pages"]?.attributeType = .integer64AttributeType })
        #expect(!fits { $0.versionHashModifier = "2" })
        #expect(!fits { $0.attributesByName["title"]?.versionHashModifier = "2" })
        #expect(!fits { $0.attributesByName["title"]?.name = "name" })
    }

    @Test("T4: a renaming identifier is the name unless it is set")
    func renamingIdentifiers() throws {
        #expect(library.first.entitiesByName["Book"]?.renamingIdentifier == "Book")
        #expect(library.second.entitiesByName["Book"]?.attributesByName["name"]?.renamingIdentifier == "title")
        #expect(library.second.entitiesByName["Book"]?.attributesByName["pages"]?.renamingIdentifier == "pages")
    }

    // MARK: Lightweight migration

    @Test("T2: another model without the option is 134100, with the metadata")
    func noOption() throws {
        try library.fill()
        let error = try #require(throws: CocoaError.self) { try library.open(library.second) { _ in } }
        #expect(error.errorCode == NSPersistentStoreIncompatibleVersionHashError)
        #expect((error.userInfo["metadata"] as? [String: Any])?[NSStoreUUIDKey] != nil)
        #expect(try library.names(library.first, key: "title").count == 3)
    }

    @Test("a container migrates by itself, as its descriptions say")
    func containers() throws {
        try library.fill()
        let description = NSPersistentStoreDescription(url: library.url)
        #expect(description.shouldMigrateStoreAutomatically && description.shouldInferMappingModelAutomatically)
        let container = NSPersistentContainer(name: "Library", managedObjectModel: library.second)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { #expect($1 == nil) }
        let books = try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        #expect(Set(books.compactMap { $0.value(forKey: "name") as? String }) == ["Book 1", "Book 2", "Book 3"])
        #expect(books.allSatisfy { $0.value(forKey: "stars") as? Int == 3 })
    }

    @Test("T2: with migration and without inference 134140")
    func noInference() throws {
        try library.fill()
        let error = try #require(throws: CocoaError.self) {
            try library.open(library.second, [NSMigratePersistentStoresAutomaticallyOption: true]) { _ in }
        }
        #expect(error.errorCode == NSMigrationMissingMappingModelError)
    }

    @Test("T3, T4: an entity is renamed, with its relationships")
    func renamedEntities() throws {
        try library.fill()
        let third = DocumentedLibrary.library(
            [DocumentedLibrary.attribute("title"), DocumentedLibrary.attribute("pages", .integer32AttributeType)],
            author: "Writer", was: "Author"
        )
        try library.open(third, DocumentedLibrary.automatic) { context in
            let writers = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Writer"))
            #expect(writers.count == 1)
            #expect((writers.first?.value(forKey: "books") as? NSSet)?.count == 3)
        }
    }

    @Test("a version hash modifier makes a version to which the same objects come")
    func versionHashModifiers() throws {
        try library.fill()
        let third = DocumentedLibrary.library([
            DocumentedLibrary.attribute("title"), DocumentedLibrary.attribute("pages", .integer32AttributeType),
        ])
        third.entitiesByName["Book"]?.versionHashModifier = "files moved"
        try library.open(third, DocumentedLibrary.automatic) { _ in }
        #expect(try library.names(third, key: "title") == ["Book 1 by Ann", "Book 2 by Ann", "Book 3 by Ann"])
    }

    @Test("object IDs stay, as URIs that were written down")
    func objectIDs() throws {
        try library.fill()
        let uris = try library.open(library.first) { context in
            try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).map {
                $0.objectID.uriRepresentation()
            }
        }
        try library.open(library.second, DocumentedLibrary.automatic) { context in
            for uri in uris {
                let id = try #require(context.persistentStoreCoordinator?.managedObjectID(forURIRepresentation: uri))
                #expect(try context.existingObject(with: id).value(forKey: "name") != nil)
            }
        }
    }

    @Test("a store that is opened read only is not migrated")
    func readOnly() throws {
        try library.fill()
        var options = DocumentedLibrary.automatic
        options[NSReadOnlyPersistentStoreOption] = true
        #expect(throws: CocoaError.self) { try library.open(library.second, options) { _ in } }
        #expect(try library.names(library.first, key: "title").count == 3)
    }

    @Test("NSIgnorePersistentStoreVersioningOption opens a store whose tables fit all the same")
    func ignoredVersions() throws {
        try library.fill()
        let third = DocumentedLibrary.library([
            DocumentedLibrary.attribute("title"), DocumentedLibrary.attribute("pages", .integer32AttributeType),
        ])
        third.entitiesByName["Book"]?.versionHashModifier = "2"
        try library.open(third, [NSIgnorePersistentStoreVersioningOption: true]) { context in
            let count = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: "Book"))
            #expect(count == 3)
        }
    }

    @Test("of two configurations only the one of the store is compared and migrated")
    func configurations() throws {
        func make(_ note: Bool) -> NSManagedObjectModel {
            let book = DocumentedLibrary.entity(
                "Book", [DocumentedLibrary.attribute("title")] + (note ? [DocumentedLibrary.attribute("note")] : []))
            let loan = DocumentedLibrary.entity("Loan", [DocumentedLibrary.attribute("day", .dateAttributeType)])
            let model = DocumentedLibrary.model([book, loan])
            model.setEntities([book], forConfigurationName: "Books")
            model.setEntities([loan], forConfigurationName: "Loans")
            return model
        }
        func add(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            for (name, place) in [("Books", library.url), ("Loans", library.other)] {
                _ = try coordinator.addPersistentStore(
                    ofType: NSSQLiteStoreType, configurationName: name, at: place, options: options)
            }
            return coordinator
        }
        let (old, new) = (make(false), make(true))
        let stores = try add(old, nil)
        for store in stores.persistentStores { try stores.remove(store) }
        #expect(
            new.isConfiguration(withName: "Loans", compatibleWithStoreMetadata: try library.metadata(library.other)))
        #expect(!new.isConfiguration(withName: "Books", compatibleWithStoreMetadata: try library.metadata()))
        let before = try Data(contentsOf: library.other)
        let migrated = try add(new, DocumentedLibrary.automatic)
        #expect(new.isConfiguration(withName: "Books", compatibleWithStoreMetadata: try library.metadata()))
        for store in migrated.persistentStores { try migrated.remove(store) }
        #expect(try Data(contentsOf: library.other) == before)
    }

    @Test("an in-memory store takes the options, and there is nothing to migrate")
    func memory() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: library.second)
        try coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil, options: DocumentedLibrary.automatic)
        #expect(coordinator.persistentStores.count == 1)
    }

    // MARK: Mapping models

    @Test("T3: inferring from one type to another is 134190")
    func inferenceFails() throws {
        let third = DocumentedLibrary.library([
            DocumentedLibrary.attribute("title"), DocumentedLibrary.attribute("pages"),
        ])
        let error = try #require(throws: CocoaError.self) {
            try NSMappingModel.inferredMappingModel(forSourceModel: library.first, destinationModel: third)
        }
        #expect(error.errorCode == NSInferredMappingModelError)
        #expect("\(error.userInfo)".contains("pages"))
    }

    @Test("T6: an inferred mapping has a mapping of each entity, by name")
    func inferredMappings() throws {
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: library.first, destinationModel: library.second)
        let byName = mapping.entityMappingsByName
        let book = try #require(byName["IEM_Transform_Book"])
        #expect(book.mappingType == .transformEntityMappingType)
        #expect(book.sourceEntityName == "Book" && book.destinationEntityName == "Book")
        #expect(book.sourceEntityVersionHash == library.first.entityVersionHashesByName["Book"])
        let names = Set((book.attributeMappings ?? []).compactMap(\.name))
        #expect(names.isSuperset(of: ["name", "pages"]))
        #expect(book.relationshipMappings?.map(\.name) == ["author"])
        #expect(byName.keys.contains { $0.hasSuffix("Author") })
    }

    @Test("no mapping model in the bundles is nil, and so is one at no place")
    func missingMappingModels() throws {
        #expect(NSMappingModel(from: nil, forSourceModel: library.first, destinationModel: library.second) == nil)
        #expect(NSMappingModel(from: [.main], forSourceModel: library.first, destinationModel: library.second) == nil)
        #expect(NSMappingModel(contentsOf: library.url.appendingPathExtension("cdm")) == nil)
        #expect(NSMappingModel(contentsOf: nil) == nil)
    }

    // MARK: Stages

    private func reference(_ model: NSManagedObjectModel) -> NSManagedObjectModelReference {
        NSManagedObjectModelReference(model: model, versionChecksum: model.versionChecksum)
    }

    @Test("T8: stages as in Apple's example: a column that is split, then dropped")
    func stages() throws {
        try library.fill()
        let between = DocumentedLibrary.library([
            DocumentedLibrary.attribute("title"), DocumentedLibrary.attribute("pages", .integer32AttributeType),
            DocumentedLibrary.attribute("length"),
        ])
        let last = DocumentedLibrary.library([
            DocumentedLibrary.attribute("title"), DocumentedLibrary.attribute("length"),
        ])
        let custom = NSCustomMigrationStage(migratingFrom: reference(library.first), to: reference(between))
        custom.label = "pages to length"
        custom.didMigrateHandler = { manager, stage in
            #expect(stage.label == "pages to length")
            guard let container = manager.container else { return }
            let context = container.newBackgroundContext()
            try context.performAndWait {
                for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) {
                    let pages = book.value(forKey: "pages") as? Int ?? 0
                    book.setValue(pages > 150 ? "long" : "short", forKey: "length")
                }
                try context.save()
            }
        }
        let manager = NSStagedMigrationManager([
            NSLightweightMigrationStage([library.first.versionChecksum]), custom,
            NSLightweightMigrationStage([last.versionChecksum]),
        ])
        #expect(manager.stages.count == 3 && manager.container == nil)
        let description = NSPersistentStoreDescription(url: library.url)
        description.setOption(manager, forKey: NSPersistentStoreStagedMigrationManagerOptionKey)
        let container = NSPersistentContainer(name: "Library", managedObjectModel: last)
        container.persistentStoreDescriptions = [description]
        container.loadPersistentStores { #expect($1 == nil) }
        let books = try container.viewContext.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book"))
        #expect(books.compactMap { $0.value(forKey: "length") as? String }.sorted() == ["long", "long", "short"])
    }

    @Test("T8: what a stage throws is what adding the store throws, and the store is at the version before")
    func throwingStages() throws {
        try library.fill()
        struct Stop: Error {}
        let custom = NSCustomMigrationStage(migratingFrom: reference(library.first), to: reference(library.second))
        custom.willMigrateHandler = { _, _ in throw Stop() }
        var options = DocumentedLibrary.automatic
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([custom])
        #expect(throws: (any Error).self) { try library.open(library.second, options) { _ in } }
        #expect(try library.names(library.first, key: "title").count == 3)
    }

    @Test("T8, 134506: no stage leads back")
    func stagesLeadForward() throws {
        try library.fill()
        try library.open(library.second, DocumentedLibrary.automatic) { _ in }
        var options = DocumentedLibrary.automatic
        options[NSPersistentStoreStagedMigrationManagerOptionKey] = NSStagedMigrationManager([
            NSLightweightMigrationStage([library.first.versionChecksum, library.second.versionChecksum])
        ])
        let error = try #require(throws: CocoaError.self) { try library.open(library.first, options) { _ in } }
        #expect(error.errorCode == NSStagedMigrationBackwardMigrationError)
    }

    // MARK: Deferred migration

    @Test("T5: deferred work is told by the metadata, and done when the program asks")
    func deferred() throws {
        try library.fill()
        let third = DocumentedLibrary.library([DocumentedLibrary.attribute("title")])
        var options = DocumentedLibrary.automatic
        options[NSPersistentStoreDeferredLightweightMigrationOptionKey] = true
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: third)
        try coordinator.addPersistentStore(type: .sqlite, at: library.url, options: options)
        #expect(try library.metadata()[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool == true)
        try coordinator.finishDeferredLightweightMigration()
        #expect(try library.metadata()[NSPersistentStoreDeferredLightweightMigrationOptionKey] == nil)
        // A second time there is nothing to do.
        try coordinator.finishDeferredLightweightMigration()
    }
}
