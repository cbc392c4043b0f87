import CoreData
import CoreDataPermissions
import Foundation
import LivePages

/// The store as one account sees it: a context that reads and writes only what the rules allow, the lists of the pages that show it, and
/// their stream.
///
/// Other households cannot reach the stream: the context merges the saves of all accounts, but for a restricted context the objects of
/// others do not exist.
@MainActor final class AccountView {
    let accessor: Accessor
    let live: LiveContext
    let feed = LiveFeed()
    /// The lists that pages have shown, by their IDs.
    private var lists: [UUID: ListView] = [:]
    /// The sessions whose pages have a stream.
    var streamingSessions: Set<UUID> = []
    var lastUse = ContinuousClock.now
    private let store: CloudStore

    var context: NSManagedObjectContext { live.view }

    init(_ store: CloudStore, _ accessor: Accessor) throws {
        let context = try store.makeContext(.mainQueue, for: accessor)
        context.automaticallyMergesChangesFromParent = true
        (self.store, self.accessor) = (store, accessor)
        live = LiveContext(context)
    }

    func close() {
        feed.close()
        for list in lists.values { list.close() }
        lists = [:]
        context.automaticallyMergesChangesFromParent = false
    }

    /// Whether the account may change the objects of a household: pages show controls accordingly. What it does is checked by the store.
    func mayChange(_ household: UUID?) -> Bool {
        household.flatMap { accessor.groups[$0] }.map { $0 != "viewer" } ?? false
    }

    /// Fetches anew, and has the pages read themselves again: another process has changed something.
    func readAgain() {
        context.refreshAllObjects()
        for list in lists.values { list.fetchAgain() }
        feed.sendStale()
    }

    // MARK: Lists

    /// The list with what pages show of it; `nil` if the account does not see it, or not any more.
    func list(_ id: UUID) throws -> ListView? {
        if let known = lists[id], !known.isGone { return known }
        lists.removeValue(forKey: id)?.close()
        guard let list = try object(List.self, "List", id) else { return nil }
        let view = try ListView(list, id, in: self)
        lists[id] = view
        return view
    }

    // MARK: Finding

    /// The object with that ID, if the account sees it.
    func object<Object: NSManagedObject>(_ type: Object.Type, _ entity: String, _ id: UUID) throws -> Object? {
        let request = NSFetchRequest<Object>(entityName: entity)
        request.predicate = NSPredicate(format: "id == %@", argumentArray: [id])
        request.fetchLimit = 1
        return try context.fetch(request).first { !$0.isDeleted }
    }

    func object<Object: NSManagedObject>(_ type: Object.Type, _ entity: String, _ id: String) throws -> Object? {
        try UUID(uuidString: id).flatMap { try object(type, entity, $0) }
    }

    func item(_ id: String) throws -> Item? { try object(Item.self, "Item", id) }

    /// The lists of a household, by name.
    func lists(of household: UUID) throws -> [List] {
        let request = NSFetchRequest<List>(entityName: "List")
        request.predicate = NSPredicate(format: "household == %@", argumentArray: [household])
        request.sortDescriptors = .byName("name")
        return try context.fetch(request)
    }

    /// The units or locations of a household, by name.
    func places(_ kind: PlaceKind, of household: UUID) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: kind.entityName)
        request.predicate = NSPredicate(format: "household == %@", argumentArray: [household])
        request.sortDescriptors = kind.order()
        return try context.fetch(request)
    }

    /// Items of a list whose name has the text in it, whatever its case and accents, by name.
    func items(of list: List, matching text: String, limit: Int) throws -> [Item] {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(format: "list == %@ AND name CONTAINS[cd] %@", argumentArray: [list, text])
        request.sortDescriptors = .byName("name")
        request.fetchLimit = limit
        request.relationshipKeyPathsForPrefetching = ["unit", "locationAtHome", "locationAtShop"]
        return try context.fetch(request)
    }

    func count(_ format: String, _ arguments: Any...) -> Int {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = NSPredicate(format: format, argumentArray: arguments)
        return (try? context.count(for: request)) ?? 0
    }
}
