import CoreData
import Foundation
import LivePages

/// A thing to buy.
public class Item: NSManagedObject {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }

    /// Leaves a note for the page of who did what, whichever way the item is deleted: by a page, with its list, by a program.
    public override func prepareForDeletion() {
        super.prepareForDeletion()
        Deletion.note(name, of: list?.household, in: managedObjectContext)
    }

    /// The name; never empty.
    var title: String { name.flatMap { $0.isEmpty ? nil : $0 } ?? "Unnamed" }

    /// "2 kg", "3", "½"; empty for one of nothing in particular.
    var amount: String {
        let unit = unit?.name?.trimmed ?? ""
        if unit.isEmpty { return quantity == 1 ? "" : Quantity.text(quantity) }
        return "\(Quantity.text(quantity)) \(unit)"
    }

    /// The second line of a row: how much, and where it is in the other place.
    func details(_ place: PlaceKind) -> String {
        let other = value(forKeyPath: "\(place.itemKey).\(place.key)") as? String ?? ""
        return [amount, other].filter { !$0.isEmpty }.joined(separator: " · ")
    }
}

/// A shopping list of a household.
public class List: NSManagedObject {
    public override func awakeFromInsert() {
        super.awakeFromInsert()
        id = UUID()
    }

    public override func prepareForDeletion() {
        super.prepareForDeletion()
        Deletion.note(name.map { "the list \($0)" }, of: household, in: managedObjectContext)
    }

    /// The name; never empty.
    var title: String { name.flatMap { $0.isEmpty ? nil : $0 } ?? "Unnamed" }
}

extension Deletion {
    fileprivate static func note(_ name: String?, of household: UUID?, in context: NSManagedObjectContext?) {
        guard let name, let household, let context else { return }
        let deletion = Deletion(context: context)
        deletion.id = UUID()
        deletion.name = name
        deletion.household = household
    }
}

/// Quantities as people write them.
enum Quantity {
    /// "2", "0.5", "1.25".
    static func text(_ quantity: Float) -> String {
        guard quantity.isFinite else { return "" }
        if quantity == quantity.rounded(), abs(quantity) < 1_000_000 { return String(Int(quantity)) }
        return String(quantity)
    }

    /// The number in a typed text, with a point or a comma; `nil` if it is no number from 0 to a million.
    static func number(_ text: String) -> Float? {
        let text = text.trimmed.replacingOccurrences(of: ",", with: ".")
        guard text.utf8.allSatisfy({ $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) }), let number = Float(text),
            number.isFinite, number <= 1_000_000
        else { return nil }
        return number
    }
}

extension UUID {
    /// As it stands in addresses of pages.
    var path: String { uuidString.lowercased() }
}
