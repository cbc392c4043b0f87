import CoreData
import Foundation
import Testing

// semantics S2: stores as files
@Suite struct StoreFilesTests {
    private static func model() -> NSManagedObjectModel {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        return model
    }

    /// Waits for nobody.
    private static var noTime: [AnyHashable: Any] { [NSPersistentStoreTimeoutOption: NSNumber(value: 0)] }

    private static func cover(_ byte: UInt8) -> Data { Data(repeating: byte, count: 200 << 10) }

    /// A store with books of these titles, each with a cover in a file.
    private func library(_ titles: [String]) throws -> LibraryStack {
        let stack = try LibraryStack(model: Self.model())
        try stack.story { try addBooks(titles, to: $0) }
        return stack
    }

    private func addBooks(_ titles: [String], to context: NSManagedObjectContext) throws {
        for (index, title) in titles.enumerated() {
            let book = Book(context: context)
            book.title = title
            book.cover = Self.cover(UInt8(index + titles.count))
        }
        try context.save()
    }

    private func titles(at url: URL) throws -> [String] {
        let stack = try LibraryStack(opening: url, model: Self.model())
        defer { stack.coordinator.persistentStores.forEach { try? stack.coordinator.remove($0) } }
        return try stack.story { context in
            let books = try context.all(Book.self, "Book")
            #expect(books.allSatisfy { $0.cover?.count == 200 << 10 })
            return books.compactMap(\.title).sorted()
        }
    }

