import CoreData
import Foundation

/// A library in a file, with what others write to it.
final class GenerationStack {
    let folder: URL
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    let context: NSManagedObjectContext

    init(
        opening url: URL? = nil, type: String = NSSQLiteStoreType, options: [AnyHashable: Any] = [:],
        model: NSManagedObjectModel = GenerationStack.model()
    ) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("generations-\(UUID().uuidString)")
        self.url = url ?? folder.appendingPathComponent("Library.sqlite")
        if url == nil { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        coordinator = try NSPersistentStoreCoordinator(validating: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: self.url, options: options)
        context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The library's, whose books have their covers in files.
    static func model() -> NSManagedObjectModel {
        let model = Library.model()
        model.entitiesByName["Book"]?.attributesByName["cover"]?.allowsExternalBinaryDataStorage = true
        return model
    }

    func newContext() -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Changes the store on a context of its own.
    @discardableResult
    func save<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        let context = newContext()
        return try context.performAndWait {
            let result = try body(context)
            try context.save()
            return result
        }
    }

    @discardableResult
    func add(_ titles: String...) throws -> [NSManagedObjectID] {
        let context = newContext()
        return try context.performAndWait {
            let books = titles.map { title in
                let book = Book(context: context)
                book.title = title
                return book
            }
            try context.save()
            return books.map(\.objectID)
        }
    }

    func rename(_ id: NSManagedObjectID, _ title: String) throws {
        try save { context in
            (context.object(with: id) as? Book)?.title = title
        }
    }

    /// How many bytes of the write-ahead log's file there are.
    var logSize: Int {
        (try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")[.size] as? Int) ?? 0
    }
}

extension NSManagedObjectContext {
    /// The titles that a fetch finds, sorted.
    func titles() throws -> [String] {
        let request = NSFetchRequest<Book>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try fetch(request).map { $0.title ?? "" }
    }

    /// The titles as the store has them, without the context's objects.
    func storedTitles() throws -> [String] {
        let request = NSFetchRequest<NSDictionary>(entityName: "Book")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = ["title"]
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
        return try fetch(request).map { $0["title"] as? String ?? "" }
    }

    func countOfBooks() throws -> Int { try count(for: NSFetchRequest<Book>(entityName: "Book")) }
}
