import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The defaults of attributes that are stored as bytes or in several columns, in the format of `query`.
///
///     DefaultTexts.of(document)["Drink.glass"]     // coupe
///     DefaultTexts.of(document)["Drink.place"]     // number: 7, street: Elm
enum DefaultTexts {
    /// Returns the texts by `Entity.attribute`; empty for a model with unreadable predicates, because the page is
    /// useful without them.
    static func of(_ document: ModelDocument) -> [String: String] {
        guard let model = try? StoreModel(document: document).makeModel() else { return [:] }
        var texts: [String: String] = [:]
        for entity in model.entities {
            for (name, attribute) in entity.attributesByName where isShown(attribute) {
                let cell = AttributeText(attribute: attribute).cell(value(of: attribute))
                switch cell {
                // The page itself shows the number of bytes.
                case .null, .data: continue
                default: texts["\(entity.name ?? "").\(name)"] = cell.tableText
                }
            }
        }
        return texts
    }

    /// Returns whether a page without knowledge of stored forms cannot show the default.
    private static func isShown(_ attribute: NSAttributeDescription) -> Bool {
        switch attribute.kind {
        case .bytes, .object, .composite: true
        default: false
        }
    }

    /// Returns the default of an attribute; for a composite attribute, its elements' defaults, which are in the model.
    private static func value(of attribute: NSAttributeDescription) -> Any? {
        guard let composite = attribute as? NSCompositeAttributeDescription else { return attribute.defaultValue }
        var values: [String: Any] = [:]
        for element in composite.elements { values[element.name] = value(of: element) }
        return values.isEmpty ? nil : values
    }
}
