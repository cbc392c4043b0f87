import CoreData
import Foundation

/// The model of the cache: the entities and properties of the store's model, without rules for values.
///
/// A cached object may lack values that the model requires: an object that another one refers to is known by its ID
/// alone. Each root entity has the version of the object, the time of the answer, and the names of large values that
/// were loaded.
struct CacheModel {
    let model: NSManagedObjectModel

    static let tag = "coreDataServiceVersion"
    static let time = "coreDataServiceTime"
    static let loaded = "coreDataServiceLoaded"
    /// An answered fetch or relationship.
    static let answer = "CoreDataServiceAnswer"

    init(_ served: ServiceModel, _ original: NSManagedObjectModel) {
        var made: [String: NSEntityDescription] = [:]
        let entities = original.entities.filter { served.entities[$0.name ?? ""] != nil }
        for entity in entities {
            let copy = NSEntityDescription()
            copy.name = entity.name
            copy.managedObjectClassName = "NSManagedObject"
            made[entity.name ?? ""] = copy
        }
        for entity in entities {
            guard let name = entity.name, let copy = made[name], let rules = served.entities[name] else { continue }
            let parent = entity.superentity?.name.flatMap { made[$0] }
            if let parent { parent.subentities.append(copy) }
            let inherited = parent == nil ? [:] : entity.superentity?.propertiesByName ?? [:]
            var properties: [NSPropertyDescription] = []
            for property in entity.propertiesByName.values.sorted(by: { $0.name < $1.name })
            where inherited[property.name] == nil {
                if let attribute = property as? NSAttributeDescription,
                    rules.attributes[attribute.name]?.isTransient == false
                {
                    properties.append(Self.copy(attribute))
                } else if let relationship = property as? NSRelationshipDescription,
                    let destination = relationship.destinationEntity?.name.flatMap({ made[$0] })
                {
                    properties.append(Self.copy(relationship, to: destination))
                }
            }
            if parent == nil {
                properties += [
                    Self.attribute(Self.tag, .stringAttributeType), Self.attribute(Self.time, .dateAttributeType),
                    Self.attribute(Self.loaded, .stringAttributeType),
                ]
            }
            copy.properties = properties
            if inherited[rules.identity] == nil { copy.uniquenessConstraints = [[rules.identity]] }
        }
        Self.connectInverses(entities, made)
        let answer = NSEntityDescription()
        answer.name = Self.answer
        answer.managedObjectClassName = "NSManagedObject"
        answer.properties = [Self.attribute("key", .stringAttributeType)]
        answer.uniquenessConstraints = [["key"]]
        model = NSManagedObjectModel()
        model.entities = entities.compactMap { made[$0.name ?? ""] } + [answer]
    }

    static func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        return attribute
    }

    private static func copy(_ original: NSAttributeDescription) -> NSAttributeDescription {
        if let composite = original as? NSCompositeAttributeDescription {
            let copy = NSCompositeAttributeDescription()
            copy.name = composite.name
            copy.isOptional = true
            copy.elements = composite.elements.map(Self.copy)
            return copy
        }
        let copy = attribute(original.name, original.attributeType)
        copy.allowsExternalBinaryDataStorage = original.allowsExternalBinaryDataStorage
        return copy
    }

    private static func copy(
        _ original: NSRelationshipDescription, to destination: NSEntityDescription
    ) -> NSRelationshipDescription {
        let copy = NSRelationshipDescription()
        copy.name = original.name
        copy.destinationEntity = destination
        copy.isOptional = true
        copy.minCount = 0
        copy.maxCount = original.isToMany ? 0 : 1
        copy.isOrdered = original.isOrdered
        copy.deleteRule = .nullifyDeleteRule
        return copy
    }

    private static func connectInverses(
        _ entities: [NSEntityDescription], _ made: [String: NSEntityDescription]
    ) {
        for entity in entities {
            for relationship in entity.relationshipsByName.values {
                guard let inverse = relationship.inverseRelationship, relationship.entity.name == entity.name,
                    let copy = made[entity.name ?? ""].flatMap({ Self.relationship(relationship.name, of: $0) }),
                    let other = inverse.entity.name.flatMap({ made[$0] })
                        .flatMap({ Self.relationship(inverse.name, of: $0) })
                else { continue }
                copy.inverseRelationship = other
            }
        }
    }

    private static func relationship(_ name: String, of entity: NSEntityDescription) -> NSRelationshipDescription? {
        var next: NSEntityDescription? = entity
        while let entity = next {
            if let found = entity.properties.first(where: { $0.name == name }) as? NSRelationshipDescription {
                return found
            }
            next = entity.superentity
        }
        return nil
    }
}
