import CoreData
import Foundation

/// The store and everything that the app does with it, on the main actor as in an app with windows.
///
/// The view context has what pages show and what they change; each action is one step of its undo manager and saved at once.
/// What other processes save comes from the store's history, see `Groceries+Remote.swift`.
@MainActor final class Groceries {
    let container: NSPersistentContainer
    /// The store's file.
    let url: URL
    /// Who saves, as the store's history has it: this process, so that it knows its own transactions.
    let author = "GroceryDude \(UUID().uuidString.prefix(8))"
    let undoManager = UndoManager()
    /// The steps, each with a number that a message about it carries.
    var lastStep = 0
    /// Up to where the store's history has been merged.
    var historyToken: NSPersistentHistoryToken?
    var remoteObserver: (any NSObjectProtocol)?

    var view: NSManagedObjectContext { container.viewContext }
    var store: NSPersistentStore? { container.persistentStoreCoordinator.persistentStores.first }

    /// Opens the store, or makes it.
    init(at url: URL) throws {
        self.url = url
        container = NSPersistentContainer(name: "GroceryDude")
        let description = NSPersistentStoreDescription(url: url)
        description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        description.setOption(NSNumber(value: true), forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        view.name = "view"
        view.transactionAuthor = author
        view.automaticallyMergesChangesFromParent = true
        view.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        undoManager.groupsByEvent = false
        undoManager.levelsOfUndo = 100
        undoManager.disableUndoRegistration()
        view.undoManager = undoManager
        followOthers()
    }

    /// Closes the store; what is saved is saved.
    func close() {
        if let remoteObserver { NotificationCenter.default.removeObserver(remoteObserver) }
        remoteObserver = nil
        let coordinator = container.persistentStoreCoordinator
        for store in coordinator.persistentStores { try? coordinator.remove(store) }
    }

    /// A context for work in the background; its saves show in the view context.
    func backgroundContext(_ name: String) -> NSManagedObjectContext {
        let context = container.newBackgroundContext()
        context.name = name
        context.transactionAuthor = author
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return context
    }

    // MARK: Finding

    /// The object of that number; `nil` where there is none (any more).
    func object<Object: NSManagedObject>(_ type: Object.Type, _ entityName: String, _ number: Int) -> Object? {
        guard let id = objectID(entityName, number) else { return nil }
        return (try? view.existingObject(with: id)) as? Object
    }

    func item(_ number: Int) -> Item? { object(Item.self, "Item", number) }

    func place(_ kind: PlaceKind, _ number: Int) -> NSManagedObject? {
        object(NSManagedObject.self, kind.entityName, number)
    }

    private func objectID(_ entityName: String, _ number: Int) -> NSManagedObjectID? {
        guard number > 0, let identifier = store?.identifier,
            let uri = URL(string: "x-coredata://\(identifier)/\(entityName)/p\(number)")
        else { return nil }
        return container.persistentStoreCoordinator.managedObjectID(forURIRepresentation: uri)
    }

    /// The units or locations by name.
    func places(_ kind: PlaceKind) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.entityName)
        request.sortDescriptors = kind.order()
        return try view.fetch(request)
    }

    /// Items whose name has the text in it, whatever its case and accents, by name.
    func items(matching text: String, limit: Int, listedOnly: Bool = false) throws -> [Item] {
        let request = NSFetchRequest<Item>(entityName: "Item")
        let matches = NSPredicate(format: "name CONTAINS[cd] %@", text)
        request.predicate =
            listedOnly
            ? NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "listed == YES"), matches])
            : matches
        request.sortDescriptors = .byName("name")
        request.fetchLimit = limit
        request.relationshipKeyPathsForPrefetching = ["unit", "locationAtHome", "locationAtShop"]
        return try view.fetch(request)
    }

    func count(_ entityName: String, _ format: String? = nil) -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: entityName)
        request.predicate = format.map { NSPredicate(format: $0) }
        return (try? view.count(for: request)) ?? 0
    }
}
