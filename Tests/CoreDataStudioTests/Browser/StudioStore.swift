import CoreData
import CoreDataModel
import CoreDataStoreTools
import CoreDataStudio
import Foundation
import TestSupport

/// Stores that tests make.
enum StudioStore {
    /// Makes a store in a new folder, and closes it.
    ///
    /// - Parameter fill: inserts the objects.
    static func make(
        _ document: ModelDocument, named name: String = "Test.sqlite", options: [AnyHashable: Any] = [:],
        _ fill: (NSManagedObjectContext) throws -> Void
    ) throws -> URL {
        let url = try Fixtures.temporaryFolder().appendingPathComponent(name)
        try change(url, document, options: options, fill)
        return url
    }

    /// Changes a store as another process would: with a coordinator of its own.
    static func change(
        _ url: URL, _ document: ModelDocument, options: [AnyHashable: Any] = [:],
        _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try StoreModel(document: document).makeModel())
        let store = try coordinator.addPersistentStore(
            ofType: StoreFile.type(named: url.path).rawValue, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try body(context)
            try context.save()
        }
        try coordinator.remove(store)
    }

    /// Items with a unit each, and notes.
    static let shop = model(
        entity(
            "Item", attribute("name"), attribute("price", .decimal), attribute("count", .integer32),
            attribute("bought", .date), attribute("isListed", .boolean), attribute("code", .uuid),
            attribute("picture", .binaryData), attribute("colour", .transformable),
            toOne("unit", "Unit", inverse: "items")),
        entity("Unit", attribute("name"), toMany("items", "Item", inverse: "unit")),
        entity("Note", attribute("text"), toOne("about", "Item")))

    @discardableResult
    static func insert(
        _ entity: String, _ values: [String: Any], in context: NSManagedObjectContext
    ) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    /// A client of a Studio that shows the store.
    static func client(
        _ store: URL, model: URL? = nil, _ change: (inout StudioOptions) -> Void = { _ in }
    ) async throws -> StudioClient {
        var options = StudioOptions()
        change(&options)
        return try await StudioClient(try Studio(model: model, store: store, options: options))
    }
}
