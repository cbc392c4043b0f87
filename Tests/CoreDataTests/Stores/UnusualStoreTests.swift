import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Stores where nobody expects one, and what nobody expects of one.
@Suite struct UnusualStoreTests {
    private static let fileTypes: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]

    /// A file that somebody took away while it was open is not written to: nobody would find what was saved.
    @Test(arguments: fileTypes)
    func saveWhereTheFileIsGoneThrows(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        try context.performAndWait {
            Tag(context: context).name = "first"
            try context.save()
            let away = stack.folder.appendingPathComponent("away")
            try FileManager.default.createDirectory(at: away, withIntermediateDirectories: false)
            let names = try FileManager.default.contentsOfDirectory(atPath: stack.folder.path).filter { $0 != "away" }
            func move(from: URL, to: URL) throws {
                for name in names {
                    try FileManager.default.moveItem(
                        at: from.appendingPathComponent(name), to: to.appendingPathComponent(name))
                }
            }
            try move(from: stack.folder, to: away)
            let second = Tag(context: context)
            second.name = "second"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .fileNoSuchFile, "\(String(describing: error))")
            #expect(second.isInserted && context.hasChanges)
            try move(from: away, to: stack.folder)
            try context.save()
        }
        try stack.reopen()
        let names = try stack.story { try $0.fetch(Tag.fetchRequest()).compactMap { ($0 as? Tag)?.name } }
        #expect(Set(names) == ["first", "second"])
    }

    /// SQLite would go on with the pages that it remembers, and nobody would find them.
    @Test func saveWhereTheFileWasCutOffThrows() throws {
        let stack = try FileStack(.sqlite)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        try context.performAndWait {
            Tag(context: context).name = "first"
            try context.save()
            let whole = try Data(contentsOf: stack.url)
            try #require(truncate(stack.url.path, 0) == 0)
            let second = Tag(context: context)
            second.name = "second"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.code == .fileNoSuchFile, "\(String(describing: error))")
            #expect(error?.localizedDescription.contains("cut off") == true, "\(String(describing: error))")
            #expect(second.isInserted && context.hasChanges)
            let file = try FileHandle(forUpdating: stack.url)
            try file.write(contentsOf: whole)
            try file.close()
            try context.save()
        }
    }

    /// An entity that the table of numbers does not know is told as that.
    @Test(arguments: [
        "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Tag'", "UPDATE Z_PRIMARYKEY SET Z_SUPER = 'x' WHERE Z_NAME = 'Tag'",
    ])
    func missingNumbersAreTold(sql: String) throws {
        let stack = try FileStack(.sqlite)
        try stack.story { context in
            Tag(context: context).name = "tag"
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        let database = try SQLStore.makeDatabase(.init(path: stack.url.path))
        try database.write { try $0.execute(sql) }
        database.close()
        let error = #expect(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(validating: Library.model()).addPersistentStore(
                type: .sqlite, at: stack.url)
        }
        #expect(
            error?.localizedDescription.contains("Z_PRIMARYKEY has no row for the entity") == true,
            "\(String(describing: error))")
        #expect(error?.localizedDescription.contains("Tag") == true)
    }

    @Test(arguments: fileTypes + [.inMemory])
    func dictionariesOfAnEntityWithoutAttributes(type: NSPersistentStore.StoreType) throws {
        let model = NSManagedObjectModel()
        let bare = NSEntityDescription()
        bare.name = "Bare"
        model.entities = [bare]
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: folder.appendingPathComponent("store"))
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for _ in 0..<3 { _ = NSEntityDescription.insertNewObject(forEntityName: "Bare", into: context) }
            try context.save()
            let request = NSFetchRequest<NSDictionary>(entityName: "Bare")
            request.resultType = .dictionaryResultType
            #expect(try context.fetch(request).map(\.count) == [0, 0, 0])
            request.fetchLimit = 2
            #expect(try context.fetch(request).count == 2)
            request.returnsDistinctResults = true
            #expect(try context.fetch(request).count == 1)
        }
    }

    @Test func valuesOfAnotherKindAreListed() throws {
        let stack = try FileStack(.sqlite)
        try stack.story { context in
            Tag(context: context).name = "tag"
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        let sound = try NSPersistentStoreCoordinator.verifyPersistentStore(at: stack.url, model: Library.model())
        #expect(sound.findings.isEmpty)
        let database = try SQLStore.makeDatabase(.init(path: stack.url.path))
        try database.write { try $0.execute("UPDATE ZTAG SET ZNAME = X'ABCD'") }
        database.close()
        let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: stack.url, model: Library.model())
            .findings
        #expect(
            findings.count == 1 && "\(findings)".contains("of another kind than its attribute: blob"), "\(findings)")
    }

    /// Neither waited for nor replaced.
    @Test(arguments: [NSPersistentStore.StoreType.xml, .binary])
    func pipesAreRefused(type: NSPersistentStore.StoreType) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = folder.appendingPathComponent("pipe")
        try #require(mkfifo(pipe.path, 0o600) == 0)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = #expect(throws: CocoaError.self) { try coordinator.addPersistentStore(type: type, at: pipe) }
        #expect(error?.code.rawValue == NSPersistentStoreOpenError)
        #expect(error?.localizedDescription.contains("pipe") == true)
        var status = stat()
        #expect(stat(pipe.path, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test(arguments: fileTypes, [Double.infinity, -.infinity, .nan, 1e40, 1e18, -5])
    func strangeTimeoutsAreTheNearest(type: NSPersistentStore.StoreType, timeout: Double) throws {
        let stack = try FileStack(type)
        try stack.reopen([NSPersistentStoreTimeoutOption: timeout])
        try stack.story { context in
            Tag(context: context).name = "tag"
            try context.save()
        }
    }

    /// What the dictionary says of the type is not written: the file could not be opened any more.
    @Test(arguments: fileTypes)
    func metadataKeepTheType(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        var metadata = stack.coordinator.metadata(for: stack.store)
        metadata[NSStoreTypeKey] = "Foo"
        metadata["colour"] = "red"
        stack.coordinator.setMetadata(metadata, for: stack.store)
        try stack.story { context in
            Tag(context: context).name = "tag"
            try context.save()
        }
        try stack.reopen()
        #expect(stack.store.metadata["colour"] as? String == "red")
        #expect(stack.store.metadata[NSStoreTypeKey] as? String == type.rawValue)
    }

    /// SQLite keeps fifteen digits, and no decimal has an exponent as large as it writes.
    @Test(arguments: fileTypes + [.inMemory])
    func largestDecimalsAreNotLost(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = stack.coordinator
        try context.performAndWait {
            for (title, price) in [("most", NSDecimalNumber.maximum), ("least", .minimum)] {
                let book = Book(context: context)
                book.title = title
                book.setValue(price, forKey: "price")
            }
            try context.save()
            context.reset()
            for book in try context.fetch(Book.fetchRequest()).compactMap({ $0 as? Book }) {
                let price = try #require(book.value(forKey: "price") as? NSDecimalNumber)
                let expected = book.title == "most" ? 3.40282366920938e165 : -3.40282366920938e165
                #expect(abs(price.doubleValue / expected - 1) < 1e-14, "\(price)")
            }
            let request = NSFetchRequest<NSDictionary>(entityName: "Book")
            request.resultType = .dictionaryResultType
            request.propertiesToFetch = ["price"]
            #expect(try context.fetch(request).allSatisfy { $0["price"] is NSDecimalNumber })
        }
    }
}
