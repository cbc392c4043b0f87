import CoreData

/// Items with a unit, a place at home and a place in the shop, made in code.
package enum GroceryModel {
    /// - Parameter uniqueNames: whether a constraint says that no two items have the same name.
    /// - Parameter isNewer: whether items have a note and stars, as in a later version.
    package static func make(uniqueNames: Bool = false, isNewer: Bool = false) -> NSManagedObjectModel {
        let item = entity("Item")
        let home = entity("LocationAtHome")
        let shop = entity("LocationAtShop")
        let unit = entity("Unit")
        let (itemHome, homeItems) = pair("locationAtHome", of: item, to: home)
        let (itemShop, shopItems) = pair("locationAtShop", of: item, to: shop)
        let (itemUnit, unitItems) = pair("unit", of: item, to: unit)
        item.properties = [
            attribute("collected", .booleanAttributeType, default: false),
            attribute("listed", .booleanAttributeType, default: true),
            attribute("name", .stringAttributeType),
            attribute("photo", .binaryDataAttributeType),
            attribute("quantity", .floatAttributeType, default: Float(1)),
            itemHome, itemShop, itemUnit,
        ]
        if isNewer {
            item.properties += [
                attribute("note", .stringAttributeType), attribute("stars", .integer16AttributeType, default: 3),
            ]
        }
        if uniqueNames { item.uniquenessConstraints = [["name"]] }
        home.properties = [attribute("storedIn", .stringAttributeType), homeItems]
        shop.properties = [attribute("aisle", .stringAttributeType), shopItems]
        unit.properties = [attribute("name", .stringAttributeType), unitItems]
        let model = NSManagedObjectModel()
        model.entities = [item, home, shop, unit]
        return model
    }

    private static func entity(_ name: String) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "Sides.\(name)"
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.defaultValue = value
        return attribute
    }

    /// A to-one of items and its inverse.
    private static func pair(
        _ name: String, of item: NSEntityDescription, to destination: NSEntityDescription
    ) -> (NSRelationshipDescription, NSRelationshipDescription) {
        let toOne = NSRelationshipDescription()
        toOne.name = name
        toOne.destinationEntity = destination
        toOne.maxCount = 1
        toOne.deleteRule = .nullifyDeleteRule
        let toMany = NSRelationshipDescription()
        toMany.name = "items"
        toMany.destinationEntity = item
        toMany.maxCount = 0
        toMany.deleteRule = .nullifyDeleteRule
        toOne.inverseRelationship = toMany
        toMany.inverseRelationship = toOne
        return (toOne, toMany)
    }
}
