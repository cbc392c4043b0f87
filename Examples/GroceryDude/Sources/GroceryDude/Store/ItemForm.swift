import CoreData
import Foundation
import LivePages

/// A field of the item editor.
enum ItemField: String, FormField {
    case name, quantity, unit, home, shop, listed

    /// Which list of names the field picks from.
    var kind: PlaceKind? {
        switch self {
        case .unit: .unit
        case .home: .home
        case .shop: .shop
        case .name, .quantity, .listed: nil
        }
    }

    var label: String {
        switch self {
        case .name: "Name"
        case .quantity: "Quantity"
        case .unit: "Unit"
        case .home: "At home"
        case .shop: "In the shop"
        case .listed: "On the shopping list"
        }
    }
}

extension PlaceKind {
    /// The field of the editor that picks one.
    var field: ItemField {
        switch self {
        case .unit: .unit
        case .home: .home
        case .shop: .shop
        }
    }
}

/// The values typed into the item editor, and those that it showed at first.
struct ItemForm: Sendable {
    /// The choice of a picker that makes a new name.
    static let new = "new"

    /// Of pickers the number of what was picked or nothing.
    var fields: FieldForm<ItemField>
    /// What is to be made, where a picker says ``new``.
    var newNames: [PlaceKind: String] = [:]

    func value(_ field: ItemField) -> String { fields.value(field) }

    /// Reads a form that was sent.
    init(_ form: Form) {
        fields = FieldForm(form)
        for kind in PlaceKind.allCases { newNames[kind] = form["new-\(kind.field.rawValue)"] }
    }

    init(values: [ItemField: String]) { fields = FieldForm(values: values) }

    /// What a new item has.
    static func blank(named name: String = "") -> ItemForm {
        ItemForm(values: [.name: name, .quantity: "1", .listed: "1"])
    }

    /// What an item has now.
    @MainActor init(_ item: Item) {
        var values: [ItemField: String] = [:]
        for field in ItemField.allCases { values[field] = ItemForm.value(field, of: item) }
        self.init(values: values)
    }

    @MainActor private static func value(_ field: ItemField, of item: Item) -> String {
        switch field {
        case .name: item.name ?? ""
        case .quantity: Quantity.text(item.quantity)
        case .listed: item.listed ? "1" : ""
        case .unit: item.unit.map { String($0.number) } ?? ""
        case .home: item.locationAtHome.map { String($0.number) } ?? ""
        case .shop: item.locationAtShop.map { String($0.number) } ?? ""
        }
    }

    /// What is wrong with what was typed, by field.
    func problems() -> [ItemField: String] {
        var problems: [ItemField: String] = [:]
        let name = value(.name).trimmingCharacters(in: .whitespacesAndNewlines)
        if name.isEmpty { problems[.name] = NameProblem.empty.message }
        if name.isLonger(than: Groceries.longestName) { problems[.name] = NameProblem.tooLong.message }
        if Quantity.number(value(.quantity)) == nil {
            problems[.quantity] = "Type a number from 0 to 1000000, such as 2 or 0.5."
        }
        for field in ItemField.allCases {
            guard let kind = field.kind, value(field) == Self.new else { continue }
            let name = (newNames[kind] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            if name.isEmpty { problems[field] = "Type the name of the new \(kind.noun), or choose another one." }
            if name.isLonger(than: Groceries.longestName) { problems[field] = NameProblem.tooLong.message }
        }
        return problems
    }
}

// Saving what was typed.
extension Groceries {
    /// Makes an item of the form, which has no problems.
    func add(_ form: ItemForm) throws -> (item: Item, step: Int?) {
        let name = form.value(.name).trimmingCharacters(in: .whitespacesAndNewlines)
        let done = try perform("Add \(name)") {
            let item = try makeItem(named: name)
            try set(form, of: item)
            return item
        }
        return (done.result, done.step)
    }

    /// Saves what the form changed; values that it did not change stay as another user may have made them.
    func update(_ item: Item, _ form: ItemForm) throws -> Int? {
        var changed = form
        changed.fields.takeUntouched(from: ItemForm(item).fields)
        return try perform("Change \(item.title)") { try set(changed, of: item) }.step
    }

    private func set(_ form: ItemForm, of item: Item) throws {
        let present = ItemForm(item)
        for field in ItemField.allCases where form.value(field) != present.value(field) {
            switch field {
            case .name: item.name = form.value(.name).trimmingCharacters(in: .whitespacesAndNewlines)
            case .quantity: item.quantity = Quantity.number(form.value(.quantity)) ?? item.quantity
            case .listed:
                item.listed = !form.value(.listed).isEmpty
                if !item.listed { item.collected = false }
            case .unit: item.unit = try picked(.unit, form.value(field), form) as? Unit
            case .home: item.locationAtHome = try picked(.home, form.value(field), form) as? LocationAtHome
            case .shop: item.locationAtShop = try picked(.shop, form.value(field), form) as? LocationAtShop
            }
        }
    }

    private func picked(_ kind: PlaceKind, _ value: String, _ form: ItemForm) throws -> NSManagedObject? {
        if value == ItemForm.new {
            let name = form.newNames[kind] ?? ""
            return try findOrMakePlace(kind, named: name.trimmingCharacters(in: .whitespacesAndNewlines))
        }
        return Int(value).flatMap { place(kind, $0) }
    }
}
