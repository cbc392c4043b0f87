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

/// The values typed into the item editor, and those that it showed at first.
struct ItemForm: Sendable {
    /// The choice of a picker that makes a new name.
    static let new = "new"

    /// Of pickers the ID of what was picked or nothing.
    var fields: FieldForm<ItemField>
    /// What is to be made, where a picker says ``new``.
    var newNames: [PlaceKind: String] = [:]

    func value(_ field: ItemField) -> String { fields.value(field) }

    /// Reads a form that was sent.
    init(_ form: Form) {
        fields = FieldForm(form)
        for kind in PlaceKind.allCases { newNames[kind] = form["new-\(kind.field.rawValue)"] }
    }

    /// The form of a new item, which is put on the list.
    static func blank(named name: String) -> ItemForm {
        ItemForm(values: [.name: name, .quantity: "1", .listed: "1"])
    }

    private init(values: [ItemField: String]) { fields = FieldForm(values: values) }

    /// The form of an item as it is.
    @MainActor init(_ item: Item) {
        var values: [ItemField: String] = [
            .name: item.name ?? "", .quantity: Quantity.text(item.quantity), .listed: item.listed ? "1" : "",
        ]
        for kind in PlaceKind.allCases {
            let place = item.value(forKey: kind.itemKey) as? NSManagedObject
            values[kind.field] = (place?.value(forKey: "id") as? UUID)?.path ?? ""
        }
        self.init(values: values)
    }

    /// What is wrong with what was typed, by field.
    func problems() -> [ItemField: String] {
        var problems: [ItemField: String] = [:]
        do { _ = try NameProblem.checked(value(.name)) } catch { problems[.name] = error.message }
        if Quantity.number(value(.quantity)) == nil {
            problems[.quantity] = "Type a number from 0 to 1000000, such as 2 or 0.5."
        }
        for field in ItemField.allCases {
            guard let kind = field.kind, value(field) == Self.new else { continue }
            do { _ = try NameProblem.checked(newNames[kind] ?? "") } catch {
                problems[field] =
                    if case .empty = error {
                        "Type the name of the new \(kind.noun), or choose another one."
                    } else {
                        error.message
                    }
            }
        }
        return problems
    }
}
