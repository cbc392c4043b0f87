import CoreData
import CoreDataModel
import Foundation
import Synchronization
import TestSupport

/// Three versions of a model of books, in a folder, and stores of it.
package struct Library {
    package let models: [NSManagedObjectModel]

    package static var automatic: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }
    static var deferring: [AnyHashable: Any] {
        automatic.merging([NSPersistentStoreDeferredLightweightMigrationOptionKey: true]) { $1 }
    }

    private static let documents: [ModelDocument] = {
        func cover() -> PropertyElement {
            var attribute = AttributeElement(type: .binaryData)
            attribute.allowsExternalBinaryDataStorage = true
            return PropertyElement(name: "cover", kind: .attribute(attribute)).with { $0.isOptional = true }
        }
        let author = toOne("author", "Author", inverse: "books")
        let name = attribute("name").with { $0.renamingIdentifier = "title" }
        return [
            model(
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author")),
                entity(
                    "Book", attribute("title"), attribute("number", .integer32), cover(), author,
                    toMany("tags", "Tag", inverse: "books")),
                entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags"))),
            model(
                entity("Author", attribute("name"), toMany("books", "Book", inverse: "author", ordered: true)),
                entity(
                    "Book", name, attribute("isbn", default: "none"), attribute("number", .integer32), cover(), author,
                    toMany("tags", "Tag", inverse: "books")),
                entity("Tag", attribute("name"), toMany("books", "Book", inverse: "tags"))),
            model(
                entity(
                    "Author", attribute("name"), derived("count", .integer64, "books.@count"),
                    toMany("books", "Book", inverse: "author", ordered: true)),
                entity(
                    "Book", name, attribute("isbn", default: "none"), attribute("number", .integer32), author,
                    toMany("labels", "Label", inverse: "books").with { $0.renamingIdentifier = "tags" }),
                entity("Label", attribute("name"), toMany("books", "Book", inverse: "labels"))
                    .with { $0.renamingIdentifier = "Tag" },
                entity("Shelf", attribute("place"))),
        ]
    }()

    private static func file(_ folder: URL) -> URL { folder.appendingPathComponent("Library.momd") }

    init(writingTo folder: URL, count: Int = Self.documents.count) throws {
        let versions = Self.documents.prefix(count).enumerated().map { index, document in
            ModelVersions.Version(name: index == 0 ? "Library" : "Library \(index + 1)", document: document)
        }
        let current = versions.last?.name ?? ""
        try ModelCompilation(
            of: ModelVersions(name: "Library", versions: versions, currentName: current), isFolder: true
        ).write(to: Self.file(folder))
        try self.init(folder)
    }

    init(_ folder: URL) throws {
        models = try NSManagedObjectModel.versionNames(at: Self.file(folder)).map {
            try NSManagedObjectModel.load(contentsOf: Self.file(folder), version: $0)
        }
    }

    /// The versions, in a folder of their own; the first ones only, as an older program has them.
    package init(count: Int = 3) throws {
        let folder = try Self.folders.withLock { folders in
            if let known = folders[count] { return known }
            let folder = try Fixtures.temporaryFolder()
            _ = try Self(writingTo: folder, count: count)
            folders[count] = folder
            return folder
        }
        try self.init(folder)
    }

    /// Where this process has the first so many versions.
    private static let folders = Mutex<[Int: URL]>([:])

    // MARK: Mappings

    package func inferredMapping() throws -> NSMappingModel {
        try NSMappingModel.inferredMappingModel(forSourceModel: models[0], destinationModel: models[1])
    }

    /// From the first version to the second, with names in capitals.
    package func mapping() throws -> NSMappingModel {
        let mapping = try inferredMapping()
        let book = mapping.entityMappings.first { $0.destinationEntityName == "Book" }
        book?.attributeMappings?.first { $0.name == "name" }?.valueExpression = CoreData.NSExpression(
            format: "uppercase($source.title)")
        return mapping
    }

    /// Code before the step from the first version to the second, and after it.
    ///
    /// - Parameter told: told when that runs.
    package func stages(_ told: @escaping @Sendable (String) -> Void = { _ in }) -> NSStagedMigrationManager {
        func reference(_ index: Int) -> NSManagedObjectModelReference {
            .init(model: models[index], versionChecksum: models[index].versionChecksum)
        }
        let stage = NSCustomMigrationStage(migratingFrom: reference(0), to: reference(1))
        func changing(_ manager: NSStagedMigrationManager, _ change: (NSManagedObject) -> Void) throws {
            guard let context = manager.container?.newBackgroundContext() else { return }
            try context.performAndWait {
                for book in try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")) { change(book) }
                try context.save()
            }
        }
        stage.willMigrateHandler = { manager, _ in
            told("will")
            try changing(manager) { book in
                guard let title = book.value(forKey: "title") as? String, !title.hasSuffix("!") else { return }
                book.setValue(title + "!", forKey: "title")
            }
        }
        stage.didMigrateHandler = { manager, _ in
            told("did")
            try changing(manager) { $0.setValue("done", forKey: "isbn") }
        }
        return NSStagedMigrationManager([stage, NSLightweightMigrationStage([models[2].versionChecksum])])
    }

    // MARK: Stores

    @discardableResult
    package func open<R>(
        _ url: URL, _ type: NSPersistentStore.StoreType, _ version: Int, _ options: [AnyHashable: Any]? = nil,
        _ body: (NSManagedObjectContext) throws -> R
    ) throws -> R {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: models[version - 1])
        let store = try coordinator.addPersistentStore(type: type, at: url, options: options)
        defer { try? coordinator.remove(store) }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return try context.performAndWait { try body(context) }
    }

    /// A cover of every fourth book; large enough for a file.
    private static func cover(_ number: Int, _ word: String) -> Data? {
        number % 4 == 0 ? Data(repeating: UInt8(truncatingIfNeeded: number), count: 110 << 10) + Data(word.utf8) : nil
    }

    package func fill(_ url: URL, _ type: NSPersistentStore.StoreType, _ word: String, count: Int) throws {
        try open(url, type, 1) { context in
            func make(_ entity: String, _ name: String, _ value: String) -> NSManagedObject {
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue(value, forKey: name)
                return object
            }
            let authors = (0..<3).map { make("Author", "name", "Author \($0)") }
            let tags = (0..<3).map { make("Tag", "name", "Tag \($0)") }
            for number in 0..<count {
                let book = make("Book", "title", "\(word) \(number)")
                book.setValue(number, forKey: "number")
                book.setValue(authors[number % 3], forKey: "author")
                book.setValue(NSSet(array: number % 2 == 0 ? tags : []), forKey: "tags")
                // Of many, few have one: they are to be many, not much.
                if count < 100 || number < 8 { book.setValue(Self.cover(number, word), forKey: "cover") }
            }
            try context.save()
        }
    }

    /// Gives every book that has a cover another one, and takes the last book away.
    static func recover(_ context: NSManagedObjectContext) throws {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        let books = try context.fetch(request)
        guard let last = books.last, last.value(forKey: "number") as? Int == 23 else { return }
        for book in books {
            guard let number = book.value(forKey: "number") as? Int, number % 4 == 0 else { continue }
            book.setValue(cover(number, "another"), forKey: "cover")
        }
        context.delete(last)
        try context.save()
    }

    // MARK: What there is

    /// The state of a store in a word; `nil` for an empty file, or none.
    package func state(of url: URL, _ type: NSPersistentStore.StoreType, count: Int) throws -> String? {
        if url.isFileURL {
            guard try Data(contentsOf: url, options: .alwaysMapped).count > 0 else { return nil }
        }
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: type, at: url)
        guard
            let index = models.firstIndex(where: {
                $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
            })
        else { throw Broken("\(url.lastPathComponent) is of none of the versions") }
        if type == .sqlite || !url.isFileURL {
            let found = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url, model: models[index])
            guard found.isPassed else { throw Broken(found.findings.map(\.description).joined(separator: "\n")) }
        }
        return try open(url, type, index + 1) { context in
            try "v\(index + 1)\(word(of: try books(context), version: index + 1, count: count))"
        }
    }

    /// The warnings about files that no row of an SQLite store refers to.
    func strayFiles(of url: URL) throws -> [String] {
        let metadata = try NSPersistentStoreCoordinator.metadataForPersistentStore(type: .sqlite, at: url)
        guard
            let model = models.first(where: { $0.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata) }
            )
        else { throw Broken("\(url.lastPathComponent) is of none of the versions") }
        let found = try NSPersistentStoreCoordinator.verifyPersistentStore(at: url, model: model)
        return found.findings.filter { $0.severity == .warning }.map { "\(url.lastPathComponent): \($0)" }
    }

    private struct Book {
        var name: String
        var number: Int
        var author: String
        var tags: [String]
        var cover: Data?
        var isbn: String?
    }

    private func books(_ context: NSManagedObjectContext) throws -> [Book] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
        return try context.fetch(request).map { book in
            let properties = book.entity.propertiesByName
            let tags = book.value(forKey: properties["tags"] == nil ? "labels" : "tags") as? NSSet
            return Book(
                name: book.value(forKey: properties["title"] == nil ? "name" : "title") as? String ?? "?",
                number: book.value(forKey: "number") as? Int ?? -1,
                author: (book.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String ?? "?",
                tags: (tags?.allObjects ?? []).compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
                    .sorted(),
                cover: properties["cover"] == nil ? nil : book.value(forKey: "cover") as? Data,
                isbn: properties["isbn"] == nil ? nil : book.value(forKey: "isbn") as? String ?? "?")
        }
    }

    /// What has become of the books, which must be the same of all of them.
    private func word(of books: [Book], version: Int, count: Int) throws -> String {
        guard let first = books.first else { return " empty" }
        let word = first.name.hasPrefix("Other") ? "Other" : "Book"
        let isUpper = first.name.hasPrefix("BOOK")
        let isWilled = first.name.hasSuffix("!")
        let isRecovered = version == 1 && books.count == count - 1
        for (number, book) in books.enumerated() {
            var name = "\(word) \(number)" + (isWilled ? "!" : "")
            if isUpper { name = name.uppercased() }
            let hasCover = version < 3 && (count < 100 || number < 8)
            let cover = hasCover ? Self.cover(number, isRecovered ? "another" : word) : nil
            guard book.name == name, book.number == number, book.author == "Author \(number % 3)",
                book.tags == (number % 2 == 0 ? ["Tag 0", "Tag 1", "Tag 2"] : []), book.cover == cover,
                book.isbn == first.isbn
            else {
                throw Broken(
                    "v\(version): book \(number) is \(book.name) \(book.author) \(book.tags) \(book.isbn ?? "") \(book.cover?.count ?? 0)"
                )
            }
        }
        guard books.count == count || isRecovered else { throw Broken("v\(version): \(books.count) books") }
        return (word == "Other" ? " other" : "") + (isUpper ? " upper" : "") + (isWilled ? " willed" : "")
            + (isRecovered ? " recovered" : "")
    }
}
