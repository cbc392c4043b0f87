import CoreData
import Foundation

/// A model with every kind of property.
enum ShopModel {
    static func make(
        rules: [String: String] = [
            "allow.read": "anyone", "allow.create": "anyone", "allow.update": "anyone", "allow.delete": "anyone",
        ]
    ) -> NSManagedObjectModel {
        let item = entity("Item", rules)
        let drink = entity("Drink", rules)
        let unit = entity("Unit", rules)
        let tag = entity("Tag", rules)
        let secret = entity("Secret", [:])

        let place = NSCompositeAttributeDescription()
        place.name = "place"
        place.isOptional = true
        place.elements = [attribute("street", .stringAttributeType), attribute("number", .integer32AttributeType)]
        let lowercase = NSDerivedAttributeDescription()
        lowercase.name = "folded"
        lowercase.attributeType = .stringAttributeType
        lowercase.isOptional = true
        lowercase.derivationExpression = NSExpression(format: "lowercase:(name)")
        let photo = attribute("photo", .binaryDataAttributeType)
        photo.allowsExternalBinaryDataStorage = true
        photo.userInfo = ["service.mediaType": "image/png"]
        let temporary = attribute("temporary", .stringAttributeType)
        temporary.isTransient = true
        let listed = attribute("listed", .booleanAttributeType, optional: false)
        listed.defaultValue = false as NSNumber
        let transformable = attribute("color", .transformableAttributeType)
        transformable.valueTransformerName = "NSSecureUnarchiveFromData"
        let quantity = attribute("quantity", .doubleAttributeType)
        quantity.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["1620"])

        item.properties = [
            attribute("id", .UUIDAttributeType, optional: false),
            attribute("name", .stringAttributeType, optional: false),
            attribute("price", .decimalAttributeType), quantity, attribute("weight", .floatAttributeType), listed,
            attribute("day", .dateAttributeType), attribute("stock", .integer16AttributeType),
            attribute("big", .integer64AttributeType), attribute("code", .UUIDAttributeType),
            attribute("site", .URIAttributeType), attribute("data", .binaryDataAttributeType), photo, place, lowercase,
            temporary, transformable,
        ]
        item.uniquenessConstraints = [["id"]]
        drink.properties = [attribute("strength", .doubleAttributeType)]
        item.subentities = [drink]
        unit.properties = [
            attribute("id", .UUIDAttributeType, optional: false),
            attribute("name", .stringAttributeType, optional: false),
        ]
        unit.uniquenessConstraints = [["id"], ["name"]]
        tag.properties = [
            attribute("id", .UUIDAttributeType, optional: false),
            attribute("name", .stringAttributeType, optional: false),
        ]
        tag.uniquenessConstraints = [["id"]]
        secret.properties = [attribute("word", .stringAttributeType)]
        relate(item, "unit", many: false, unit, "items", many: true, rule: .denyDeleteRule)
        relate(item, "tags", many: true, tag, "items", many: true, ordered: true)
        relate(item, "secret", many: false, secret, "items", many: true)

        let model = NSManagedObjectModel()
        model.entities = [item, drink, unit, tag, secret]
        return model
    }

    private static func entity(_ name: String, _ rules: [String: String]) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = "NSManagedObject"
        entity.userInfo = rules
        return entity
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, optional: Bool = true
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = optional
        return attribute
    }

    private static func relate(
        _ a: NSEntityDescription, _ name: String, many: Bool, _ b: NSEntityDescription, _ inverseName: String,
        many inverseMany: Bool, ordered: Bool = false, rule: NSDeleteRule = .nullifyDeleteRule
    ) {
        let relationship = NSRelationshipDescription()
        let inverse = NSRelationshipDescription()
        (relationship.name, inverse.name) = (name, inverseName)
        (relationship.destinationEntity, inverse.destinationEntity) = (b, a)
        (relationship.maxCount, inverse.maxCount) = (many ? 0 : 1, inverseMany ? 0 : 1)
        (relationship.isOptional, inverse.isOptional) = (true, true)
        relationship.isOrdered = ordered
        (relationship.deleteRule, inverse.deleteRule) = (.nullifyDeleteRule, rule)
        (relationship.inverseRelationship, inverse.inverseRelationship) = (inverse, relationship)
        a.properties.append(relationship)
        b.properties.append(inverse)
    }
}
