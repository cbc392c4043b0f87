import CoreData
import Foundation
import LivePages

// What the Prepare and Shop pages do.
extension AccountView {
    nonisolated static let longestName = 100

    /// Puts the item on the shopping list, or takes it off; either way it is not collected. Changes nothing where it is so already.
    func setListed(_ isListed: Bool, _ item: Item) throws -> Int? {
        guard item.listed != isListed else { return nil }
        return try live.perform(isListed ? "Put \(item.title) on the list" : "Take \(item.title) off the list") {
            item.listed = isListed
            if item.collected { item.collected = false }
        }.step
    }

    /// Marks a listed item as collected, or as still to be found. Changes nothing where it is so already.
    func setCollected(_ isCollected: Bool, _ item: Item) throws -> Int? {
        guard item.collected != isCollected else { return nil }
        return try live.perform(isCollected ? "Collect \(item.title)" : "Put \(item.title) back") {
            item.collected = isCollected
        }.step
    }

    /// Takes everything off the list, or what is collected.
    func clear(_ list: List, collectedOnly: Bool) throws -> (count: Int, step: Int?) {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(
            format: collectedOnly
                ? "list == %@ AND listed == YES AND collected == YES"
                : "list == %@ AND (listed == YES OR collected == YES)", argumentArray: [list])
        let done = try live.perform(collectedOnly ? "Clear what is collected" : "Clear the list") {
            let items = try context.fetch(request)
            for item in items {
                if item.listed { item.listed = false }
                if item.collected { item.collected = false }
            }
            return items.count
        }
        return (done.result, done.step)
    }

    func delete(_ item: Item) throws -> Int? {
        try live.perform("Delete \(item.title)") { context.delete(item) }.step
    }

    // MARK: Lists

    func makeList(named name: String, in household: UUID) throws -> List {
        try live.perform("Add the list \(name)") {
            let list = List(context: context)
            list.name = name
            list.household = household
            return list
        }.result
    }

    // MARK: The editor

    /// Makes an item of the form, which has no problems.
    func add(_ form: ItemForm, to list: List) throws -> (item: Item, step: Int?) {
        let name = form.value(.name).trimmed
        let done = try live.perform("Add \(name)") {
            let item = Item(context: context)
            item.list = list
            try set(form, of: item)
            return item
        }
        return (done.result, done.step)
    }

    /// Saves what the form changed; values that it did not change stay as another user may have made them.
    func update(_ item: Item, _ form: ItemForm) throws -> Int? {
        var changed = form
        changed.fields.takeUntouched(from: ItemForm(item).fields)
        return try live.perform("Change \(item.title)") { try set(changed, of: item) }.step
    }

    private func set(_ form: ItemForm, of item: Item) throws {
        let present = ItemForm(item)
        for field in ItemField.allCases where item.isInserted || form.value(field) != present.value(field) {
            switch field {
            case .name: item.name = form.value(.name).trimmed
            case .quantity: item.quantity = Quantity.number(form.value(.quantity)) ?? item.quantity
            case .listed:
                item.listed = !form.value(.listed).isEmpty
                if !item.listed, item.collected { item.collected = false }
            case .unit, .home, .shop:
                guard let kind = field.kind else { continue }
                item.setValue(try picked(kind, form, in: item.list?.household), forKey: kind.itemKey)
            }
        }
    }

    /// The place that was picked, or that is new; one of another household counts as none.
    private func picked(_ kind: PlaceKind, _ form: ItemForm, in household: UUID?) throws -> NSManagedObject? {
        guard let household else { return nil }
        let value = form.value(kind.field)
        if value == ItemForm.new {
            return try findOrMakePlace(kind, named: (form.newNames[kind] ?? "").trimmed, in: household)
        }
        let place = try object(NSManagedObject.self, kind.entityName, value)
        return place?.value(forKey: "household") as? UUID == household ? place : nil
    }
}
