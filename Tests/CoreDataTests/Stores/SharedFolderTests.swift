import CoreData
import Foundation
import Testing

// semantics S1, U4: two stores whose names differ in their extensions have one folder of external data
@Suite struct SharedFolderTests {
    private static func model() -> NSManagedObjectModel {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        return model
    }

    private static func coordinator() -> NSPersistentStoreCoordinator {
        NSPersistentStoreCoordinator(managedObjectModel: model())
    }

    private func addBook(_ title: String, to stack: LibraryStack) throws {
        try stack.story { context in
            let book = Book(context: context)
            book.title = title
            book.isbn = UUID().uuidString
            book.cover = Data(repeating: UInt8(title.utf8.count), count: 200 << 10)
            try context.save()
        }
    }

    /// The titles of the books whose covers are there.
    private func covers(_ url: URL) throws -> [String] {
        let stack = try LibraryStack(opening: url, model: Self.model())
        defer { stack.coordinator.persistentStores.forEach { try? stack.coordinator.remove($0) } }
        return try stack.story { context in
            try context.all(Book.self, "Book").filter { $0.cover?.count == 200 << 10 }.compactMap(\.title).sorted()
        }
    }

    private func fileCount(_ stack: LibraryStack) throws -> Int {
        try FileManager.default.contentsOfDirectory(
            atPath: stack.folder.appendingPathComponent(".Library_SUPPORT/_EXTERNAL_DATA").path
        ).filter { UUID(uuidString: $0) != nil }.count
    }

    enum Kind: CaseIterable { case copy, other }
    enum Deed: CaseIterable { case change, delete, vacuum, destroy, replace, migrate, copyOver }

    @Test("U4: whatever one does with the one store the other has its files", arguments: Kind.allCases, Deed.allCases)
    func other(kind: Kind, deed: Deed) throws {
        let stack = try LibraryStack(model: Self.model())
        try addBook("Emma", to: stack)
        let other = stack.folder.appendingPathComponent("Library.backup")
        switch kind {
        case .copy: try stack.coordinator.copyPersistentStore(stack.coordinator.persistentStores[0], to: other)
        case .other: try addBook("Persuasion", to: LibraryStack(opening: other, model: Self.model()))
        }
        let expected = try covers(other)
        #expect(expected == [kind == .copy ? "Emma" : "Persuasion"])
        func close() throws { for store in stack.coordinator.persistentStores { try stack.coordinator.remove(store) } }
        switch deed {
        case .change:
            try stack.story { context in
                try context.all(Book.self, "Book").first?.cover = Data(repeating: 9, count: 200 << 10)
                try context.save()
            }
        case .delete:
            try stack.story { context in
                for book in try context.all(Book.self, "Book") { context.delete(book) }
                try context.save()
            }
        case .vacuum:
            try close()
            try Self.coordinator().addPersistentStore(
                type: .sqlite, at: stack.url, options: [NSSQLiteManualVacuumOption: NSNumber(value: true)])
        case .destroy: try stack.coordinator.destroyPersistentStore(at: stack.url, type: .sqlite)
        case .replace:
            try close()
            let third = try LibraryStack(model: Self.model())
            try addBook("Sanditon", to: third)
            try Self.coordinator().replacePersistentStore(
                at: stack.url, withPersistentStoreFrom: third.url, type: .sqlite)
            #expect(try covers(stack.url) == ["Sanditon"])
        case .migrate:
            try close()
            let model = Self.model()
            let book = try #require(model.entitiesByName["Book"])
            book.properties.removeAll { $0.name == "cover" }
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            let options: [AnyHashable: Any] = [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ]
            try coordinator.remove(try coordinator.addPersistentStore(type: .sqlite, at: stack.url, options: options))
        case .copyOver:
            // The one takes the place of a third with the folder.
            let third = stack.folder.appendingPathComponent("Library.third")
            try stack.coordinator.copyPersistentStore(stack.coordinator.persistentStores[0], to: third)
            try close()
            try Self.coordinator().replacePersistentStore(at: third, withPersistentStoreFrom: stack.url, type: .sqlite)
            #expect(try covers(third) == ["Emma"])
            try Self.coordinator().destroyPersistentStore(at: third, type: .sqlite)
            #expect(try covers(stack.url) == ["Emma"])
        }
        #expect(try covers(other) == expected)
    }

    @Test("U4: what is a store's alone goes with it")
    func ownFilesGo() throws {
        let stack = try LibraryStack(model: Self.model())
        try addBook("Emma", to: stack)
        let other = stack.folder.appendingPathComponent("Library.backup")
        try addBook("Persuasion", to: LibraryStack(opening: other, model: Self.model()))
        // No store, and none of its files.
        try Data("notes".utf8).write(to: stack.folder.appendingPathComponent("Library.txt"))
        #expect(try fileCount(stack) == 2)
        try stack.coordinator.destroyPersistentStore(at: stack.url, type: .sqlite)
        #expect(try fileCount(stack) == 1)
        #expect(try covers(other) == ["Persuasion"])
        // The last one takes the folder with it.
        try Self.coordinator().destroyPersistentStore(at: other, type: .sqlite)
        let names = try FileManager.default.contentsOfDirectory(atPath: stack.folder.path)
        #expect(names.sorted() == ["Library.backup", "Library.sqlite", "Library.txt"])
    }
}
