import CoreData
import Foundation
import LivePages

/// How items look in lists.
@MainActor enum ItemRows {
    /// All items by where they are at home.
    static let prepare = LiveList.Form(
        request: request(by: .home), sectionKeyPath: "locationAtHome.storedIn",
        row: { ($0 as? Item).map { prepareRow($0) } ?? "" }, section: { section($0, $1, $2, other: "Anywhere at home") }
    )

    /// What is on the shopping list, by where the shop has it: the model's own fetch request, sorted.
    static func shop(_ context: NSManagedObjectContext) -> LiveList.Form {
        let sorted = request(by: .shop)
        let template = context.persistentStoreCoordinator?.managedObjectModel
            .fetchRequestTemplate(forName: "ShoppingList")
        sorted.predicate = template?.predicate ?? NSPredicate(format: "listed == YES")
        return LiveList.Form(
            request: sorted, sectionKeyPath: "locationAtShop.aisle", row: { ($0 as? Item).map { shopRow($0) } ?? "" },
            section: { section($0, $1, $2, other: "Anywhere in the shop") })
    }

    private static func request(by kind: PlaceKind) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.sortDescriptors = kind.order(from: "\(kind.itemKey).") + .byName("name")
        request.relationshipKeyPathsForPrefetching = ["unit", "locationAtHome", "locationAtShop"]
        return request
    }

    /// A row of the Prepare page: pressed where the item is on the list.
    static func prepareRow(_ item: Item, _ details: PlaceKind = .shop) -> HTML {
        row(item, isPressed: item.listed, details, from: .prepare)
    }

    /// A row of the Shop page: pressed where the item is collected.
    static func shopRow(_ item: Item) -> HTML { row(item, isPressed: item.collected, .home, from: .shop) }

    private static func row(_ item: Item, isPressed: Bool, _ details: PlaceKind, from tab: Tab) -> HTML {
        let number = item.number
        let state: HTML = item.collected ? " class=c" : ""
        let pressed: HTML = isPressed ? "true" : "false"
        let wanted: HTML = isPressed ? "off" : "on"
        let text = item.details(details)
        return """
            <li id=i\(number)\(state)><button name=\(wanted) value=\(number) aria-pressed=\(pressed)>\(item.title)</button>\
            <a href="/items/\(number)\(tab.query)">\(text.isEmpty ? "1" : text)\(thumbnail(item))</a>

            """
    }

    /// The small picture, where there is one.
    static func thumbnail(_ item: Item) -> HTML? {
        guard let data = item.thumbnail else { return nil }
        return
            "<img src=\"\(Pictures.path("/items/\(item.number)/thumbnail", data))\" alt=\"\" width=44 height=44 loading=lazy>"
    }

    /// A section around rows.
    static func section(_ name: String, _ count: Int, _ rows: HTML, other: String) -> HTML {
        "<section><h2>\(name.isEmpty ? other : name) <span>\(count)</span></h2><ul>\(rows)</ul></section>\n"
    }
}