    private func closed(_ stack: LibraryStack) throws -> URL {
        for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) }
        return stack.url
    }

    private func names(_ folder: URL) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func externalNames(_ stack: LibraryStack) throws -> [String] {
        try names(stack.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA"))
    }

    private static func coordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: model())
    }

    // MARK: Destroying

    @Test("S2: destroying leaves an empty file, no log and no external data; a new store can be made there")
    func destroy() throws {
        let stack = try library(["Emma"])
        let url = try closed(stack)
        try Self.coordinator().destroyPersistentStore(at: url, ofType: NSSQLiteStoreType)
        #expect(try names(stack.folder) == ["Library.sqlite"])
        #expect(try Data(contentsOf: url).isEmpty)
        #expect(try titles(at: url) == [])
        try Self.coordinator().destroyPersistentStore(at: url, type: .sqlite)
        #expect(try Data(contentsOf: url).isEmpty)
    }

    @Test func destroyingAStoreOfTheCoordinatorRemovesIt() throws {
        let stack = try library(["Emma"])
        let old = stack.coordinator.persistentStores[0].identifier
        try stack.coordinator.destroyPersistentStore(at: stack.url, ofType: NSSQLiteStoreType)
        #expect(stack.coordinator.persistentStores.isEmpty)
        let store = try stack.coordinator.addPersistentStore(type: .sqlite, at: stack.url)
        #expect(store.identifier != old)
        #expect(try stack.story { try $0.all(Book.self, "Book").count } == 0)
    }

    @Test func aStoreThatIsOpenElsewhereIsNotDestroyed() throws {
        let stack = try library(["Emma"])
        let error = try #require(throws: CocoaError.self) {
            try Self.coordinator().destroyPersistentStore(at: stack.url, type: .sqlite, options: Self.noTime)
        }
        #expect(error.code == .persistentStoreTimeout)
        #expect(error.localizedDescription.contains("'\(stack.url.path)' is open elsewhere"))
        #expect(try stack.story { try $0.all(Book.self, "Book").map(\.cover) } == [Self.cover(1)])
        try stack.story { try addBooks(["Persuasion"], to: $0) }
        #expect(try titles(at: stack.url) == ["Emma", "Persuasion"])
    }

    @Test func whereThereIsNothingNothingIsDestroyed() throws {
        let stack = try library([])
        let missing = stack.folder.appendingPathComponent("missing.sqlite")
        try Self.coordinator().destroyPersistentStore(at: missing, type: .sqlite)
        #expect(!FileManager.default.fileExists(atPath: missing.path))
        try Self.coordinator().destroyPersistentStore(at: URL(fileURLWithPath: "/dev/null"), type: .sqlite)
        try stack.coordinator.destroyPersistentStore(at: stack.url, type: .inMemory)
        #expect(stack.coordinator.persistentStores.count == 1)
    }

    @Test func whatIsNoStoreIsNotDestroyed() throws {
        let stack = try library(["Emma"])
        let url = stack.folder.appendingPathComponent("text")
        let text = Data(String(repeating: "What is no store. ", count: 100).utf8)
        try text.write(to: url)
        let error = try #require(throws: CocoaError.self) {
            try Self.coordinator().destroyPersistentStore(at: url, type: .sqlite)
        }
        #expect(error.code == .fileReadCorruptFile)
        #expect(try Data(contentsOf: url) == text)
        let readOnly: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: NSNumber(value: true)]
        let refused = try #require(throws: CocoaError.self) {
            try stack.coordinator.destroyPersistentStore(at: stack.url, type: .sqlite, options: readOnly)
        }
        #expect(refused.code == .fileWriteNoPermission)
        #expect(stack.coordinator.persistentStores.count == 1)
    }

    @Test func aDamagedStoreIsDestroyed() throws {
        let stack = try library(["Emma"])
        let url = try closed(stack)
        var bytes = try Data(contentsOf: url)
        for index in 16..<200 { bytes[index] = 0xA5 }
        try bytes.write(to: url)
        try Self.coordinator().destroyPersistentStore(at: url, type: .sqlite)
        #expect(try titles(at: url) == [])
    }

    // MARK: Moving

    @Test func aStoreLiesWhereItWasMovedTo() throws {
        let stack = try library(["Emma"])
        let store = stack.coordinator.persistentStores[0]
        let new = stack.folder.appendingPathComponent("new")
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        let moved = new.appendingPathComponent("Library.sqlite")
        try Self.coordinator().replacePersistentStore(at: moved, withPersistentStoreFrom: stack.url, type: .sqlite)
        #expect(stack.coordinator.setURL(moved, for: store))
        #expect(store.url == moved && stack.coordinator.url(for: store) == moved)
        #expect(stack.coordinator.persistentStore(for: stack.url) == nil)
        try stack.story { context in
            #expect(try context.all(Book.self, "Book").map(\.cover) == [Self.cover(1)])
            try addBooks(["Persuasion"], to: context)
        }
        #expect(try titles(at: moved) == ["Emma", "Persuasion"])
        // The old file is nobody's.
        #expect(try titles(at: stack.url) == ["Emma"])
        try Self.coordinator().destroyPersistentStore(at: stack.url, type: .sqlite)
        #expect(try titles(at: moved) == ["Emma", "Persuasion"])
    }

    @Test func whereTheStoreIsNotItIsNotSaidToLie() throws {
        let stack = try library(["Emma"])
        let other = try library(["Middlemarch"])
        let store = stack.coordinator.persistentStores[0]
        let text = stack.folder.appendingPathComponent("text")
        try Data("What is no store.".utf8).write(to: text)
        let urls = [
            other.url, text, stack.folder.appendingPathComponent("missing"), try #require(URL(string: "http://a.b/c")),
        ]
        for url in urls {
            #expect(!stack.coordinator.setURL(url, for: store), "\(url)")
            #expect(store.url == stack.url)
            #expect(!FileManager.default.fileExists(atPath: url.path) || url != urls[2])
        }
        #expect(!other.coordinator.setURL(stack.url, for: store))
        try stack.story { try addBooks(["Persuasion"], to: $0) }
        #expect(try titles(at: stack.url) == ["Emma", "Persuasion"])
        #expect(try titles(at: other.url) == ["Middlemarch"])
    }

    @Test func theTypesOfStoresAreKnown() throws {
        let types = NSPersistentStoreCoordinator.registeredStoreTypes
        let own = [NSSQLiteStoreType, NSInMemoryStoreType, NSXMLStoreType, NSBinaryStoreType]
        #expect(Set(types.keys).isSuperset(of: own))
        for value in types.values {
            var address: UInt = 0
            value.getValue(&address)
            #expect(unsafeBitCast(address, to: AnyClass.self) is NSPersistentStore.Type)
        }
    }

    // MARK: Replacing

    @Test(
        "S2: the copy has rows, UUID, log and external data of the source, which may be in use; the destination may be new"
    )
    func replace() throws {
        let source = try library(["Emma", "Persuasion"])
        let uuid = source.coordinator.persistentStores[0].identifier
        let isNew = try library([])
        let new = try closed(isNew)
        try FileManager.default.removeItem(at: new)
        let old = try library(["Middlemarch"])
        for destination in [new, try closed(old)] {
            try Self.coordinator().replacePersistentStore(
                at: destination, withPersistentStoreFrom: source.url, ofType: NSSQLiteStoreType)
            #expect(try titles(at: destination) == ["Emma", "Persuasion"])
            let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: destination)
            #expect(metadata[NSStoreUUIDKey] as? String == uuid)
        }
        #expect(try externalNames(old) == externalNames(source))
        #expect(try source.story { try $0.all(Book.self, "Book").count } == 2, "the source is as it was")
        try source.story { try addBooks(["Sanditon"], to: $0) }
        #expect(try titles(at: new) == ["Emma", "Persuasion"])
    }

    @Test("S2: what a process left that died while it copied external data is not taken for a copy")
    func replaceAfterHalfACopy() throws {
        let source = try library(["Emma"])
        let destination = try library(["Middlemarch"])
        let name = try #require(externalNames(source).first)
        try Self.cover(1).prefix(50 << 10).write(
            to: destination.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA/\(name)"))
        let url = try closed(destination)
        try Self.coordinator().replacePersistentStore(at: url, withPersistentStoreFrom: source.url, type: .sqlite)
        #expect(try titles(at: url) == ["Emma"])
        #expect(try externalNames(destination) == externalNames(source))
    }

    @Test("S2: a store of the coordinator at the destination is removed, and can be added again")
    func replaceAttached() throws {
        let source = try library(["Emma"])
        let stack = try library(["Middlemarch"])
        try stack.coordinator.replacePersistentStore(at: stack.url, withPersistentStoreFrom: source.url, type: .sqlite)
        #expect(stack.coordinator.persistentStores.isEmpty)
        try stack.coordinator.addPersistentStore(type: .sqlite, at: stack.url)
        try stack.story { context in
            context.reset()
            let books = try context.all(Book.self, "Book")
            #expect(books.map(\.title) == ["Emma"])
        }
    }

    @Test func aDestinationThatIsOpenElsewhereStaysAsItIs() throws {
        let source = try library(["Emma"])
        let other = try library(["Middlemarch"])
        let before = try externalNames(other)
        let error = try #require(throws: CocoaError.self) {
            try Self.coordinator().replacePersistentStore(
                at: other.url, destinationOptions: Self.noTime, withPersistentStoreFrom: source.url, type: .sqlite)
        }
        #expect(error.code == .persistentStoreTimeout)
        #expect(try titles(at: other.url) == ["Middlemarch"])
        #expect(try externalNames(other) == before)
    }

    @Test func aStoreThatCannotBeCopiedLeavesTheDestination() throws {
        let source = try library(["Emma"])
        let stack = try library(["Middlemarch"])
        let text = stack.folder.appendingPathComponent("text")
        try Data(String(repeating: "What is no store. ", count: 100).utf8).write(to: text)
        let empty = stack.folder.appendingPathComponent("empty")
        try Data().write(to: empty)
        let missing = stack.folder.appendingPathComponent("missing")
        let before = try names(stack.folder)
        for (from, to, code) in [
            (text, stack.url, 259), (empty, stack.url, 134000), (missing, stack.url, 260),
            (stack.url, stack.url, 134070),
            (source.url, text, 259), (source.url, text.appendingPathComponent("a"), 512),
            (source.url, text.appendingPathComponent("no/a"), 512),
        ] {
            let error = try #require(throws: CocoaError.self) {
                try stack.coordinator.replacePersistentStore(at: to, withPersistentStoreFrom: from, type: .sqlite)
            }
            #expect(error.errorCode == code, "\(from.lastPathComponent) → \(to.lastPathComponent): \(error)")
            #expect(stack.coordinator.persistentStores.count == 1)
        }
        #expect(try names(stack.folder) == before)
        #expect(try stack.story { try $0.all(Book.self, "Book").map(\.title) } == ["Middlemarch"])
    }

    @Test func aDamagedDestinationIsReplaced() throws {
        let source = try library(["Emma"])
        let stack = try library(["Middlemarch"])
        let url = try closed(stack)
        var bytes = try Data(contentsOf: url)
        for index in 16..<200 { bytes[index] = 0xA5 }
        try bytes.write(to: url)
        try Self.coordinator().replacePersistentStore(at: url, withPersistentStoreFrom: source.url, type: .sqlite)
        #expect(try titles(at: url) == ["Emma"])
    }
}
