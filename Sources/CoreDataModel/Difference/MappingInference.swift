import CoreDataPrimitives

/// Decides whether a lightweight migration from one model to another is possible, and lists the obstacles.
///
/// Supported are: adding, removing and renaming entities, attributes and relationships; making things
/// optional; requiring an attribute that has a default; to-one → to-many; order; new parents; moving properties and
/// entities in a hierarchy. Not supported are type changes, to-many → to-one, and merging two hierarchies.
package struct MappingInference: Sendable {
    /// A change that cannot be inferred.
    package struct Obstacle: Hashable, Sendable {
        package enum Kind: String, Sendable {
            case requiredWithoutDefault = "required-without-default"
            case typeChanged = "type-changed"
            case kindChanged = "kind-changed"
            case toManyToOne = "to-many-to-one"
            case destinationChanged = "destination-changed"
            case hierarchiesMerged = "hierarchies-merged"
            case ambiguous = "ambiguous"
        }

        package var kind: Kind
        /// The name of the item in the newer model: `Book` or `Book.pages`.
        package var subject: String
        package var message: String
    }

    /// A change that is inferred, but may fail on data, or differ from the developer's intention.
    package struct Caution: Hashable, Sendable {
        package var subject: String
        package var message: String
    }

    package private(set) var obstacles: [Obstacle] = []
    package private(set) var cautions: [Caution] = []
    private let pairing: ModelPairing

    package var isPossible: Bool { obstacles.isEmpty }

    package init(_ pairing: ModelPairing) {
        self.pairing = pairing
        checkAmbiguities()
        checkHierarchies()
        for entity in pairing.new.model.entities {
            guard let old = pairing.old(of: entity) else { continue }
            checkEntity(old, entity)
            for property in entity.properties where needsCheck(property, of: entity) {
                checkProperty(property, of: entity, in: old)
            }
        }
    }

    /// Returns whether to check a property here: the entity declares it, or did not inherit it before.
    private func needsCheck(_ property: CompiledProperty, of entity: CompiledEntity) -> Bool {
        if property.declaringEntity == entity.ordinal { return true }
        let declarer = pairing.new.model.entities[property.declaringEntity]
        guard pairing.old(of: declarer) != nil else { return true }
        guard let declared = declarer.properties.first(where: { $0.name == property.name }) else { return true }
        return pairing.old(of: declared, in: declarer) != nil && pairing.old(of: property, in: entity) == nil
    }

    private mutating func obstacle(_ kind: Obstacle.Kind, _ subject: String, _ message: String) {
        obstacles.append(.init(kind: kind, subject: subject, message: message))
    }

    /// A renaming identifier that matches no name in the older model.
    package struct StrayIdentifier: Hashable, Sendable {
        /// The item with the identifier, by its name in the newer model: `Book` or `Book.pages`.
        package var subject: String
        package var identifier: String
        /// Whether the older model also lacks the item's own name, so that the item starts without values.
        package var isWithoutSource: Bool
    }

    private(set) var strayIdentifiers: [StrayIdentifier] = []

    private mutating func stray(_ subject: String, _ identifier: String, isWithoutSource: Bool) {
        strayIdentifiers.append(.init(subject: subject, identifier: identifier, isWithoutSource: isWithoutSource))
        caution(subject, "its renaming identifier '\(identifier)' names nothing in the older model")
    }

    private mutating func caution(_ subject: String, _ message: String) {
        cautions.append(.init(subject: subject, message: message))
    }

    // MARK: Entities

    private mutating func checkAmbiguities() {
        let new = pairing.new
        for (identifier, group) in Dictionary(grouping: new.model.entities, by: new.identifier).sorted(by: {
            $0.key < $1.key
        })
        where group.count > 1 && !group.allSatisfy(isAsBefore) {
            let names = group.map { "'\($0.name)'" }.joined(separator: " and ")
            obstacle(.ambiguous, group[0].name, "\(names) both come from '\(identifier)'")
        }
        let known = Set(pairing.old.model.entities.flatMap { [pairing.old.identifier($0), $0.name] })
        for entity in new.model.entities {
            let identifier = new.identifier(entity)
            if identifier != entity.name, !known.contains(identifier) {
                stray(entity.name, identifier, isWithoutSource: pairing.old(of: entity) == nil)
            }
            let own = entity.properties.filter { $0.declaringEntity == entity.ordinal }
            for (identifier, group) in Dictionary(grouping: own, by: new.identifier).sorted(by: { $0.key < $1.key })
            where group.count > 1 && !group.allSatisfy({ isAsBefore($0, in: entity) }) {
                let names = group.map { "'\($0.name)'" }.joined(separator: " and ")
                obstacle(.ambiguous, "\(entity.name).\(group[0].name)", "\(names) both come from '\(identifier)'")
            }
        }
    }

    /// Whether the older model has an entity with the same name and identifier, which no other entity can claim.
    private func isAsBefore(_ entity: CompiledEntity) -> Bool {
        guard let old = pairing.old(of: entity) else { return false }
        return old.name == entity.name && pairing.old.identifier(old) == pairing.new.identifier(entity)
    }

    private func isAsBefore(_ property: CompiledProperty, in entity: CompiledEntity) -> Bool {
        guard let old = pairing.old(of: property, in: entity) else { return false }
        return old.name == property.name && pairing.old.identifier(old) == pairing.new.identifier(property)
    }

    /// Checks that entities with the same root had the same root before.
    private mutating func checkHierarchies() {
        let model = pairing.new.model
        for root in model.entities where root.root == root.ordinal && root.subtree.count > 1 {
            let roots = root.subtree.compactMap { ordinal in
                pairing.oldEntities[ordinal].map { pairing.old.model.entities[$0].root }
            }
            let distinct = Set(roots).sorted().map { "'\(pairing.old.model.entities[$0].name)'" }
            guard distinct.count > 1 else { continue }
            obstacle(
                .hierarchiesMerged, root.name,
                "the hierarchies of \(distinct.joined(separator: " and ")) become one, and hierarchies cannot be merged"
            )
        }
    }

    private mutating func checkEntity(_ old: CompiledEntity, _ new: CompiledEntity) {
        if !old.isAbstract && new.isAbstract {
            caution(new.name, "becomes abstract: a store must have no objects of it left")
        }
        func names(_ entity: CompiledEntity) -> Set<[String]> {
            Set(entity.uniquenessConstraints.map { $0.map { entity.properties[$0].name } })
        }
        for constraint in names(new).subtracting(names(old)).sorted(by: { $0.joined() < $1.joined() }) {
            caution(
                new.name,
                "becomes unique by (\(constraint.joined(separator: ", "))): fails with error 134111 where a store has duplicates"
            )
        }
    }

    // MARK: Properties

    private mutating func checkProperty(
        _ property: CompiledProperty, of entity: CompiledEntity, in oldEntity: CompiledEntity
    ) {
        let subject = "\(entity.name).\(property.name)"
        let old = pairing.old(of: property, in: entity)
        if let old, let before = old.attribute, let attribute = property.attribute,
            old.isComposite != property.isComposite
        {
            return obstacle(
                .typeChanged, subject,
                "changes its type from \(before.type.displayName) to \(attribute.type.displayName); add an attribute and "
                    + "convert the values, or write a mapping model")
        }
        guard property.isStored else { return }
        let identifier = pairing.new.identifier(property)
        // A new element of a renamed composite has another path than its name, and no identifier of its own that could
        // be wrong.
        if pairing.new.ownIdentifier(property) != property.elementName,
            !oldEntity.properties.contains(where: { pairing.old.identifier($0) == identifier || $0.name == identifier })
        {
            stray(subject, identifier, isWithoutSource: old == nil)
        }
        // A store has the elements of a composite; each element is checked as a property of its own.
        guard !property.isComposite else { return }
        switch (property.kind, old?.kind) {
        case (.fetched, _): break
        case (.attribute(let attribute), .attribute(let before)) where old?.isTransient == false:
            checkAttribute(subject, property, attribute, old, before, of: entity)
        case (.attribute, .relationship), (.relationship, .attribute):
            obstacle(.kindChanged, subject, "was \(old?.attribute == nil ? "a relationship" : "an attribute") before")
        case (.attribute(let attribute), _):
            checkAttribute(subject, property, attribute, nil, nil, of: entity)
        case (.relationship(let relationship), .relationship(let before)):
            checkRelationship(subject, property, relationship, old, before)
        case (.relationship, _):
            if !property.isOptional {
                caution(subject, "is new and required: objects cannot be saved before it is set")
            }
        }
    }

    /// Returns whether the property is an element of a new optional composite, which is nil in all objects.
    private func isInNewOptional(_ property: CompiledProperty, of entity: CompiledEntity) -> Bool {
        guard let slot = property.composite else { return false }
        let composite = entity.properties[slot]
        guard pairing.old(of: composite, in: entity) == nil else { return false }
        return composite.isOptional || isInNewOptional(composite, of: entity)
    }

    private mutating func checkAttribute(
        _ subject: String, _ property: CompiledProperty, _ attribute: CompiledAttribute, _ old: CompiledProperty?,
        _ before: CompiledAttribute?, of entity: CompiledEntity
    ) {
        if let before, before.type != attribute.type {
            obstacle(
                .typeChanged, subject,
                "changes its type from \(before.type.displayName) to \(attribute.type.displayName); add an attribute and "
                    + "convert the values, or write a mapping model")
        }
        // A derived attribute is computed for every row.
        guard !attribute.isDerived, !property.isOptional, attribute.defaultValue.isNull, old?.isOptional ?? true,
            old != nil || !isInNewOptional(property, of: entity)
        else { return }
        obstacle(
            .requiredWithoutDefault, subject,
            old == nil ? "is new, required and without default" : "becomes required and has no default")
    }

    private mutating func checkRelationship(
        _ subject: String, _ property: CompiledProperty, _ relationship: CompiledRelationship,
        _ old: CompiledProperty?, _ before: CompiledRelationship
    ) {
        if before.isToMany && !relationship.isToMany {
            obstacle(.toManyToOne, subject, "changes from to-many to to-one: nothing says which object stays")
        }
        let model = pairing.new.model
        let destination = model.entities[relationship.destination]
        let heirs = model.entities.filter { pairing.oldEntities[$0.ordinal] == before.destination }
        // The new destination may be an ancestor of the old one.
        if !heirs.contains(where: { destination.subtree.contains($0.ordinal) }) {
            let name = pairing.old.model.entities[before.destination].name
            obstacle(.destinationChanged, subject, "led to '\(name)' and now leads to '\(destination.name)'")
        }
        if old?.isOptional == true, !property.isOptional {
            caution(subject, "becomes required: objects without it cannot be saved")
        }
        if relationship.isToMany {
            if relationship.minCount > before.minCount {
                caution(subject, "needs at least \(relationship.minCount): objects with fewer cannot be saved")
            }
            if relationship.maxCount > 0, before.maxCount == 0 || relationship.maxCount < before.maxCount {
                caution(subject, "takes at most \(relationship.maxCount): objects with more cannot be saved")
            }
        }
    }
}
