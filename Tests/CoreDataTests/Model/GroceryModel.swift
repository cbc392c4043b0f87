import CoreData
import Foundation

/// The eighth model of the grocery list, made in code.
enum GroceryModel {
    static func make() -> NSManagedObjectModel {
        let item = entity("Item")
        let photo = entity("Item_Photo")
        let location = entity("Location")
        let home = entity("LocationAtHome")
        let shop = entity("LocationAtShop")
        let unit = entity("Unit")
        location.isAbstract = true
        location.subentities = [home, shop]

        let data = attribute("data", .binaryData)
        data.allowsExternalBinaryDataStorage = true
        let (itemPhoto, photoItem) = pair(item, "photo", photo, "item", toMany: false)
        itemPhoto.deleteRule = .cascadeDeleteRule
        let (itemHome, homeItems) = pair(item, "locationAtHome", home, "items", toMany: true)
        let (itemShop, shopItems) = pair(item, "locationAtShop", shop, "items", toMany: true)
        let (itemUnit, unitItems) = pair(item, "unit", unit, "items", toMany: true)
        unitItems.deleteRule = .denyDeleteRule

        item.properties = [
            attribute("colletced", .boolean, default: false), attribute("listed", .boolean, default: true),
            attribute("name", .string, default: "New Item"), attribute("quantity", .float, default: 1),
            attribute("thumbnail", .binaryData), itemHome, itemShop, itemPhoto, itemUnit,
        ]
        photo.properties = [data, photoItem]
        location.properties = [attribute("summary", .string)]
        home.properties = [attribute("storeIn", .string), homeItems]
        shop.properties = [attribute("aisle", .string), shopItems]
        unit.properties = [attribute("name", .string), unitItems]

        let model = NSManagedObjectModel()
        model.entities = [item, photo, location, home, shop, unit]
        return model
    }

    static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = name
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeDescription.AttributeType, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.type = type
        attribute.defaultValue = value
        return attribute
    }

    /// A to-one from `a` and its inverse from `b`.
    static func pair(
        _ a: NSEntityDescription, _ name: String, _ b: NSEntityDescription, _ inverseName: String, toMany: Bool
    ) -> (NSRelationshipDescription, NSRelationshipDescription) {
        let forth = NSRelationshipDescription()
        let back = NSRelationshipDescription()
        forth.name = name
        forth.destinationEntity = b
        forth.maxCount = 1
        forth.inverseRelationship = back
        back.name = inverseName
        back.destinationEntity = a
        back.maxCount = toMany ? 0 : 1
        back.inverseRelationship = forth
        return (forth, back)
    }
}

extension Data {
    var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
