import CoreData
import Foundation
import LivePages

// What the Prepare and Shop pages do.
extension Groceries {
    /// Puts the item on the shopping list, or takes it off; either way it is not collected. Changes nothing where it is so already.
    func setListed(_ isListed: Bool, _ item: Item) throws -> Int? {
        guard item.listed != isListed else { return nil }
        return try perform(isListed ? "Put \(item.title) on the list" : "Take \(item.title) off the list") {
            item.listed = isListed
            if item.collected { item.collected = false }
        }.step
    }

    /// Takes the item off the shopping list; nothing where it is not on it.
    func takeOff(_ item: Item) throws -> Int? {
        try perform("Take \(item.title) off the list") {
            if item.listed { item.listed = false }
            if item.collected { item.collected = false }
        }.step
    }

    /// Marks a listed item as collected, or as still to be found. Changes nothing where it is so already.
    func setCollected(_ isCollected: Bool, _ item: Item) throws -> Int? {
        guard item.collected != isCollected else { return nil }
        return try perform(isCollected ? "Collect \(item.title)" : "Put \(item.title) back") {
            item.collected = isCollected
        }.step
    }

    /// Takes everything off the list.
    func clearList() throws -> (count: Int, step: Int?) {
        try clear("Clear the list", "listed == YES OR collected == YES")
    }

    /// Takes what is collected off the list.
    func clearCollected() throws -> (count: Int, step: Int?) {
        try clear("Clear what is collected", "listed == YES AND collected == YES")
    }

    private func clear(_ name: String, _ format: String) throws -> (count: Int, step: Int?) {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(format: format)
        let done = try perform(name) {
            let items = try view.fetch(request)
            for item in items {
                if item.listed { item.listed = false }
                if item.collected { item.collected = false }
            }
            return items.count
        }
        return (done.result, done.step)
    }

    func delete(_ item: Item) throws -> Int? {
        try perform("Delete \(item.title)") { view.delete(item) }.step
    }

    /// A new item with a permanent ID, so that pages can name it; call it in `perform(_:_:)`.
    func makeItem(named name: String) throws -> Item {
        let item = Item(context: view)
        item.name = name
        try view.obtainPermanentIDs(for: [item])
        return item
    }

    /// How many items are on the list and not collected yet, and how many are collected.
    var openCounts: OpenCounts {
        OpenCounts(
            open: count("Item", "listed == YES AND collected == NO"),
            collected: count("Item", "listed == YES AND collected == YES"))
    }
}

/// How much of the shopping list is left to do.
struct OpenCounts: Equatable, Sendable {
    var open = 0
    var collected = 0
}

extension OpenCounts {
    var badges: [String: Badge] { ["shop": Badge(count: open, label: "\(open) to buy")] }

    /// What pages show of it, wherever they do.
    var parts: LiveParts {
        LiveParts(
            title: open, badges: badges, parts: ["done": done, "clear": clearButton, "clear-list": clearLink])
    }

    /// How much is done, on the page Shop.
    var done: HTML {
        let total = open + collected
        return """
            <p id=done data-part\(" hidden", if: total == 0)><progress max=\(max(total, 1)) value=\(collected) \
            aria-labelledby=done-text></progress> <span id=done-text>\(collected) of \(total)</span></p>
            """
    }

    var clearButton: HTML {
        "<button id=clear data-part\(" hidden", if: collected == 0)>Clear what is collected</button>"
    }

    var clearLink: HTML {
        "<a id=clear-list data-part class=button href=/prepare/clear\(" hidden", if: open + collected == 0)>Clear list…</a>"
    }
}
