import CoreData
import Foundation

// The model as the framework has it.
extension SimulatedModel {
    /// - Parameter version: leaves out what later versions add.
    package func make(version: Int) -> NSManagedObjectModel {
        var made: [String: NSEntityDescription] = [:]
        for entity in entities { made[entity.name] = description(of: entity, version) }
        for entity in entities {
            if let parent = entity.parent, let child = made[entity.name] { made[parent]?.subentities.append(child) }
        }
        for relationship in relationships where relationship.since <= version {
            guard let source = made[relationship.source], let destination = made[relationship.destination] else {
                continue
            }
            let there = Self.description(
                relationship.name, destination, relationship.isToMany, relationship.isOrdered, relationship.rule)
            there.isOptional = !relationship.isRequired
            source.properties.append(there)
            guard let inverse = relationship.inverse else { continue }
            let back = Self.description(inverse.name, source, inverse.isToMany, inverse.isOrdered, inverse.rule)
            destination.properties.append(back)
            (there.inverseRelationship, back.inverseRelationship) = (back, there)
        }
        let model = NSManagedObjectModel()
        model.entities = entities.compactMap { made[$0.name] }
        return model
    }

    private func description(of entity: Entity, _ version: Int) -> NSEntityDescription {
        let result = NSEntityDescription()
        result.name = entity.name
        if entity.parent == nil {
            result.properties = [
                Self.attribute("number", .integer64AttributeType), Self.attribute("name", .stringAttributeType),
                Self.attribute("uid", .UUIDAttributeType),
            ]
            var userInfo: [String: String] = entity.editWins ? ["sync.delete": "editWins"] : [:]
            switch entity.identity {
            case .random: break
            case .key: userInfo["sync.key"] = "name"
            case .constraint: result.uniquenessConstraints = [["number"]]
            case .declared: userInfo["sync.id"] = "uid"
            }
            if entity.hasCode {
                result.properties.append(Self.attribute("code", .stringAttributeType))
                // The first constraint is the identity of an entity without another one.
                if entity.identity == .random { result.uniquenessConstraints = [["number"]] }
                result.uniquenessConstraints.append(["code"])
            }
            result.userInfo = userInfo
        }
        for attribute in entity.attributes where attribute.since <= version {
            let made = Self.attribute(attribute.name, attribute.kind.type, attribute.kind == .composite)
            if attribute.merge != .last { made.userInfo = ["sync.merge": attribute.merge.rawValue] }
            result.properties.append(made)
        }
        return result
    }

    private static func attribute(
        _ name: String, _ type: NSAttributeType, _ isComposite: Bool = false
    ) -> NSAttributeDescription {
        let result: NSAttributeDescription
        if isComposite {
            let composite = NSCompositeAttributeDescription()
            composite.elements = [
                attribute("first", .stringAttributeType), attribute("second", .integer64AttributeType),
            ]
            result = composite
        } else {
            result = NSAttributeDescription()
            result.attributeType = type
        }
        result.name = name
        result.isOptional = true
        return result
    }

    private static func description(
        _ name: String, _ destination: NSEntityDescription, _ isToMany: Bool, _ isOrdered: Bool, _ rule: Rule
    ) -> NSRelationshipDescription {
        let result = NSRelationshipDescription()
        result.name = name
        result.destinationEntity = destination
        result.maxCount = isToMany ? 0 : 1
        result.isOrdered = isOrdered
        result.isOptional = true
        result.deleteRule =
            switch rule {
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
        return result
    }
}
