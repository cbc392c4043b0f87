import CoreDataStore
import Foundation
import Testing

@testable import CoreData

/// Stores that are opened through a symbolic link to their file (semantics S1).
@Suite struct LinkedStoreTests {
    static let types: [NSPersistentStore.StoreType] = [.sqlite, .xml, .binary]

    private static func model() -> NSManagedObjectModel {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        return model
    }

    /// Two folders: one with the file, one with a link to it.
    private final class Place {
        let folder: URL
        let file: URL
        let link: URL

        init() throws {
            folder = FileManager.default.temporaryDirectory.appendingPathComponent("links-\(UUID().uuidString)")
            file = folder.appendingPathComponent("real/Library.store")
            link = folder.appendingPathComponent("links/Other.store")
            for url in [file, link] {
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            }
            // By way of another link, and relative.
            let next = folder.appendingPathComponent("links/Next.store")
            try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "Next.store")
            try FileManager.default.createSymbolicLink(
                atPath: next.path, withDestinationPath: "../real/Library.store")
        }

        deinit { try? FileManager.default.removeItem(at: folder) }

        /// What lies beside the links.
        func strays() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: link.deletingLastPathComponent().path)
                .filter { !["Next.store", "Other.store"].contains($0) }.sorted()
        }

        func names() throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: file.deletingLastPathComponent().path).sorted()
        }
    }

    private static let cover = Data(repeating: 7, count: 200 << 10)

    private func add(_ url: URL, _ type: NSPersistentStore.StoreType) throws -> NSPersistentStoreCoordinator {
        let coordinator = try NSPersistentStoreCoordinator(validating: Self.model())
        try coordinator.addPersistentStore(type: type, at: url)
        return coordinator
    }

    private func addBook(_ coordinator: NSPersistentStoreCoordinator) throws {
        try FileStack.story(coordinator) { context in
            let book = Book(context: context)
            book.title = "Emma"
            book.cover = Self.cover
            try context.save()
        }
    }

    private func covers(_ coordinator: NSPersistentStoreCoordinator) throws -> [Data?] {
        try FileStack.story(coordinator) { try $0.all(Book.self, "Book").map(\.cover) }
    }

    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    @Test("A link that leads nowhere: the store is made where it leads", arguments: types)
    func aStoreIsMadeThroughALink(type: NSPersistentStore.StoreType) throws {
        let place = try Place()
        let linked = try add(place.link, type)
        #expect(linked.persistentStores[0].url == place.link)
        #expect(linked.persistentStore(for: place.file) === linked.persistentStores[0])
        try addBook(linked)
        #expect(try covers(linked) == [Self.cover])
        try close(linked)
        #expect(try place.strays() == [])
        #expect(try place.names() == (type == .sqlite ? [".Library_SUPPORT", "Library.store"] : ["Library.store"]))
        let direct = try add(place.file, type)
        #expect(try covers(direct) == [Self.cover])
        try addBook(direct)
        try close(direct)
        let again = try add(place.link, type)
        #expect(try covers(again) == [Self.cover, Self.cover])
    }

    @Test(arguments: types) func theSameFileIsTakenOnce(type: NSPersistentStore.StoreType) throws {
        let place = try Place()
        let coordinator = try add(place.file, type)
        let error = try #require(throws: CocoaError.self) {
            try coordinator.addPersistentStore(type: type, at: place.link)
        }
        #expect(error.errorCode == NSPersistentStoreOpenError)
        #expect(coordinator.persistentStores.count == 1)
    }

    @Test(arguments: types) func aStoreIsDestroyedThroughALinkAndMadeAgain(type: NSPersistentStore.StoreType) throws {
        let place = try Place()
        let coordinator = try add(place.file, type)
        try addBook(coordinator)
        try coordinator.destroyPersistentStore(at: place.link, type: type)
        #expect(coordinator.persistentStores.isEmpty)
        #expect(try place.names() == (type == .sqlite ? ["Library.store"] : []))
        try coordinator.addPersistentStore(type: type, at: place.link)
        #expect(try covers(coordinator) == [])
        #expect(try place.strays() == [])
        let attributes = try FileManager.default.attributesOfItem(atPath: place.link.path)
        #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
    }

    @Test(arguments: types) func aStoreIsReplacedAndCopiedThroughALink(type: NSPersistentStore.StoreType) throws {
        let place = try Place()
        let source = try add(place.link, type)
        try addBook(source)
        try close(source)
        let copy = place.folder.appendingPathComponent("copies/Copy.store")
        let coordinator = try NSPersistentStoreCoordinator(validating: Self.model())
        try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: place.link, type: type)
        #expect(try covers(try add(copy, type)) == [Self.cover])
        // And back over the link, to where nothing is.
        try FileManager.default.removeItem(at: place.file.deletingLastPathComponent())
        try coordinator.replacePersistentStore(at: place.link, withPersistentStoreFrom: copy, type: type)
        #expect(try place.strays() == [])
        #expect(try covers(try add(place.file, type)) == [Self.cover])
    }

    @Test(arguments: types) func aStoreIsMovedThroughALink(type: NSPersistentStore.StoreType) throws {
        let place = try Place()
        let stack = try FileStack(.sqlite, model: Self.model())
        try addBook(stack.coordinator)
        try stack.coordinator.migratePersistentStore(stack.store, to: place.link, type: type)
        #expect(try covers(stack.coordinator) == [Self.cover])
        #expect(stack.store.url == place.link)
        try close(stack.coordinator)
        #expect(try place.strays() == [])
        let next = try add(place.link, type)
        try next.migratePersistentStore(
            next.persistentStores[0], to: place.folder.appendingPathComponent("Next.sqlite"), type: .sqlite)
        #expect(try covers(next) == [Self.cover])
    }

    @Test(arguments: types) func aStoreIsMigratedThroughALink(type: NSPersistentStore.StoreType) throws {
        let place = try Place()
        let old = try add(place.link, type)
        try addBook(old)
        try close(old)
        let newer = Self.model()
        newer.entitiesByName["Book"]?.properties.append(Library.attribute("shelf", .stringAttributeType))
        let migration = LightweightMigration(
            to: newer, configuration: nil, type: type.rawValue, source: Self.model())
        #expect(try migration.run(at: place.link, options: nil))
        let coordinator = try NSPersistentStoreCoordinator(validating: newer)
        try coordinator.addPersistentStore(type: type, at: place.file)
        #expect(try covers(coordinator) == [Self.cover])
        try close(coordinator)
        #expect(try place.strays() == [])
        #expect(try place.names() == (type == .sqlite ? [".Library_SUPPORT", "Library.store"] : ["Library.store"]))
    }

    @Test func aLinkIsFollowedAsTheSystemFollowsIt() throws {
        let place = try Place()
        #expect(FileLink.followed(place.link.path).hasSuffix("/links/../real/Library.store"))
        #expect(FileLink.followed(place.file.path) == place.file.path)
        let loop = place.folder.appendingPathComponent("loop")
        try FileManager.default.createSymbolicLink(atPath: loop.path, withDestinationPath: "loop")
        #expect(FileLink.followed(loop.path) == loop.path)
    }

    @Test(arguments: types) func aStoreIsNotReplacedByItselfUnderAnotherName(type: NSPersistentStore.StoreType) throws {
        let place = try Place()
        let coordinator = try add(place.file, type)
        try addBook(coordinator)
        try close(coordinator)
        let name = place.folder.appendingPathComponent("real/Name.store")
        try FileManager.default.linkItem(at: place.file, to: name)
        for other in [name, place.link, place.file] {
            let error = try #require(throws: CocoaError.self) {
                try coordinator.replacePersistentStore(at: other, withPersistentStoreFrom: place.file, type: type)
            }
            #expect(error.errorCode == NSPersistentStoreOperationError && error.localizedDescription.contains("itself"))
        }
        #expect(try covers(try add(place.file, type)) == [Self.cover])
    }

    /// Of the path itself and of a folder in it.
    @Test(arguments: ["loop", "loop/Library.store"])
    func aCircleOfLinksIsTheSameErrorForAllTypes(name: String) throws {
        let place = try Place()
        try FileManager.default.createSymbolicLink(
            atPath: place.folder.appendingPathComponent("loop").path, withDestinationPath: "loop")
        let loop = place.folder.appendingPathComponent(name)
        var messages: Set<String> = []
        for type in Self.types {
            let file = place.folder.appendingPathComponent("made.\(type.rawValue)")
            let coordinator = try add(file, type)
            let uses: [(NSPersistentStoreCoordinator) throws -> Void] = [
                { _ = try $0.addPersistentStore(type: type, at: loop) },
                { _ in _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: loop) },
                { _ in try NSPersistentStoreCoordinator.setMetadata([:], type: type, at: loop) },
                { try $0.destroyPersistentStore(at: loop, type: type) },
                { try $0.replacePersistentStore(at: loop, withPersistentStoreFrom: file, type: type) },
                { try $0.replacePersistentStore(at: file, withPersistentStoreFrom: loop, type: type) },
                { _ = try $0.migratePersistentStore($0.persistentStores[0], to: loop, type: type) },
                { try $0.copyPersistentStore($0.persistentStores[0], to: loop) },
            ]
            for (number, use) in uses.enumerated() {
                let error = try #require(throws: CocoaError.self, "\(type) \(number)") { try use(coordinator) }
                #expect(error.errorCode == NSPersistentStoreOpenError, "\(type) \(number): \(error)")
                #expect(error.filePath == loop.path)
                messages.insert(error.localizedDescription)
            }
            #expect(coordinator.persistentStores.count == 1)
        }
        #expect(messages.count == 1 && messages.first?.contains("symbolic links") == true, "\(messages)")
    }
}
