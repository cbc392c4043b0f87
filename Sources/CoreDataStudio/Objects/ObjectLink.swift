import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataToolkit
import Foundation

/// A link to an object: its entity, its primary key, and a text by which people know it.
struct ObjectLink: Sendable, Hashable {
    var entity: String
    var key: Int64
    var label: String?

    /// `Item/p12`.
    var reference: String { "\(entity)/p\(key)" }

    var address: Address { Address("store", "object", entity, "p\(key)") }

    /// The link as a chip, which opens beside the list on wide screens.
    var chip: HTML {
        "<a class=chip href=\"\(address)\" data-beside title=\"\(reference)\">\(label ?? reference)</a>"
    }
}

extension ObjectLink {
    /// Makes the link of an object. Without `readsLabel` the object's row is not read.
    init?(_ object: NSManagedObject, readsLabel: Bool = true) {
        guard let reference = ObjectReference(object.objectID.uriRepresentation().absoluteString) else { return nil }
        entity = reference.entity
        key = reference.key
        guard readsLabel, let attribute = Self.labelAttribute(of: object.entity) else { return }
        label = Self.label(object.value(forKey: attribute))
    }

    static func label(_ value: Any?) -> String? {
        guard let text = value as? String else { return nil }
        let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
        guard !line.isEmpty else { return nil }
        return line.count > 60 ? line.prefix(60) + "…" : line
    }

    private static let names = ["name", "title", "displayname", "label", "subject", "fullname", "headline", "summary"]

    /// The name of the text attribute by which people know an entity's objects; `nil` if none is likely to be it.
    static func labelAttribute(of entity: NSEntityDescription) -> String? {
        let texts = entity.attributesByName.values.filter { $0.kind == .text && !$0.isTransient }.map(\.name)
        let lower = Dictionary(texts.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        if let name = names.lazy.compactMap({ lower[$0] }).first { return name }
        return texts.sorted().first { $0.lowercased().contains("name") || $0.lowercased().contains("title") }
    }
}
