import CoreData
import Foundation
import Testing

// semantics S3: stores that move to another place or type
@Suite struct MigrationBetweenStoresTests {
    private static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary, .inMemory]

    /// Values that every type keeps: SQLite has no more than 15 digits of a decimal.
    private static func fill(_ context: NSManagedObjectContext) throws {
        try FileStack.fill(context)
        for book in try context.all(Book.self, "Book") {
            book.price = book.price.map { _ in Decimal(string: "12.5") ?? 0 }
            if book.rating.isInfinite { book.rating = 7 }
        }
        try context.save()
    }

    @Test("S3: everything is in the new store, whatever its type and the old one's", arguments: types, types)
    func everyPair(from: NSPersistentStore.StoreType, to: NSPersistentStore.StoreType) throws {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        let stack = try FileStack(from, model: model)
        let cover = Data(repeating: 7, count: 300 << 10)
        try stack.story { context in
            try Self.fill(context)
            try #require(try context.all(Book.self, "Book").first).cover = cover
            try context.save()
        }
        let picture = try FileStack.picture(stack.coordinator)
        let old = stack.store
        stack.coordinator.setMetadata(["color": "red"], for: old)
        let url = stack.folder.appendingPathComponent("moved")
        let new = try stack.coordinator.migratePersistentStore(old, to: url, type: to)
        #expect(stack.coordinator.persistentStores.map(ObjectIdentifier.init) == [ObjectIdentifier(new)])
        #expect(new.type == to.rawValue)
        #expect(new.identifier != old.identifier)
        #expect(new.metadata["color"] as? String == "red")
        #expect(new.metadata[NSStoreTypeKey] as? String == to.rawValue)
        #expect(try FileStack.picture(stack.coordinator) == picture)
        #expect(from == .inMemory || FileManager.default.fileExists(atPath: stack.url.path))
        if to == .sqlite {
            let external = stack.folder.appendingPathComponent(".moved_SUPPORT/_EXTERNAL_DATA").path
            #expect(try FileManager.default.contentsOfDirectory(atPath: external).count == 1)
        }
        try stack.story { context in
            Tag(context: context).name = "new"
            try context.save()
        }
        guard to != .inMemory else { return }
        try stack.coordinator.remove(new)
        let again = try stack.coordinator.addPersistentStore(type: to, at: url)
        #expect(again.metadata["color"] as? String == "red")
        #expect(try FileStack.picture(stack.coordinator).count == picture.count + 1)
    }

    @Test("S3: the notifications, in their order")
    func notifications() throws {
        let stack = try FileStack(.sqlite)
        let old = stack.store
        let told = Recorder()
        let center = NotificationCenter.default
        let tokens = [
            center.addObserver(
                forName: .NSPersistentStoreCoordinatorStoresDidChange, object: stack.coordinator, queue: nil
            ) { notification in
                let keys = (notification.userInfo ?? [:]).keys.compactMap { $0 as? String }.sorted()
                told.note("did change: \(keys.joined(separator: " "))")
                let changed = notification.userInfo?[NSUUIDChangedPersistentStoresKey] as? [NSPersistentStore]
                if let changed { told.note(changed.map(\.type).joined(separator: " → ")) }
            },
            center.addObserver(
                forName: .NSPersistentStoreCoordinatorWillRemoveStore, object: old, queue: nil
            ) { _ in told.note("will remove") },
        ]
        defer { tokens.forEach { center.removeObserver($0) } }
        try stack.coordinator.migratePersistentStore(
            old, to: stack.folder.appendingPathComponent("new"), withType: NSBinaryStoreType)
        #expect(
            told.notes == [
                "did change: added", "will remove", "did change: removed", "did change: changed", "SQLite → Binary",
            ])
    }

    @Test("Rows keep their keys, but in an XML store")
    func keys() throws {
        let stack = try FileStack(.sqlite)
        try stack.story { try Self.fill($0) }
        func ids() throws -> [String: String] {
            try stack.story { context in
                let books = try context.all(Book.self, "Book")
                return Dictionary(
                    uniqueKeysWithValues: books.map {
                        ($0.title ?? "", $0.objectID.uriRepresentation().lastPathComponent)
                    })
            }
        }
        let before = try ids()
        for (name, type) in [("b", NSBinaryStoreType), ("s", NSSQLiteStoreType)] {
            try stack.coordinator.migratePersistentStore(
                stack.store, to: stack.folder.appendingPathComponent(name), withType: type)
            #expect(try ids() == before)
        }
        try stack.coordinator.migratePersistentStore(
            stack.store, to: stack.folder.appendingPathComponent("x"), withType: NSXMLStoreType)
        #expect(try ids().keys.sorted() == before.keys.sorted())
        #expect(try Set(ids().values).isDisjoint(with: before.values))
    }

    @Test("What is in the way, or not there, is an error, and the old store stays")
    func failures() throws {
        let stack = try FileStack(.sqlite)
        try stack.story { try Self.fill($0) }
        let picture = try FileStack.picture(stack.coordinator)
        let taken = stack.folder.appendingPathComponent("taken")
        try Data("something".utf8).write(to: taken)
        for type in Self.types where type != .inMemory {
            let error = try #require(throws: CocoaError.self) {
                try stack.coordinator.migratePersistentStore(stack.store, to: taken, type: type)
            }
            #expect(error.code == .fileWriteFileExists)
            let folder = try #require(throws: CocoaError.self) {
                try stack.coordinator.migratePersistentStore(
                    stack.store, to: taken.appendingPathComponent("no/such"), type: type)
            }
            #expect(folder.code == .fileWriteUnknown)
        }
        #expect(throws: CocoaError.self) {
            try stack.coordinator.migratePersistentStore(stack.store, to: taken, withType: "Strange")
        }
        #expect(stack.coordinator.persistentStores.count == 1)
        #expect(try FileStack.picture(stack.coordinator) == picture)
        #expect(try Data(contentsOf: taken) == Data("something".utf8))
    }

    @Test("A value that cannot be read stops the migration, and nothing is left of the new store")
    func missingExternalData() throws {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        let stack = try FileStack(.sqlite, model: model)
        try stack.story { context in
            let book = Book(context: context)
            book.title = "Emma"
            book.cover = Data(repeating: 7, count: 300 << 10)
            try context.save()
        }
        try FileManager.default.removeItem(at: stack.folder.appendingPathComponent(".Library_SUPPORT"))
        for type in Self.types where type != .inMemory {
            let url = stack.folder.appendingPathComponent("new-\(type.rawValue)")
            let error = try #require(throws: CocoaError.self) {
                try stack.coordinator.migratePersistentStore(stack.store, to: url, type: type)
            }
            #expect(error.code == .fileReadNoSuchFile)
            #expect(!FileManager.default.fileExists(atPath: url.path))
        }
        #expect(stack.coordinator.persistentStores.count == 1)
    }

    @Test("S1: a store in use is copied with its log and its external data")
    func copyOfLiveStore() throws {
        let stack = try FileStack(.sqlite)
        try stack.story { try Self.fill($0) }
        let copy = stack.folder.appendingPathComponent("copy.sqlite")
        try stack.coordinator.copyPersistentStore(stack.store, to: copy)
        let other = try NSPersistentStoreCoordinator(validating: Library.model())
        let store = try other.addPersistentStore(type: .sqlite, at: copy)
        #expect(store.identifier == stack.store.identifier)
        #expect(try FileStack.picture(other) == FileStack.picture(stack.coordinator))
    }

    /// What was told, on whatever thread.
    private final class Recorder: @unchecked Sendable {
        // Safe because the lock guards the notes.
        private let lock = NSLock()
        private var list: [String] = []
        var notes: [String] { lock.withLock { list } }
        func note(_ text: String) { lock.withLock { list.append(text) } }
    }
}
