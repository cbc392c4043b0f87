import CoreData

/// The entities and properties to copy.
struct DeepCopyPlan {
    /// An entity that both source and destination have.
    struct Entity {
        let name: String
        /// The attributes that both have.
        let attributes: [String]
        /// The relationships that are set from this side.
        let relationships: [Relationship]
        /// The identifying attributes; empty for objects that only their owner refers to.
        let uniques: [String]
        /// Relationships of owned objects that cannot be copied, with the reason; reported if an object has members in
        /// them.
        let blocked: [String: String]
    }

    struct Relationship {
        let name: String
        let isToMany: Bool
        let isOrdered: Bool
        /// Whether the destination is an owned object, which has no identifying attributes.
        let isOwned: Bool
        let inverse: String?
    }

    /// The entities whose objects are all copied; related objects come first as far as possible.
    let chosen: [Entity]
    /// All entities that can be copied, by name.
    let entities: [String: Entity]
    private let chosenNames: Set<String>
    let destination: NSManagedObjectModel

    func isChosen(_ entity: String) -> Bool { chosenNames.contains(entity) }

    init(
        _ names: [String]?, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        _ uniques: UniqueAttributes, _ leavesOut: Set<String>
    ) throws {
        self.destination = destination
        let targets = destination.entitiesByName
        let both = source.entities.filter { !$0.isAbstract && targets[$0.name ?? ""]?.isAbstract == false }
        func identifies(_ entity: NSEntityDescription) -> [String] {
            targets[entity.name ?? ""].map(uniques.of) ?? []
        }
        let wanted: [NSEntityDescription]
        if let names {
            let roots = try names.map { name in
                guard let target = targets[name] else { throw Self.missing(name, "destination", destination) }
                guard let root = source.entitiesByName[target.name ?? ""] else {
                    throw Self.missing(name, "source", source)
                }
                return root
            }
            wanted = both.filter { entity in roots.contains { entity.isKindOf(entity: $0) } }
            for entity in wanted where identifies(entity).isEmpty { throw Self.unidentified(entity.name ?? "") }
        } else {
            wanted = both.filter { !identifies($0).isEmpty }
        }
        let chosenNames = Set(wanted.compactMap(\.name))
        var entities: [String: Entity] = [:]
        for entity in both {
            guard let target = targets[entity.name ?? ""] else { continue }
            let builder = Builder(
                entity: entity, target: target, chosen: chosenNames, leavesOut: leavesOut, identifies: identifies)
            let (relationships, blocked) = try builder.relationships()
            entities[entity.name ?? ""] = Entity(
                name: entity.name ?? "", attributes: builder.attributes, relationships: relationships,
                uniques: identifies(entity), blocked: blocked)
        }
        self.entities = entities
        self.chosenNames = chosenNames
        // Copy destinations of relationships first, so that fewer objects are created before their turn.
        chosen = wanted.compactMap { entities[$0.name ?? ""] }
            .sorted { ($0.relationships.count, $0.name) < ($1.relationships.count, $1.name) }
    }

    private static func missing(_ name: String, _ where: String, _ model: NSManagedObjectModel) -> ToolkitError {
        let hint = Suggestion.text(for: name, among: Array(model.entitiesByName.keys))
        return ToolkitError("The model of the \(`where`) has no entity '\(name)'\(hint)")
    }

    private static func unidentified(_ name: String) -> ToolkitError {
        ToolkitError(
            "Nothing tells the objects of \(name) apart, so that they could be found again; name an attribute in 'unique'."
        )
    }

    /// Builds the plan of one entity.
    private struct Builder {
        let entity: NSEntityDescription
        let target: NSEntityDescription
        let chosen: Set<String>
        let leavesOut: Set<String>
        let identifies: (NSEntityDescription) -> [String]

        var attributes: [String] {
            let targets = target.attributesByName
            return entity.attributesByName.values.filter { attribute in
                guard let other = targets[attribute.name], other.attributeType == attribute.attributeType else {
                    return false
                }
                return ![attribute, other].contains { $0.isTransient || $0 is NSDerivedAttributeDescription }
            }.map(\.name).sorted()
        }

        func relationships() throws -> ([Relationship], blocked: [String: String]) {
            var (found, blocked): ([Relationship], [String: String]) = ([], [:])
            for relationship in entity.relationshipsByName.values.sorted(by: { $0.name < $1.name }) {
                do {
                    if let relationship = try self.relationship(relationship) { found.append(relationship) }
                } catch let error as ToolkitError {
                    guard !chosen.contains(entity.name ?? "") else { throw error }
                    blocked[relationship.name] = error.message
                }
            }
            return (found, blocked)
        }

        private func relationship(_ relationship: NSRelationshipDescription) throws -> Relationship? {
            guard let other = target.relationshipsByName[relationship.name], !relationship.isTransient,
                other.isToMany == relationship.isToMany, let destination = relationship.destinationEntity,
                !isLeftOut(relationship)
            else { return nil }
            let inverse = relationship.inverseRelationship
            let kinds = concrete(destination)
            let areIdentified = kinds.allSatisfy { !identifies($0).isEmpty }
            if relationship.isToMany, !relationship.isOrdered, let inverse, !inverse.isToMany, !inverse.isOrdered,
                areIdentified, kinds.allSatisfy({ chosen.contains($0.name ?? "") }), !isLeftOut(inverse)
            {
                // Each member sets the relationship itself.
                return nil
            }
            let isOneToOne = !relationship.isToMany && inverse?.isToMany == false
            // The owner's side suffices to set the relationship.
            if identifies(entity).isEmpty, areIdentified, isOneToOne { return nil }
            guard areIdentified || isOneToOne else {
                throw ToolkitError(
                    """
                    \(entity.name ?? "").\(relationship.name) leads to \(destination.name ?? ""), and nothing tells those objects \
                    apart: name an attribute of \(destination.name ?? "") in 'unique', or leave the relationship out with \
                    leavesOut = ["\(entity.name ?? "").\(relationship.name)"].
                    """)
            }
            return Relationship(
                name: relationship.name, isToMany: relationship.isToMany, isOrdered: other.isOrdered,
                isOwned: !areIdentified, inverse: inverse?.name)
        }

        private func isLeftOut(_ relationship: NSRelationshipDescription) -> Bool {
            var owner: NSEntityDescription? = relationship.entity
            var names: [String] = [entity.name ?? ""]
            while let current = owner {
                names.append(current.name ?? "")
                owner = current.superentity
            }
            return names.contains { leavesOut.contains("\($0).\(relationship.name)") }
        }

        /// Returns the concrete entities of a relationship's destination.
        private func concrete(_ entity: NSEntityDescription) -> [NSEntityDescription] {
            (entity.isAbstract ? [] : [entity]) + entity.subentities.flatMap(concrete)
        }
    }
}
