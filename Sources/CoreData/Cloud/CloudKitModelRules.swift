import Foundation

/// What Apple's documentation says that CloudKit does not support of a model.
enum CloudKitModelRules {
    /// One line for each thing that CloudKit would refuse.
    static func problems(of model: NSManagedObjectModel) -> [String] {
        let entities = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        return entities.flatMap(problems(of:)) + problemsOfConfigurations(model)
    }

    private static func problems(of entity: NSEntityDescription) -> [String] {
        let name = entity.name ?? ""
        var lines: [String] = []
        if !entity.uniquenessConstraints.isEmpty {
            lines.append("Entity \(name): CloudKit does not support uniqueness constraints.")
        }
        for property in entity.ownProperties {
            let reasons =
                switch property {
                case let attribute as NSAttributeDescription: reasons(against: attribute)
                case let relationship as NSRelationshipDescription: reasons(against: relationship)
                default: [] as [String]
                }
            lines += reasons.map { "\(name).\(property.name): \($0)" }
        }
        return lines
    }

    private static func reasons(against attribute: NSAttributeDescription) -> [String] {
        if attribute.isTransient { return [] }
        var reasons: [String] = []
        if !attribute.isOptional, attribute.defaultValue == nil {
            reasons.append("make the attribute optional, or give it a default value.")
        }
        if attribute.attributeType == .objectIDAttributeType || attribute.attributeType == .undefinedAttributeType {
            reasons.append("CloudKit does not support attributes of this type.")
        }
        return reasons
    }

    private static func reasons(against relationship: NSRelationshipDescription) -> [String] {
        var reasons: [String] = []
        if !relationship.isOptional { reasons.append("make the relationship optional.") }
        if relationship.inverseRelationship == nil { reasons.append("give the relationship an inverse.") }
        if relationship.isOrdered { reasons.append("CloudKit does not support ordered relationships.") }
        if relationship.deleteRule == .denyDeleteRule {
            reasons.append("CloudKit does not support the delete rule Deny.")
        }
        return reasons
    }

    private static func problemsOfConfigurations(_ model: NSManagedObjectModel) -> [String] {
        model.configurations.sorted().flatMap { configuration -> [String] in
            let entities = model.entities(forConfigurationName: configuration) ?? []
            let names = Set(entities.compactMap(\.name))
            return entities.flatMap { entity in
                entity.relationshipsByName.values.compactMap { relationship -> String? in
                    guard let destination = relationship.destinationEntity?.name, !names.contains(destination) else {
                        return nil
                    }
                    return
                        "\(entity.name ?? "").\(relationship.name): the destination \(destination) is not in configuration \(configuration)."
                }
            }.sorted()
        }
    }

    /// The entities with their properties, as lines of text.
    static func outline(of model: NSManagedObjectModel) -> [String] {
        model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }.map { entity in
            let properties = entity.properties.map { property in
                let type =
                    (property as? NSAttributeDescription).map { "\($0.attributeType)" }
                    ?? (property as? NSRelationshipDescription)?.destinationEntity?.name ?? "fetched"
                return "\(property.name): \(type)"
            }
            return "Entity \(entity.name ?? ""): \(properties.sorted().joined(separator: ", "))"
        }
    }
}
