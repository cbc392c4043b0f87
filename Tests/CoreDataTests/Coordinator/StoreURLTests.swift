import CoreData
import Foundation
import Testing

/// A URL that leads to no file is refused before anything is made: its path is somebody else's.
@Suite struct StoreURLTests {
    private struct Entry: Sendable {
        var name: String
        var code = 262
        var run: @Sendable (URL) throws -> Void
    }

    private static func coordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: Library.model())
    }

    private static let entries: [Entry] = [
        Entry(name: "add") { url in
            try coordinator().addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: nil)
        },
        Entry(name: "add, type") { try coordinator().addPersistentStore(type: .sqlite, at: $0) },
        Entry(name: "add, read-only") {
            try coordinator().addPersistentStore(
                type: .sqlite, at: $0, options: [NSReadOnlyPersistentStoreOption: NSNumber(value: true)])
        },
        Entry(name: "add, description") { url in
            var failure: (any Error)?
            coordinator().addPersistentStore(with: NSPersistentStoreDescription(url: url)) { failure = $1 }
            if let failure { throw failure }
        },
        Entry(name: "container") { url in
            let container = NSPersistentContainer(name: "Library", managedObjectModel: Library.model())
            container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
            var failure: (any Error)?
            container.loadPersistentStores { failure = $1 }
            if let failure { throw failure }
        },
        Entry(name: "metadata") {
            _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: $0)
        },
        Entry(name: "set metadata", code: 518) {
            try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: $0)
        },
        Entry(name: "report") { _ = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: $0) },
        Entry(name: "verify") { _ = try NSPersistentStoreCoordinator.verifyPersistentStore(at: $0) },
        Entry(name: "cached model") { _ = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: $0) },
        Entry(name: "model") { _ = try NSManagedObjectModel.load(contentsOf: $0) },
        Entry(name: "versions") { _ = try NSManagedObjectModel.versionNames(at: $0) },
    ]

    @Test(arguments: ["http://a.b", "", "x-coredata:", "https:"])
    func aURLOfNoFileIsRefused(start: String) throws {
        for entry in Self.entries {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("urls-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.path + (entry.name == "container" ? "/deep/c.sqlite" : "/c.sqlite")
            let url = try #require(URL(string: start + path))
            do {
                try entry.run(url)
                Issue.record("\(entry.name): no error for \(url.absoluteString)")
            } catch let error as CocoaError {
                #expect(error.errorCode == entry.code, "\(entry.name): \(error.localizedDescription)")
                #expect(error.localizedDescription.contains("'\(url.absoluteString)' is not the URL of a file"))
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [], "\(entry.name)")
        }
        #expect(NSManagedObjectModel(contentsOf: try #require(URL(string: "http://a.b/m.momd"))) == nil)
    }

    @Test func aURLOfNoFileFindsNoStoreOfAFile() throws {
        let stack = try LibraryStack()
        #expect(stack.coordinator.persistentStore(for: stack.url) != nil)
        #expect(stack.coordinator.persistentStore(for: try #require(URL(string: "http://a.b\(stack.url.path)"))) == nil)
    }

    @Test(arguments: ["file:///dev/null", "/dev/null"]) func theNullDeviceIsAStoreInMemory(text: String) throws {
        let store = try Self.coordinator().addPersistentStore(type: .sqlite, at: #require(URL(string: text)))
        #expect(!store.isReadOnly)
    }

    @Test("S4: the folder of a store is made with it", arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
    func missingFolder(type: NSPersistentStore.StoreType) throws {
        let stack = try LibraryStack()
        let url = stack.folder.appendingPathComponent("no/such/m.store")
        let folder = stack.folder.appendingPathComponent("no")
        // What comes to nothing leaves nothing.
        let unknown = try #require(throws: CocoaError.self) {
            try Self.coordinator().addPersistentStore(type: type, configuration: "none", at: url)
        }
        #expect(unknown.localizedDescription.contains("no configuration 'none'"))
        #expect(!FileManager.default.fileExists(atPath: folder.path))
        try Self.coordinator().addPersistentStore(type: type, at: url)
        #expect(FileManager.default.fileExists(atPath: url.path))
        let copy = stack.folder.appendingPathComponent("also/not/there/m.store")
        try Self.coordinator().replacePersistentStore(at: copy, withPersistentStoreFrom: url, type: type)
        let moved = stack.folder.appendingPathComponent("nor/here/m.store")
        try stack.coordinator.migratePersistentStore(stack.coordinator.persistentStores[0], to: moved, type: type)
        let copied = stack.folder.appendingPathComponent("nor/there/m.store")
        try stack.coordinator.copyPersistentStore(stack.coordinator.persistentStores[0], to: copied)
        for url in [copy, moved, copied] { #expect(FileManager.default.fileExists(atPath: url.path), "\(url.path)") }
    }

    @Test("A folder that cannot be made is named", arguments: [NSPersistentStore.StoreType.sqlite, .xml, .binary])
    func impossibleFolder(type: NSPersistentStore.StoreType) throws {
        let stack = try LibraryStack()
        // Below a file there is none, not even for root.
        let file = stack.folder.appendingPathComponent("file")
        try Data().write(to: file)
        let url = file.appendingPathComponent("no/m.store")
        let store = stack.coordinator.persistentStores[0]
        let ways: [(String, () throws -> Void)] = [
            ("add", { try Self.coordinator().addPersistentStore(type: type, at: url) }),
            ("migrate", { try stack.coordinator.migratePersistentStore(store, to: url, type: type) }),
            ("copy", { try stack.coordinator.copyPersistentStore(store, to: url) }),
        ]
        for (name, way) in ways {
            let error = try #require(throws: CocoaError.self) { try way() }
            #expect(error.code == .fileWriteUnknown, "\(name): \(error)")
            #expect(
                error.localizedDescription.contains(
                    "The store '\(url.path)' cannot be made, since the folder '\(file.path)/no' cannot be"),
                "\(name): \(error)")
        }
        #expect(stack.coordinator.persistentStores == [store])
    }

    @Test("A store that is only to be read and is not there is 260", arguments: ["m.sqlite", "no/m.sqlite"])
    func missingFile(name: String) throws {
        let stack = try LibraryStack()
        let url = stack.folder.appendingPathComponent(name)
        let readOnly: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: NSNumber(value: true)]
        let ways: [() throws -> Void] = [
            { try Self.coordinator().addPersistentStore(type: .sqlite, at: url, options: readOnly) },
            { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url) },
            { try NSPersistentStoreCoordinator.setMetadata(["a": 1], type: .sqlite, at: url) },
        ]
        for way in ways {
            let error = try #require(throws: CocoaError.self) { try way() }
            #expect(error.code == .fileReadNoSuchFile)
            #expect(error.localizedDescription.hasPrefix("There is no store at '\(url.path)'"))
            #expect(error.filePath == url.path)
        }
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }
}
