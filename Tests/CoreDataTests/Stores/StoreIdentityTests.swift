import CoreDataSQL
import CoreDataStore
import Foundation
import TestSupport
import Testing

@testable import CoreData

/// What a store says of itself, and who it is mistaken for (semantics S4, S5, S6).
@Suite struct StoreIdentityTests {
    static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]

    private func addTag(_ name: String, to coordinator: NSPersistentStoreCoordinator) throws {
        try FileStack.story(coordinator) { context in
            Tag(context: context).name = name
            try context.save()
        }
    }

    @Test("A copy of a file has its UUID: a coordinator takes one of them", arguments: types)
    func aCopyIsRefusedBesideItsOriginal(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        try addTag("a", to: stack.coordinator)
        let copy = stack.folder.appendingPathComponent("Copy.store")
        try stack.coordinator.copyPersistentStore(stack.store, to: copy)
        let bytes = try Data(contentsOf: copy)
        let error = try #require(throws: CocoaError.self) {
            try stack.coordinator.addPersistentStore(type: type, at: copy)
        }
        #expect(error.errorCode == NSPersistentStoreOpenError)
        for part in [copy.path, stack.url.path, stack.store.identifier ?? "?", NSStoreUUIDKey] {
            #expect(error.localizedDescription.contains(part), "\(error.localizedDescription)")
        }
        #expect(stack.coordinator.persistentStores.count == 1)
        #expect(try Data(contentsOf: copy) == bytes)
        // The way out that the message tells.
        var metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: copy)
        metadata[NSStoreUUIDKey] = UUID().uuidString
        try NSPersistentStoreCoordinator.setMetadata(metadata, type: type, at: copy)
        let added = try stack.coordinator.addPersistentStore(type: type, at: copy)
        try FileStack.story(stack.coordinator) { context in
            let tags = try context.all(Tag.self, "Tag")
            #expect(tags.count == 2 && Set(tags.map(\.objectID)).count == 2)
            let copied = try #require(tags.first { $0.objectID.persistentStore === added })
            copied.name = "b"
            try context.save()
        }
        try stack.coordinator.remove(added)
        #expect(try FileStack.story(stack.coordinator) { try $0.all(Tag.self, "Tag").map(\.name) } == ["a"])
    }

    @Test("S5: the same file twice is an error", arguments: types)
    func theSameFileTwiceIsRefused(type: NSPersistentStore.StoreType) throws {
        let stack = try FileStack(type)
        let error = try #require(throws: CocoaError.self) {
            try stack.coordinator.addPersistentStore(type: type, at: stack.url)
        }
        #expect(error.errorCode == NSPersistentStoreOpenError)
        try stack.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        try stack.coordinator.addPersistentStore(
            ofType: NSInMemoryStoreType, configurationName: nil, at: nil)
        #expect(stack.coordinator.persistentStores.count == 3)
    }

    // MARK: Metadata

    @Test(
        "An SQLite store without its metadata is refused, and left as it is",
        arguments: [
            "DELETE FROM Z_METADATA", "UPDATE Z_METADATA SET Z_UUID = NULL",
            "UPDATE Z_METADATA SET Z_PLIST = x'62706C697374303000'", "UPDATE Z_METADATA SET Z_PLIST = 'text'",
            "UPDATE Z_METADATA SET Z_PLIST = 7",
        ])
    func aStoreThatHasLostItsMetadataIsRefused(sql: String) throws {
        let stack = try FileStack(.sqlite)
        try addTag("a", to: stack.coordinator)
        try stack.coordinator.remove(stack.store)
        try execute(sql, in: stack.url)
        let bytes = try stack.bytes()
        let model = Library.model()
        let ways: [(String, () throws -> Void)] = [
            (
                "add",
                { try NSPersistentStoreCoordinator(validating: model).addPersistentStore(type: .sqlite, at: stack.url) }
            ),
            (
                "migrate",
                {
                    try NSPersistentStoreCoordinator(validating: model).addPersistentStore(
                        type: .sqlite, at: stack.url,
                        options: [
                            NSMigratePersistentStoresAutomaticallyOption: true,
                            NSInferMappingModelAutomaticallyOption: true, NSIgnorePersistentStoreVersioningOption: true,
                        ])
                }
            ),
            ("read", { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: stack.url) }),
            ("write", { try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: stack.url) }),
        ]
        for (name, way) in ways {
            let error = try #require(throws: CocoaError.self, "\(name)") { try way() }
            #expect(error.code == .fileReadCorruptFile, "\(name): \(error)")
            #expect(error.filePath == stack.url.path, "\(name)")
            #expect(
                error.localizedDescription.contains("coredata store recover \(stack.url.path)"),
                "\(name): \(error.localizedDescription)")
            #expect(error.localizedDescription.contains("Z_METADATA"))
        }
        #expect(try stack.bytes() == bytes)
        let findings = try NSPersistentStoreCoordinator.verifyPersistentStore(at: stack.url, model: model)
        #expect(!findings.isPassed)
        let recovered = stack.folder.appendingPathComponent("new/folder/Recovered.sqlite")
        let recovery = try NSPersistentStoreCoordinator.recoverPersistentStore(
            at: stack.url, to: recovered, model: model)
        #expect(recovery.entities.first { $0.name == "Tag" }?.objectCount == 1)
        let coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(type: .sqlite, at: recovered)
        #expect(try FileStack.story(coordinator) { try $0.all(Tag.self, "Tag").map(\.name) } == ["a"])
    }

    @Test("S9: what is recovered goes on with the keys of the damaged store") func recoveredKeys() throws {
        let stack = try FileStack(.sqlite)
        try FileStack.story(stack.coordinator) { context in
            let tags = (0..<5).map { _ in Tag(context: context) }
            try context.save()
            context.delete(tags[4])
            try context.save()
        }
        try stack.coordinator.remove(stack.store)
        let recovered = stack.folder.appendingPathComponent("Recovered.sqlite")
        _ = try NSPersistentStoreCoordinator.recoverPersistentStore(at: stack.url, to: recovered)
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: recovered)
        let before = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: stack.url)
        #expect(report.entities.first { $0.name == "Tag" }?.maximumKey == 5)
        #expect(report.entities.map(\.maximumKey) == before.entities.map(\.maximumKey))
    }

    // MARK: What is refused stays as it is

    private func execute(_ sql: String..., in url: URL) throws {
        let database = try SQLStore.makeDatabase(StoreOptionsForTests.journalled(url))
        defer { database.close() }
        try database.write { connection in for sql in sql { try connection.execute(sql) } }
    }

    @Test("A database of somebody else, and a store of another model, are byte for byte what they were")
    func whatIsRefusedIsNotChanged() throws {
        let stack = try FileStack(.sqlite)
        try addTag("a", to: stack.coordinator)
        try stack.coordinator.remove(stack.store)
        let foreign = stack.folder.appendingPathComponent("foreign.sqlite")
        try execute("CREATE TABLE people (name TEXT)", in: foreign)
        try execute("PRAGMA user_version = 1", in: stack.url)
        let other = Library.model()
        other.entitiesByName["Tag"]?.properties.append(Library.attribute("color", .stringAttributeType))
        for (url, model, code) in [
            (foreign, Library.model(), NSPersistentStoreInvalidTypeError),
            (stack.url, other, NSPersistentStoreIncompatibleVersionHashError),
        ] {
            let bytes = try Data(contentsOf: url)
            // A journal, and no log.
            #expect(bytes[18] == 1, "\(url.lastPathComponent)")
            let error = try #require(throws: CocoaError.self) {
                try NSPersistentStoreCoordinator(validating: model).addPersistentStore(type: .sqlite, at: url)
            }
            #expect(error.errorCode == code, "\(error)")
            if url == foreign {
                #expect(throws: CocoaError.self) {
                    try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: url)
                }
            }
            #expect(try Data(contentsOf: url) == bytes, "\(url.lastPathComponent)")
            for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: url.path + suffix)) }
        }
        try stack.reopen()
        #expect(try stack.bytes()[18] == 2, "What fits is switched to a log when it is opened.")
        #expect(try FileStack.story(stack.coordinator) { try $0.all(Tag.self, "Tag").map(\.name) } == ["a"])
    }

    @Test(arguments: ["DELETE", "wal"]) func aJournalThatWasAskedForIsThere(mode: String) throws {
        let stack = try FileStack(.sqlite)
        try stack.coordinator.remove(stack.store)
        for locking in ["NORMAL", "EXCLUSIVE"] {
            try stack.reopen([NSSQLitePragmasOption: ["journal_mode": mode, "locking_mode": locking]])
            try addTag(locking, to: stack.coordinator)
            #expect(try stack.bytes()[18] == (mode == "wal" ? 2 : 1), "\(locking)")
        }
    }

    @Test func aPragmaThatIsRefusedLeavesNoFile() throws {
        let stack = try FileStack(.sqlite)
        let url = stack.folder.appendingPathComponent("deep/new.sqlite")
        let error = try #require(throws: CocoaError.self) {
            try NSPersistentStoreCoordinator(validating: Library.model()).addPersistentStore(
                type: .sqlite, at: url, options: [NSSQLitePragmasOption: ["no name": "1"]])
        }
        #expect(error.localizedDescription.contains("no name"), "\(error)")
        #expect(!FileManager.default.fileExists(atPath: stack.folder.appendingPathComponent("deep").path))
        #expect(throws: CocoaError.self) { _ = try stack.newCoordinator([NSSQLitePragmasOption: ["no name": "1"]]) }
        #expect(FileManager.default.fileExists(atPath: stack.url.path))
    }
}

/// Opens files with a journal in place of a log.
enum StoreOptionsForTests {
    static func journalled(_ url: URL) throws -> DatabaseOptions {
        var options = StoreOptions(path: url.path).database
        options.pragmas = ["journal_mode": "DELETE"]
        return options
    }
}
