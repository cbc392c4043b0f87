import CoreData
import Foundation
import Testing

@Suite struct CoordinatorTests {
    private func folder() throws -> URL {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("coordinator-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    @Test func containersLoadTheirStores() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("deep/Library.sqlite"))
        container.persistentStoreDescriptions = [description]
        var loaded: [(URL?, (any Error)?)] = []
        container.loadPersistentStores { loaded.append(($0.url, $1)) }
        #expect(loaded.count == 1 && loaded[0].1 == nil)
        try await container.performBackgroundTask { context in
            let tag = Tag(context: context)
            tag.name = "background"
            try context.save()
        }
        let background = container.newBackgroundContext()
        let names = try await background.perform {
            try background.fetch(NSFetchRequest<Tag>(entityName: "Tag")).compactMap(\.name)
        }
        #expect(names == ["background"])
    }

    @Test func containersKnowTheirDefaultStore() throws {
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let expected = NSPersistentContainer.defaultDirectoryURL().appendingPathComponent("Library.sqlite")
        let description = try #require(container.persistentStoreDescriptions.first)
        #expect(container.persistentStoreDescriptions.count == 1 && description.url == expected)
        description.isReadOnly = true
        #expect(container.persistentStoreDescriptions.first === description, "the same one each time")
        container.persistentStoreDescriptions = []
        #expect(container.persistentStoreDescriptions.isEmpty)
    }

    @Test func pragmasAreAnOptionOfTheDescription() throws {
        let description = NSPersistentStoreDescription()
        #expect(description.options[NSSQLitePragmasOption] == nil)
        description.setValue("FULL" as NSString, forPragmaNamed: "synchronous")
        description.setValue("100" as NSString, forPragmaNamed: "cache_size")
        description.setValue(nil, forPragmaNamed: "synchronous")
        #expect(description.options[NSSQLitePragmasOption] as? [String: NSObject] == ["cache_size": "100" as NSString])
        let copy = try #require(description.copy() as? NSPersistentStoreDescription)
        #expect(copy == description)
        copy.setOption(["synchronous": "OFF"] as NSDictionary, forKey: NSSQLitePragmasOption)
        #expect(copy.sqlitePragmas == ["synchronous": "OFF" as NSString] && copy != description)
        #expect(description.sqlitePragmas == ["cache_size": "100" as NSString])
    }

    /// A store tells its options as the description does, whatever its type and coordinator.
    @Test(arguments: [NSSQLiteStoreType, NSInMemoryStoreType], [true, false])
    func pragmasAreAnOptionOfTheStore(type: String, isOwnCoordinator: Bool) throws {
        final class OwnCoordinator: NSPersistentStoreCoordinator, @unchecked Sendable {
            var given: [AnyHashable: Any]?

            override func addPersistentStore(
                ofType storeType: String, configurationName configuration: String?, at storeURL: URL?,
                options: [AnyHashable: Any]? = nil
            ) throws -> NSPersistentStore {
                given = options
                return try super.addPersistentStore(
                    ofType: storeType, configurationName: configuration, at: storeURL, options: options)
            }
        }
        let description = NSPersistentStoreDescription()
        description.type = type
        description.setValue("321" as NSString, forPragmaNamed: "cache_size")
        let coordinator =
            isOwnCoordinator
            ? OwnCoordinator(managedObjectModel: Library.model())
            : NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        #expect(failure == nil)
        let options = try #require(coordinator.persistentStores.first?.options)
        #expect(options[NSSQLitePragmasOption] as? NSDictionary == ["cache_size": "321"])
        #expect(options[NSMigratePersistentStoresAutomaticallyOption] as? NSNumber == true)
        #expect((coordinator is OwnCoordinator) == isOwnCoordinator)
        if let own = coordinator as? OwnCoordinator {
            #expect(own.given?[NSSQLitePragmasOption] is NSDictionary)
        }
    }

    @Test(arguments: [true, false])
    func whatAreNoPragmasIsAnError(isDictionary: Bool) throws {
        let option: NSObject = isDictionary ? [1: "FULL"] as NSDictionary : "FULL" as NSString
        let description = NSPersistentStoreDescription()
        description.setOption(option, forKey: NSSQLitePragmasOption)
        #expect(description.options[NSSQLitePragmasOption] == option && description.sqlitePragmas.isEmpty)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        var failure: (any Error)?
        coordinator.addPersistentStore(with: description) { failure = $1 }
        #expect(failure?.localizedDescription.contains(NSSQLitePragmasOption) == true)
    }

    @Test func metadataOfAnOpenedStoreIsThatOfItsFile() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Library.sqlite")
        for _ in 0..<2 {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
            let inFile = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
            #expect(NSDictionary(dictionary: store.metadata).isEqual(to: inFile))
            #expect(store.metadata[NSStoreUUIDKey] as? String == store.identifier)
            try coordinator.remove(store)
        }
    }

