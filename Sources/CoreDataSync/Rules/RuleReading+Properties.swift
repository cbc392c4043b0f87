import CoreData
import Foundation

// The properties of an entity: which are exchanged, on which side, and how they merge.
extension RuleReading {
    func properties(of entity: NSEntityDescription) -> [SyncProperty] {
        entity.properties.flatMap { read($0, of: entity) } + orderings(of: entity)
    }

    private func read(_ property: NSPropertyDescription, of entity: NSEntityDescription) -> [SyncProperty] {
        func not(_ reason: SyncProperty.Reason) -> [SyncProperty] {
            [SyncProperty(name: property.name, kind: .notExchanged(reason))]
        }
        if Self.saysIgnore(property) { return not(.ignored) }
        switch property {
        case let attribute as NSAttributeDescription:
            if attribute is NSDerivedAttributeDescription { return not(.derived) }
            if attribute.isTransient { return not(.transient) }
            return read(attribute, name: attribute.name, modelName: attribute.name)
        case let relationship as NSRelationshipDescription:
            if relationship.isTransient { return not(.transient) }
            return [SyncProperty(name: relationship.name, kind: kind(of: relationship, in: entity))]
        default: return not(.fetched)
        }
    }

    /// The attribute, or the elements that a composite one consists of.
    private func read(_ attribute: NSAttributeDescription, name: String, modelName: String) -> [SyncProperty] {
        func one(_ kind: SyncProperty.Kind) -> [SyncProperty] {
            [SyncProperty(name: name, kind: kind, modelName: modelName)]
        }
        if name != modelName, Self.saysIgnore(attribute) { return one(.notExchanged(.ignored)) }
        if let composite = attribute as? NSCompositeAttributeDescription {
            return composite.elements.flatMap { read($0, name: "\(name).\($0.name)", modelName: modelName) }
        }
        guard let kind = AttributeKind(attribute.attributeType) else { return one(.notExchanged(.type)) }
        let rule = attribute.userInfo?["sync.merge"].flatMap { MergeRule(rawValue: "\($0)") } ?? .last
        return one(.attribute(kind, rule))
    }

    // MARK: Relationships

    private func kind(of relationship: NSRelationshipDescription, in entity: NSEntityDescription) -> SyncProperty.Kind {
        guard let destination = relationship.destinationEntity, isExchanged(destination) else {
            return .notExchanged(.destination)
        }
        let inverse = relationship.inverseRelationship
        if let inverse, Self.saysIgnore(inverse) { return .notExchanged(.ignored) }
        let name = destination.name ?? ""
        if !relationship.isToMany {
            if let inverse, !inverse.isToMany, !isSmallerSide(relationship, inverse) {
                return .notExchanged(.otherSide)
            }
            return .toOne(destination: name, isRequired: !relationship.isOptional, inverse: inverse?.name)
        }
        guard let inverse else {
            return .pairs(
                destination: name, isOrdered: relationship.isOrdered, inverse: nil, inverseIsOrdered: false)
        }
        guard inverse.isToMany, isSmallerSide(relationship, inverse) else { return .notExchanged(.otherSide) }
        return .pairs(
            destination: name, isOrdered: relationship.isOrdered, inverse: inverse.name,
            inverseIsOrdered: inverse.isOrdered)
    }

    /// Whether this side of two is the one that is exchanged; a relationship that is its own inverse has one side only.
    private func isSmallerSide(_ side: NSRelationshipDescription, _ other: NSRelationshipDescription) -> Bool {
        !Self.sideName(other).utf8.lexicographicallyPrecedes(Self.sideName(side).utf8)
    }

    /// `Entity.relationship`, with the entity that declares it.
    static func sideName(_ relationship: NSRelationshipDescription) -> String {
        "\(declaringEntity(of: relationship).name ?? "").\(relationship.name)"
    }

    /// The topmost entity that has the relationship.
    static func declaringEntity(of relationship: NSRelationshipDescription) -> NSEntityDescription {
        var entity = relationship.entity
        while let parent = entity.superentity, parent.relationshipsByName[relationship.name] != nil { entity = parent }
        return entity
    }

    // MARK: Positions

    /// The positions that objects of the entity have in ordered to-manys whose inverse is a to-one of theirs.
    private func orderings(of entity: NSEntityDescription) -> [SyncProperty] {
        let found = entity.properties.compactMap { property -> (owner: String, relationship: String, toOne: String)? in
            guard let toOne = property as? NSRelationshipDescription, !toOne.isToMany, !toOne.isTransient,
                !Self.saysIgnore(toOne), let toMany = toOne.inverseRelationship, toMany.isToMany, toMany.isOrdered,
                !Self.saysIgnore(toMany), let owner = toOne.destinationEntity, isExchanged(owner)
            else { return nil }
            return (Self.declaringEntity(of: toMany).name ?? "", toMany.name, toOne.name)
        }
        return found.map { ordering in
            let isOnlyOne = found.count { $0.relationship == ordering.relationship } == 1
            let name = isOnlyOne ? ordering.relationship : "\(ordering.owner).\(ordering.relationship)"
            return SyncProperty(
                name: name + "#",
                kind: .ordering(owner: ordering.owner, relationship: ordering.relationship, toOne: ordering.toOne),
                modelName: ordering.toOne)
        }
    }
}
