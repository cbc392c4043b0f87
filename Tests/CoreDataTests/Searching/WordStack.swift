import CoreData
import Foundation
import TestSupport

/// Notes, some of them letters, in folders: texts that are found by words.
struct WordStack {
    let model: NSManagedObjectModel
    let url: URL
    let type: NSPersistentStore.StoreType

    init(
        searched: Bool = true, adds: String? = nil, type: NSPersistentStore.StoreType = .sqlite, at url: URL? = nil
    )
        throws
    {
        let stack = try TrigramStack(searched: false, adds: adds, at: url)
        model = stack.model
        self.url = stack.url
        self.type = type
        for (entity, name) in [("Note", "title"), ("Note", "plain"), ("Letter", "sender"), ("Folder", "name")] {
            model.entitiesByName[entity]?.attributesByName[name]?.hasWordIndex = searched
        }
    }

    /// Runs `body` with a context of its own on the store's file.
    func open(_ options: [AnyHashable: Any]? = nil, _ body: (NSManagedObjectContext) throws -> Void) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(type: type, configuration: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try body(context) }
        try coordinator.remove(store)
    }

    func findings() throws -> [String] {
        try NSPersistentStoreCoordinator.verifyPersistentStore(at: url, model: model).findings.map {
            "\($0.severity): \($0.message)"
        }.filter { $0.contains("OCD_") }
    }

    /// As another framework would write.
    @discardableResult
    func foreign(_ statements: String) throws -> String { try TrigramStack(at: url).foreign(statements) }
}

extension NSManagedObjectContext {
    @discardableResult
    func insertNote(_ title: String?, _ text: String? = nil, entity: String = "Note") -> NSManagedObject {
        let note = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        note.setValue(title, forKey: "title")
        note.setValue(text, forKey: "plain")
        return note
    }

    /// The titles of what is found, the best first.
    func found(
        _ text: String, in keys: [String] = [], entity: String = "Note",
        _ change: (inout TextSearch<NSManagedObject>) -> Void = { _ in }
    ) throws -> [String] {
        var search = TextSearch<NSManagedObject>(text, in: keys, entityName: entity)
        change(&search)
        return try self.search(search).map { $0.object.value(forKey: "title") as? String ?? "nil" }
    }
}
