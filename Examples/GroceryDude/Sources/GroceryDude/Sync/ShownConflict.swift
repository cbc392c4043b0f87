import CoreData
import CoreDataSync
import Foundation
import LivePages

/// A value that lost against another device's, in words.
@MainActor struct ShownConflict {
    /// The conflict that stands for the whole: of a deleted object the first of its values.
    let id: UUID
    /// "Milk".
    let title: String
    /// Of one value.
    var value: (label: String, losing: String, present: String)?
    /// Of a deleted object, its values: "Quantity 2".
    var values: [String] = []
    /// Who wrote what lost.
    let device: String

    /// The conflicts as pages show them, the newest first; the values of an object that was deleted are one.
    static func list(_ conflicts: [SyncConflict], _ devices: [SyncDevice], in groceries: Groceries) -> [ShownConflict] {
        let names = Dictionary(devices.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        var deleted = Dictionary(grouping: conflicts.filter { $0.reason == .deleted }, by: \.identity)
        return conflicts.compactMap { conflict in
            let writer = names[conflict.device] ?? "another device"
            let words = ConflictWords(conflict, groceries)
            guard conflict.reason == .deleted else {
                if words.isDecided { return nil }
                return ShownConflict(
                    id: conflict.id, title: words.title, value: (words.label, words.losing, words.present),
                    device: writer)
            }
            // The first stands for all values of the object.
            guard let all = deleted.removeValue(forKey: conflict.identity)?.map({ ConflictWords($0, groceries) })
            else { return nil }
            return ShownConflict(
                id: conflict.id, title: all.lazy.compactMap(\.name).first ?? words.title,
                values: all.filter { $0.name == nil }.map { "\($0.label): \($0.losing)" }.sorted(), device: writer)
        }
    }
}

/// The words for one value that lost.
@MainActor final class ConflictWords {
    private let conflict: SyncConflict
    private let groceries: Groceries

    init(_ conflict: SyncConflict, _ groceries: Groceries) { (self.conflict, self.groceries) = (conflict, groceries) }

    private var kind: PlaceKind? { PlaceKind.allCases.first { $0.entityName == conflict.entity } }
    private var nameKey: String { kind?.key ?? "name" }
    /// Read once: a page asks for several words of it.
    private lazy var object: NSManagedObject? = conflict.object.flatMap { groceries.object(at: $0) }

    /// The name that lost, if it is the name that did.
    var name: String? { conflict.property == nameKey ? conflict.losing : nil }

    /// What the object is called now.
    var title: String {
        switch object {
        case let item as Item: item.title
        case let photo as Item_Photo: photo.item?.title ?? "A picture"
        case let place?: place.value(forKey: nameKey) as? String ?? noun
        case nil: noun
        }
    }

    private var noun: String {
        switch conflict.entity {
        case "Item": "An item"
        case "Item_Photo": "A picture"
        default: kind.map { "A \($0.noun)" } ?? conflict.entity
        }
    }

    /// What the property is called in the editor.
    var label: String {
        switch conflict.property {
        case nameKey: "Name"
        case "quantity": ItemField.quantity.label
        case "listed": ItemField.listed.label
        case "collected": "Collected"
        case "unit": ItemField.unit.label
        case "locationAtHome": ItemField.home.label
        case "locationAtShop": ItemField.shop.label
        case "photo", "data", "thumbnail": "Picture"
        case let other: other ?? ""
        }
    }

    var losing: String {
        if isRelationship { return losingTitle }
        switch attribute?.attributeType {
        case .booleanAttributeType: return conflict.losing == "1" ? "yes" : conflict.losing == "0" ? "no" : "nothing"
        case .floatAttributeType: return Float(conflict.losing).map(Quantity.text) ?? "nothing"
        case .binaryDataAttributeType: return conflict.losing == "nil" ? "no picture" : conflict.losing
        default: return conflict.losing == "nil" || conflict.losing.isEmpty ? "nothing" : conflict.losing
        }
    }

    /// Whether the object has the value that lost: both devices wrote the same, or a device has written it again since.
    var isDecided: Bool {
        guard object != nil, conflict.property != "photo", attribute?.attributeType != .binaryDataAttributeType else {
            return false
        }
        return losing == present
    }

    /// What the object has instead.
    var present: String {
        guard let object, let property = conflict.property, object.entity.propertiesByName[property] != nil else {
            return conflict.winning ?? "nothing"
        }
        if isRelationship { return Self.title(of: object.value(forKey: property) as? NSManagedObject) }
        switch object.value(forKey: property) {
        case let text as String where !text.isEmpty: return text
        case let number as NSNumber where attribute?.attributeType == .booleanAttributeType:
            return number.boolValue ? "yes" : "no"
        case let number as Float: return Quantity.text(number)
        case let data as Data: return "\(data.count) bytes"
        case nil, is String: return "nothing"
        case let other?: return "\(other)"
        }
    }

    private var entity: NSEntityDescription? { groceries.stack.model.entitiesByName[conflict.entity] }
    private var attribute: NSAttributeDescription? { conflict.property.flatMap { entity?.attributesByName[$0] } }

    private var isRelationship: Bool { conflict.property.flatMap { entity?.relationshipsByName[$0] } != nil }

    /// The object that a relationship had, in words.
    private var losingTitle: String {
        if conflict.losing == "nil" { return "nothing" }
        guard let object = conflict.losingObject.flatMap({ groceries.object(at: $0) }) else {
            return "something that is deleted"
        }
        return Self.title(of: object)
    }

    private static func title(of object: NSManagedObject?) -> String {
        switch object {
        case nil: return "nothing"
        case is Item_Photo: return "another picture"
        case let item as Item: return item.title
        case let place?:
            let kind = PlaceKind.allCases.first { $0.entityName == place.entity.name }
            let name = kind.flatMap { place.value(forKey: $0.key) as? String } ?? ""
            return name.isEmpty ? "nothing" : name
        }
    }
}
