import CoreData
import CoreDataToolkit
import Foundation
import LivePages

/// The store and everything that the app does with it, on the main actor as in an app with windows.
@MainActor final class Groceries: LiveStoreOwner {
    let live: LiveStore

    /// Opens the store, or makes it.
    init(at url: URL, progress: ProgressHandler? = nil) async throws {
        live = try await LiveStore(
            model: try Versions.model(Versions.newest), at: url, author: "Grocery Dude", versions: Versions.all,
            progress: progress)
    }

    // MARK: Finding

    func item(_ number: Int) -> Item? { object(Item.self, "Item", number) }

    func place(_ kind: PlaceKind, _ number: Int) -> NSManagedObject? {
        object(NSManagedObject.self, kind.entityName, number)
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
}
