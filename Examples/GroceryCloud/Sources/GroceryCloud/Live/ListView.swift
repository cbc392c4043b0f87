import CoreData
import Foundation
import LivePages

/// What the pages of one list show, kept by two fetched results controllers.
@MainActor final class ListView {
    let list: List
    let id: UUID
    let household: UUID
    let prepare: LiveList
    let shop: LiveList
    private(set) var counts: OpenCounts
    /// Whether the list was deleted, or is hidden by now.
    private(set) var isGone = false
    let mayChange: Bool
    private unowned let view: AccountView
    private var observer: (any NSObjectProtocol)?

    init(_ list: List, _ id: UUID, in view: AccountView) throws {
        (self.list, self.id, self.view) = (list, id, view)
        household = list.household ?? UUID()
        mayChange = view.mayChange(list.household)
        let rows = ItemRows(list: list, id: id, mayChange: mayChange)
        prepare = try LiveList("\(id.path).prepare", rows.prepare, in: view.context)
        shop = try LiveList("\(id.path).shop", rows.shop, in: view.context)
        counts = OpenCounts()
        counts = currentCounts
        for list in [prepare, shop] {
            list.onChange = { [weak self, name = list.name] patch in self?.view.feed.send(patch, to: name) }
        }
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: view.context, queue: nil
        ) { [weak self] note in
            nonisolated(unsafe) let note = note
            MainActor.assumeIsolated { self?.contextDidChange(note) }
        }
    }

    func close() {
        if let observer { NotificationCenter.default.removeObserver(observer) }
        observer = nil
        (prepare.onChange, shop.onChange) = (nil, nil)
    }

    func fetchAgain() {
        try? prepare.fetchAgain()
        try? shop.fetchAgain()
        counts = currentCounts
    }

    private var currentCounts: OpenCounts {
        OpenCounts(
            list: id,
            open: view.count("list == %@ AND listed == YES AND collected == NO", list),
            collected: view.count("list == %@ AND listed == YES AND collected == YES", list))
    }

    private func contextDidChange(_ note: Notification) {
        guard !isGone else { return }
        func objects(_ key: String) -> Set<NSManagedObject> { note.userInfo?[key] as? Set<NSManagedObject> ?? [] }
        if objects(NSDeletedObjectsKey).contains(list) || list.isDeleted || list.managedObjectContext == nil {
            isGone = true
            // Pages read themselves again, and find that the list is gone.
            return view.feed.sendStale()
        }
        // Names of places that rows show, and lists do not go by.
        var items: Set<NSManagedObject> = []
        for place in objects(NSUpdatedObjectsKey).union(objects(NSRefreshedObjectsKey)) {
            guard PlaceKind.allCases.contains(where: { $0.entityName == place.entity.name }) else { continue }
            items.formUnion((place.value(forKey: "items") as? NSSet)?.allObjects as? [NSManagedObject] ?? [])
        }
        if !items.isEmpty {
            // When the lists have followed the change.
            Task {
                prepare.redraw(items)
                shop.redraw(items)
            }
        }
        tellCounts()
    }

    private func tellCounts() {
        let now = currentCounts
        guard now != counts else { return }
        counts = now
        view.feed.send("parts", now.parts(mayChange: mayChange))
    }
}

/// How much of a shopping list is left to do.
struct OpenCounts: Equatable, Sendable {
    var list = UUID()
    var open = 0
    var collected = 0

    var badges: [String: Badge] { ["shop": Badge(count: open, label: "\(open) to buy")] }

    /// What the pages of the list show of it.
    func parts(mayChange: Bool) -> LiveParts {
        var parts = ["done": done]
        if mayChange { parts.merge(["clear": clearButton, "clear-list": clearLink]) { $1 } }
        return LiveParts(title: open, badges: badges, parts: parts, list: list.path)
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
        """
        <a id=clear-list data-part class=button href="/lists/\(list.path)/clear"\
        \(" hidden", if: open + collected == 0)>Clear list…</a>
        """
    }
}
