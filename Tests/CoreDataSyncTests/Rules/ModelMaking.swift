import CoreData

/// Models for tests, made in code in a few words.
enum ModelMaking {
    static func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    static func entity(
        _ name: String, parent: NSEntityDescription? = nil, abstract: Bool = false,
        info userInfo: [String: String] = [:],
        unique: [[String]] = [], _ properties: NSPropertyDescription...
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.isAbstract = abstract
        entity.userInfo = userInfo
        entity.properties = properties
        entity.uniquenessConstraints = unique
        if let parent { parent.subentities += [entity] }
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType = .stringAttributeType, info userInfo: [String: String] = [:],
        _ change: (NSAttributeDescription) -> Void = { _ in }
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.userInfo = userInfo
        change(attribute)
        return attribute
    }

    static func composite(
        _ name: String, info userInfo: [String: String] = [:], _ elements: NSAttributeDescription...
    ) -> NSCompositeAttributeDescription {
        let attribute = NSCompositeAttributeDescription()
        attribute.name = name
        attribute.isOptional = true
        attribute.userInfo = userInfo
        attribute.elements = elements
        return attribute
    }

    static func toOne(_ name: String, info userInfo: [String: String] = [:]) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.maxCount = 1
        relationship.isOptional = true
        relationship.userInfo = userInfo
        return relationship
    }

    static func toMany(
        _ name: String, ordered: Bool = false, info userInfo: [String: String] = [:]
    ) -> NSRelationshipDescription {
        let relationship = toOne(name, info: userInfo)
        relationship.maxCount = 0
        relationship.isOrdered = ordered
        return relationship
    }

    /// Leads `source`'s relationship to `destination`, and back by `inverse` where one is given.
    static func connect(
        _ source: NSEntityDescription, _ name: String, _ destination: NSEntityDescription, _ inverse: String? = nil
    ) {
        guard let relationship = source.relationshipsByName[name] else { return }
        relationship.destinationEntity = destination
        guard let inverse, let back = destination.relationshipsByName[inverse] else { return }
        back.destinationEntity = source
        relationship.inverseRelationship = back
        back.inverseRelationship = relationship
    }
}
