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

    /// A store with a thousand tags, all of them in the file.
    private func bigStack() throws -> FileStack {
        let stack = try FileStack(.sqlite)
        try stack.story { context in
            for number in 0..<2000 {
                Tag(context: context).name = "tag \(number) " + String(repeating: "x", count: 200)
            }
            try context.save()
        }
        try stack.reopen()
        return stack
    }

    /// SQLite takes what its log says for the length of the file.
    @Test(arguments: [true, false]) func saveWhereAPartWasCutOffThrows(isFirst: Bool) throws {
        let stack = try bigStack()
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = stack.coordinator
        try context.performAndWait {
            let tag = try #require(try context.fetch(Tag.fetchRequest()).first as? Tag)
            if !isFirst {
                tag.name = "before"
                try context.save()
            }
            let whole = try Data(contentsOf: stack.url)
            try #require(truncate(stack.url.path, whole.count / 2 / 4096 * 4096) == 0)
            tag.name = "after"
            let error = #expect(throws: CocoaError.self) { try context.save() }
            #expect(error?.errorCode == 259, "\(String(describing: error))")
            // Where there is no log yet SQLite notices.
            let words = isFirst ? "damaged" : "cut off"
            #expect(error?.localizedDescription.contains(words) == true, "\(String(describing: error))")
            #expect(context.hasChanges && tag.name == "after")
            try truncated(stack.url, to: whole)
            try context.save()
        }
        try stack.reopen()
        #expect(try stack.story { try $0.count(for: Tag.fetchRequest()) } == 2000)
    }

    /// What is written into the file that is there, as it was.
    private func truncated(_ url: URL, to whole: Data) throws {
        let file = try FileHandle(forUpdating: url)
        try file.write(contentsOf: whole)
        try file.close()
    }

    /// A vacuum makes a file shorter, and nothing is missing.
    @Test func aFileThatWasVacuumedIsNotCutOff() throws {
        let stack = try bigStack()
        try stack.story { context in
            let tags = try context.all(Tag.self, "Tag")
            for tag in tags.dropFirst(10) { context.delete(tag) }
            try context.save()
            let other = try stack.newCoordinator([NSSQLiteManualVacuumOption: NSNumber(value: true)])
            try FileStack.story(other) { context in
                Tag(context: context).name = "elsewhere"
                try context.save()
            }
            for store in other.persistentStores { try other.remove(store) }
            tags[0].name = "after"
            try context.save()
        }
        try stack.reopen()
        #expect(try stack.story { try $0.count(for: Tag.fetchRequest()) } == 11)
    }

    /// A copy that was cut off, with the log that its store had while it was open.
    @Test func aPartThatWasCutOffBesideALogIsAnError() throws {
        let stack = try bigStack()
        let copy = stack.folder.appendingPathComponent("copy.sqlite")
        try stack.story { context in
            Tag(context: context).name = "in the log"
            try context.save()
            for suffix in ["", "-wal"] {
                try FileManager.default.copyItem(atPath: stack.url.path + suffix, toPath: copy.path + suffix)
            }
        }
        let whole = try Data(contentsOf: copy)
        try whole.prefix(whole.count / 2 / 4096 * 4096).write(to: copy)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Library.model())
        let error = try #require(throws: CocoaError.self) {
            try coordinator.addPersistentStore(type: .sqlite, at: copy)
        }
        #expect(error.errorCode == 259, "\(error)")
        try whole.write(to: copy)
        try coordinator.addPersistentStore(type: .sqlite, at: copy)
        #expect(try FileStack.story(coordinator) { try $0.count(for: Tag.fetchRequest()) } == 2001)
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
        try stack.story { (context) throws in
            #expect(try context.fetch(NSFetchRequest<Tag>(entityName: "Tag")).map(\.name) == ["tag"])
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