    @Test func asynchronousLoadingCallsBack() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
        let description = NSPersistentStoreDescription(url: folder.appendingPathComponent("Library.sqlite"))
        description.shouldAddStoreAsynchronously = true
        container.persistentStoreDescriptions = [description]
        let error: (any Error)? = await withCheckedContinuation { continuation in
            container.loadPersistentStores { continuation.resume(returning: $1) }
        }
        #expect(error == nil)
        #expect(container.persistentStoreCoordinator.persistentStores.count == 1)
    }

    @Test(arguments: [NSInMemoryStoreType, NSSQLiteStoreType])
    func storesInMemoryKeepNothing(_ type: String) throws {
        for _ in 0..<2 {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
            let store = try coordinator.addPersistentStore(
                ofType: type, configurationName: nil,
                at: type == NSSQLiteStoreType ? URL(fileURLWithPath: "/dev/null") : nil)
            #expect(store.type == type)
            let context = NSManagedObjectContext(.privateQueue)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                #expect(try context.count(for: NSFetchRequest<Tag>(entityName: "Tag")) == 0)
                Tag(context: context).name = "x"
                try context.save()
                context.reset()
                #expect(try context.fetch(NSFetchRequest<Tag>(entityName: "Tag")).map(\.name) == ["x"])
            }
        }
    }

    @Test func notificationsTellOfStores() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let changes = NotificationLog(.NSPersistentStoreCoordinatorStoresDidChange, coordinator)
        let url = folder.appendingPathComponent("Library.sqlite")
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        #expect(coordinator.persistentStore(for: url) === store)
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
        try coordinator.remove(store)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(changes.userInfos.count == 2)
        #expect((changes.userInfos[0][NSAddedPersistentStoresKey] as? [NSPersistentStore])?.first === store)
        #expect((changes.userInfos[1][NSRemovedPersistentStoresKey] as? [NSPersistentStore])?.first === store)
    }

    @Test("S6, H10: metadata is written with the next save")
    func metadata() throws {
        let stack = try LibraryStack()
        let store = stack.coordinator.persistentStores[0]
        stack.coordinator.setMetadata(["Mine": "yes"], for: store)
        func stored() throws -> [String: Any] {
            try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSSQLiteStoreType, at: stack.url)
        }
        #expect(try stored()["Mine"] == nil)
        try stack.story { try $0.save() }
        #expect(try stored()["Mine"] as? String == "yes")
        #expect(try stored()[NSStoreUUIDKey] as? String == store.identifier)
        #expect((try stored()[NSStoreModelVersionHashesKey] as? [String: Data])?.count == 7)
        try NSPersistentStoreCoordinator.setMetadata(
            ["Mine": "no"], forPersistentStoreOfType: NSSQLiteStoreType, at: stack.url)
        #expect(try stored()["Mine"] as? String == "no")
    }

    @Test("H9: a read-only store is read and not written")
    func readOnlyStores() throws {
        let stack = try LibraryStack()
        try stack.story { context in
            Tag(context: context).name = "x"
            try context.save()
        }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        try coordinator.addPersistentStore(
            type: .sqlite, at: stack.url, options: [NSReadOnlyPersistentStoreOption: true])
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let tag = try #require(try context.fetch(NSFetchRequest<Tag>(entityName: "Tag")).first)
            tag.name = "y"
            #expect(throws: CocoaError.self) { try context.save() }
            #expect(tag.name == "y")
        }
    }

    @Test("A12: configurations lead objects to their stores; a relationship between stores is error 133010")
    func configurations() throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let model = Library.model()
        let byName = model.entitiesByName
        model.setEntities(["Tag"].compactMap { byName[$0] }, forConfigurationName: "Tags")
        model.setEntities(
            ["Person", "Author", "Reader", "Book", "Chapter", "Loan"].compactMap { byName[$0] },
            forConfigurationName: "Books")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let tags = try coordinator.addPersistentStore(
            type: .sqlite, configuration: "Tags", at: folder.appendingPathComponent("Tags.sqlite"))
        let books = try coordinator.addPersistentStore(
            type: .sqlite, configuration: "Books", at: folder.appendingPathComponent("Books.sqlite"))
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let tag = Tag(context: context)
            tag.name = "t"
            let book = Book(context: context)
            book.title = "b"
            try context.save()
            #expect(tag.objectID.persistentStore === tags)
            #expect(book.objectID.persistentStore === books)
            #expect(try context.count(for: NSFetchRequest<Book>(entityName: "Book")) == 1)
            let request = NSFetchRequest<Book>(entityName: "Book")
            request.affectedStores = [tags]
            #expect(try context.fetch(request).isEmpty)
        }
    }

    @Test(arguments: [
        ("no database at all, but long enough to look like one", CocoaError.Code.fileReadCorruptFile.rawValue)
    ])
    func brokenFiles(_ content: String, _ code: Int) throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Broken.sqlite")
        let text = String(repeating: content, count: 100)
        try text.write(to: url, atomically: true, encoding: .utf8)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: url) }
        #expect(error?.code.rawValue == code)
        #expect(try String(contentsOf: url, encoding: .utf8) == text)
        #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: .sqlite, at: folder) }
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                type: .init(rawValue: "Strange"), at: folder.appendingPathComponent("x.strange"))
        }
        #expect(throws: CocoaError.self) {
            try coordinator.addPersistentStore(
                type: .sqlite, configuration: "None", at: folder.appendingPathComponent("x.sqlite"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["Broken.sqlite"])
    }
}
