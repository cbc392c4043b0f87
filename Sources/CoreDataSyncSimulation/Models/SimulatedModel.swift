/// A model as data: printed, it is the expression that makes it.
package struct SimulatedModel: Hashable, Sendable {
    package var entities: [Entity]
    package var relationships: [Relationship]

    package init(entities: [Entity], relationships: [Relationship] = []) {
        (self.entities, self.relationships) = (entities, relationships)
    }

    /// An entity. Each has the attribute `number`, by which steps name its objects.
    package struct Entity: Hashable, Sendable {
        package var name: String
        package var parent: String?
        package var identity: Identity
        /// Whether an edit prevails over a deletion.
        package var editWins: Bool
        /// Whether `code` is unique beside the identity, so that two objects become one.
        package var hasCode: Bool
        package var attributes: [Attribute]

        package init(
            name: String, parent: String? = nil, identity: Identity = .random, editWins: Bool = false,
            hasCode: Bool = false, attributes: [Attribute] = []
        ) {
            (self.name, self.parent, self.identity, self.editWins) = (name, parent, identity, editWins)
            (self.hasCode, self.attributes) = (hasCode, attributes)
        }
    }

    /// What identifies the objects of an entity on all devices.
    package enum Identity: Hashable, Sendable, CaseIterable {
        case random
        /// `sync.key` names the attribute `name`.
        case key
        /// `number` is unique.
        case constraint
        /// `sync.id` names the attribute `uid`.
        case declared
    }

    package struct Attribute: Hashable, Sendable {
        package var name: String
        package var kind: SimulatedValue
        package var merge: Merge
        /// The version of the model that adds it.
        package var since: Int

        package init(name: String, kind: SimulatedValue, merge: Merge = .last, since: Int = 1) {
            (self.name, self.kind, self.merge, self.since) = (name, kind, merge, since)
        }
    }

    /// The word of `sync.merge`.
    package enum Merge: String, Hashable, Sendable { case last, min, max, sum }

    package struct Relationship: Hashable, Sendable {
        package var source: String
        package var name: String
        package var destination: String
        package var isToMany: Bool
        package var isOrdered: Bool
        package var isRequired: Bool
        package var rule: Rule
        /// The other side; `nil` without one.
        package var inverse: Inverse?
        package var since: Int

        package init(
            source: String, name: String, destination: String, isToMany: Bool = false, isOrdered: Bool = false,
            isRequired: Bool = false, rule: Rule = .nullify, inverse: Inverse? = nil, since: Int = 1
        ) {
            (self.source, self.name, self.destination) = (source, name, destination)
            (self.isToMany, self.isOrdered, self.isRequired) = (isToMany, isOrdered, isRequired)
            (self.rule, self.inverse, self.since) = (rule, inverse, since)
        }
    }

    package struct Inverse: Hashable, Sendable {
        package var name: String
        package var isToMany: Bool
        package var isOrdered: Bool
        package var rule: Rule

        package init(name: String, isToMany: Bool = false, isOrdered: Bool = false, rule: Rule = .nullify) {
            (self.name, self.isToMany, self.isOrdered, self.rule) = (name, isToMany, isOrdered, rule)
        }
    }

    /// What a deletion does at the other end of a relationship.
    package enum Rule: String, Hashable, Sendable { case nullify, cascade, deny }
}

// MARK: Reading

extension SimulatedModel {
    package func entity(_ name: String) -> Entity? { entities.first { $0.name == name } }

    /// The entity and its ancestors, this one first.
    package func lineage(_ name: String) -> [Entity] {
        var result: [Entity] = []
        var next = entity(name)
        while let entity = next {
            result.append(entity)
            next = entity.parent.flatMap { self.entity($0) }
        }
        return result
    }

    package func root(of name: String) -> Entity? { lineage(name).last }

    /// The attributes that objects of the entity have, but for those that identify.
    package func attributes(of name: String) -> [Attribute] { lineage(name).flatMap(\.attributes) }

    /// Both sides of all relationships, as an object of the entity has them.
    package func sides(of name: String) -> [Side] {
        let names = Set(lineage(name).map(\.name))
        return relationships.flatMap { relationship -> [Side] in
            var sides: [Side] = []
            if names.contains(relationship.source) {
                sides.append(
                    Side(
                        name: relationship.name, destination: relationship.destination,
                        isToMany: relationship.isToMany, isOrdered: relationship.isOrdered,
                        isRequired: relationship.isRequired, rule: relationship.rule, since: relationship.since))
            }
            if let inverse = relationship.inverse, names.contains(relationship.destination) {
                sides.append(
                    Side(
                        name: inverse.name, destination: relationship.source, isToMany: inverse.isToMany,
                        isOrdered: inverse.isOrdered, isRequired: false, rule: inverse.rule,
                        since: relationship.since))
            }
            return sides
        }
    }

    /// A relationship as one of its ends has it.
    package struct Side: Hashable, Sendable {
        package var name: String
        package var destination: String
        package var isToMany: Bool
        package var isOrdered: Bool
        package var isRequired: Bool
        package var rule: Rule
        package var since: Int
    }

    /// Whether objects of one entity may be objects of another one.
    package func overlap(_ a: String, _ b: String) -> Bool {
        lineage(a).contains { $0.name == b } || lineage(b).contains { $0.name == a }
    }

    /// Whether deletions of other objects may take along objects of the entity.
    package func isTakenAlong(_ name: String) -> Bool {
        entities.contains { other in
            sides(of: other.name).contains { $0.rule == .cascade && overlap($0.destination, name) }
        } || sides(of: name).contains(where: \.isRequired)
    }

    /// Whether something can forbid the deletion of objects of the entity, or of what takes them along.
    package var canDeny: Bool { relationships.contains { $0.rule == .deny || $0.inverse?.rule == .deny } }

    /// The number of versions that the model has.
    package var versions: Int {
        max(
            relationships.map(\.since).max() ?? 1,
            entities.flatMap(\.attributes).map(\.since).max() ?? 1)
    }
}
