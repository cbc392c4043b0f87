import CoreData
import Foundation
import LivePages

/// The lists of all pages: what they show, and what is sent when they change.
@MainActor final class LiveLists {
    let prepare: LiveList
    let shop: LiveList
    let places: [PlaceKind: LiveList]
    let feed: LiveFeed
    private(set) var counts: OpenCounts
    private let groceries: Groceries
    private var observer: (any NSObjectProtocol)?

    init(_ groceries: Groceries, _ feed: LiveFeed) throws {
        self.groceries = groceries
        self.feed = feed
        let context = groceries.view
        prepare = try LiveList("prepare", ItemRows.prepare, in: context)
        shop = try LiveList("shop", ItemRows.shop(context), in: context)
        var places: [PlaceKind: LiveList] = [:]
        for kind in PlaceKind.allCases { places[kind] = try LiveList(kind.rawValue, PlaceRows.form(kind), in: context) }
        self.places = places
        counts = groceries.openCounts
        for list in [prepare, shop] + places.values {
            list.onChange = { [weak self, name = list.name] patch in
                self?.feed.send(patch, to: name)
            }
        }
        // What lists do not go by, but rows show: the names of units and of places elsewhere, and how often they are used.
        observer = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { [weak self] note in
            nonisolated(unsafe) let note = note
            MainActor.assumeIsolated { self?.contextDidChange(note) }
        }
    }

    /// Shows what the store has, after changes were rolled back.
    func fetchAgain() {
        for list in [prepare, shop] + places.values { try? list.fetchAgain() }
        counts = groceries.openCounts
        feed.sendStale()
    }

    func close() {
        if let observer { NotificationCenter.default.removeObserver(observer) }
        observer = nil
    }

    private func contextDidChange(_ note: Notification) {
        func objects(_ key: String) -> Set<NSManagedObject> { note.userInfo?[key] as? Set<NSManagedObject> ?? [] }
        // That an item came to a place or left it, the lists see by themselves; a name they do not go by.
        let renamed = objects(NSUpdatedObjectsKey).filter { place in
            PlaceKind.allCases.contains { kind in
                place.entity.name == kind.entityName && place.changedValuesForCurrentEvent()[kind.key] != nil
            }
        }
        let refreshed = objects(NSRefreshedObjectsKey).filter { place in
            PlaceKind.allCases.contains { $0.entityName == place.entity.name }
        }
        var items: Set<NSManagedObject> = []
        for place in renamed.union(refreshed) {
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
        let now = groceries.openCounts
        guard now != counts else { return }
        counts = now
        feed.send("parts", now.parts)
    }
}
