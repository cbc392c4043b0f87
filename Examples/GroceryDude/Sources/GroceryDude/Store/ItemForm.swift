import CoreData
import Foundation

/// A field of the item editor.
enum ItemField: String, CaseIterable, Sendable {
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

/// What somebody typed into the item editor, and what it showed at first.
struct ItemForm: Sendable {
    /// The choice of a picker that makes a new name.
    static let new = "new"

    /// By field: text as it was typed, of pickers the number of what was picked or nothing, of the switch "1" or nothing.
    var values: [ItemField: String] = [:]
    /// The values that the editor was opened with; a field that is as it was is not saved.
    var original: [ItemField: String] = [:]
    /// What is to be made, where a picker says ``new``.
    var newNames: [PlaceKind: String] = [:]

    func value(_ field: ItemField) -> String { values[field] ?? "" }

    /// Reads a form that was sent.
    init(_ form: Form) {
        for field in ItemField.allCases {
            values[field] = form[field.rawValue] ?? ""
            original[field] = form["was-\(field.rawValue)"]
            if let kind = field.kind { newNames[kind] = form["new-\(field.rawValue)"] }
        }
    }

    init(values: [ItemField: String]) {
        self.values = values
        original = values
    }

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

    /// The fields that both the user and somebody else changed, with what the other made of them.
    func conflicts(with present: ItemForm) -> [ItemField: String] {
        var conflicts: [ItemField: String] = [:]
        for field in ItemField.allCases {
            let theirs = present.value(field)
            guard let before = original[field], before != theirs, before != value(field), theirs != value(field) else {
                continue
            }
            conflicts[field] = theirs
        }
        return conflicts
    }

    /// Takes what the item has now where nothing was typed, and compares with it from now on.
    mutating func follow(_ present: ItemForm) {
        for field in ItemField.allCases where original[field] == value(field) {
            values[field] = present.value(field)
        }
        original = present.values
    }

    /// What is wrong with what was typed, by field.
    func problems() -> [ItemField: String] {
        var problems: [ItemField: String] = [:]
        let name = value(.name).trimmingCharacters(in: .whitespacesAndNewlines)
        if name.isEmpty { problems[.name] = NameProblem.empty.message }
        if name.count > Groceries.longestName { problems[.name] = NameProblem.tooLong.message }
        if Quantity.number(value(.quantity)) == nil {
            problems[.quantity] = "Type a number from 0 to 1000000, such as 2 or 0.5."
        }
        for field in ItemField.allCases {
            guard let kind = field.kind, value(field) == Self.new else { continue }
            let name = (newNames[kind] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            if name.isEmpty { problems[field] = "Type the name of the new \(kind.noun), or choose another one." }
            if name.count > Groceries.longestName { problems[field] = NameProblem.tooLong.message }
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

    /// Saves what the form changed; what it left as it was stays as somebody else may have made it.
    func update(_ item: Item, _ form: ItemForm) throws -> Int? {
        let present = ItemForm(item)
        var changed = form
        for field in ItemField.allCases where form.original[field] == form.value(field) {
            changed.values[field] = present.value(field)
        }
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
