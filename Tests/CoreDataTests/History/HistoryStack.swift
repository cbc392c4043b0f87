import CoreData
import Foundation

/// A library whose stores record their history.
final class HistoryStack {
    let folder: URL
    let url: URL
    let coordinator: NSPersistentStoreCoordinator
    var store: NSPersistentStore { coordinator.persistentStores[0] }

    /// Books keep `title` and `identifier` after their deletion.
    static func model() -> NSManagedObjectModel {
        let model = Library.model()
        for name in ["title", "identifier"] {
            model.entitiesByName["Book"]?.attributesByName[name]?.preservesValueInHistoryOnDeletion = true
        }
        return model
    }

    static var options: [AnyHashable: Any] {
        [
            NSPersistentHistoryTrackingKey: NSNumber(value: true),
            NSPersistentStoreRemoteChangeNotificationPostOptionKey: NSNumber(value: true),
        ]
    }

    init(opening url: URL? = nil, options: [AnyHashable: Any] = HistoryStack.options, inMemory: Bool = false) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("history-\(UUID().uuidString)")
        self.url = url ?? folder.appendingPathComponent("Library.sqlite")
        if url == nil { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }
        coordinator = try NSPersistentStoreCoordinator(validating: Self.model())
        try coordinator.addPersistentStore(
            ofType: inMemory ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil, at: self.url,
            options: options)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func newContext(author: String? = nil, name: String? = nil) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        context.transactionAuthor = author
        context.name = name
        return context
    }

    /// Saves books of these titles in one transaction.
    @discardableResult
    func add(_ titles: String..., author: String? = nil, name: String? = nil) throws -> [NSManagedObjectID] {
        let context = newContext(author: author, name: name)
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

    func result(_ request: NSPersistentHistoryChangeRequest) throws -> Any? {
        let context = newContext()
        return try context.performAndWait {
            (try context.execute(request) as? NSPersistentHistoryResult)?.result
        }
    }

    func transactions(
        _ request: NSPersistentHistoryChangeRequest = .fetchHistory(after: nil as NSPersistentHistoryToken?)
    ) throws -> [NSPersistentHistoryTransaction] {
        try result(request) as? [NSPersistentHistoryTransaction] ?? []
    }

    var token: NSPersistentHistoryToken? { coordinator.currentPersistentHistoryToken(fromStores: nil) }
}
