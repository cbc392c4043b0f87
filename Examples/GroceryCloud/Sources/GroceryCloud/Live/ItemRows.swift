import CoreData
import Foundation
import LivePages

/// How the items of a list look in its pages.
@MainActor final class ItemRows {
    private let list: List
    private let listID: UUID
    private let mayChange: Bool
    /// The IDs of rows whose objects may be gone by now.
    private var names: [NSManagedObjectID: String] = [:]

    init(list: List, id: UUID, mayChange: Bool) {
        (self.list, listID, self.mayChange) = (list, id, mayChange)
    }

    /// All items by where they are at home.
    var prepare: LiveList.Form {
        form(
            .home, NSPredicate(format: "list == %@", argumentArray: [list]), "locationAtHome.storedIn",
            other: "Anywhere at home"
        ) {
            self.row($0, isPressed: $0.listed, .shop, from: .prepare)
        }
    }

    /// What is on the shopping list, by where the shop has it.
    var shop: LiveList.Form {
        form(
            .shop, NSPredicate(format: "list == %@ AND listed == YES", argumentArray: [list]), "locationAtShop.aisle",
            other: "Anywhere in the shop"
        ) { self.row($0, isPressed: $0.collected, .home, from: .shop) }
    }

    private func form(
        _ kind: PlaceKind, _ predicate: NSPredicate, _ sections: String, other: String,
        _ row: @escaping @MainActor (Item) -> HTML
    ) -> LiveList.Form {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
        request.predicate = predicate
        request.sortDescriptors = kind.order(from: "\(kind.itemKey).") + .byName("name")
        request.relationshipKeyPathsForPrefetching = ["unit", "locationAtHome", "locationAtShop"]
        return LiveList.Form(
            request: request, sectionKeyPath: sections, row: { ($0 as? Item).map { row($0) } ?? "" },
            section: { Self.section($0, $1, $2, other: other) }, id: { self.rowID($0) })
    }

    /// The ID of a row's element. An object that was deleted has lost its own.
    func rowID(_ object: NSManagedObject) -> String {
        if let known = names[object.objectID] { return known }
        guard let item = object as? Item, let id = item.id else { return "i-gone" }
        let name = "i\(id.path)"
        if !object.objectID.isTemporaryID { names[object.objectID] = name }
        return name
    }

    func row(_ item: Item, isPressed: Bool, _ details: PlaceKind, from tab: ListTab) -> HTML {
        let id = item.id?.path ?? ""
        let element = rowID(item)
        let state: HTML = item.collected ? " class=c" : ""
        let text = item.details(details)
        let path: HTML = "/items/\(id)\(tab == .shop ? "?from=shop" : "")"
        guard mayChange else {
            // Without controls: what a button would say by its shape stands in words, too.
            let mark: HTML =
                isPressed
                ? "\(Icon.tick)<span>\(item.title)<span class=sr> (\(tab == .shop ? "collected" : "on the list"))</span></span>"
                : "\(Icon.circle)<span>\(item.title)</span>"
            return "<li id=\"\(element)\"\(state)><a class=name href=\"\(path)\">\(mark) <small>\(text)</small></a>\n"
        }
        let pressed: HTML = isPressed ? "true" : "false"
        let wanted: HTML = isPressed ? "off" : "on"
        return """
            <li id="\(element)"\(state)><button name=\(wanted) value="\(id)" aria-pressed=\(pressed)>\(item.title)</button>\
            <a href="\(path)">\(text.isEmpty ? "1" : text)</a>

            """
    }

    /// A section around rows.
    private static func section(_ name: String, _ count: Int, _ rows: HTML, other: String) -> HTML {
        "<section><h2>\(name.isEmpty ? other : name) <span>\(count)</span></h2><ul>\(rows)</ul></section>\n"
    }
}

extension Icon {
    fileprivate static let tick = svg("<circle cx=12 cy=12 r=10 /><path d=\"M7 12l4 4 7-8\"/>")
    fileprivate static let circle = svg("<circle cx=12 cy=12 r=10 />")
}

extension Count {
    static func items(_ count: Int) -> String { of(count, "item") }
}
