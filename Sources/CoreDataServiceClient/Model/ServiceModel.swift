import CoreData
import Foundation

/// What of a model a service serves: entities whose objects have an ID, and the properties that JSON has.
///
/// The rules are the service's own, so that both sides agree without a request.
struct ServiceModel: Sendable {
    let entities: [String: ServiceEntity]

    init(_ model: NSManagedObjectModel) {
        var entities: [String: ServiceEntity] = [:]
        for entity in model.entities {
            guard let name = entity.name, let identity = Self.identity(of: entity) else { continue }
            entities[name] = ServiceEntity(entity, name: name, identity: identity)
        }
        self.entities = entities
    }

    /// - Throws: an error that says what to add to an entity without an ID.
    func entity(named name: String) throws -> ServiceEntity {
        if let entity = entities[name] { return entity }
        throw ServiceErrors.make(
            NSPersistentStoreOperationError,
            """
            The service does not serve the entity '\(name)': its objects have no ID that both sides know. Add the \
            attribute 'id' of the type UUID and the uniqueness constraint 'id', or name the attribute as sync.id in \
            the userInfo of the entity.
            """)
    }

    /// Whether an object of one entity is an object of the other.
    func isKind(_ name: String, of other: String) -> Bool {
        name == other || entities[other]?.descendants.contains(name) == true
    }

    /// The attribute that identifies objects: the one that `sync.id` names, or the only UUID attribute with a
    /// uniqueness constraint of its own.
    private static func identity(of entity: NSEntityDescription) -> String? {
        var candidates: [String] = []
        var chosen: String?
        var next: NSEntityDescription? = entity
        while let current = next {
            for constraint in current.uniquenessConstraints where constraint.count == 1 {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                if let name = names.first, !candidates.contains(name),
                    current.attributesByName[name]?.attributeType == .UUIDAttributeType
                {
                    candidates.append(name)
                }
            }
            chosen = chosen ?? current.userInfo?["sync.id"] as? String
            next = current.superentity
        }
        if let chosen { return candidates.contains(chosen) ? chosen : nil }
        return candidates.count == 1 ? candidates[0] : nil
    }
}

/// An entity as the service serves it.
struct ServiceEntity: Sendable {
    let name: String
    let isAbstract: Bool
    /// The topmost entity above that has the same attribute for IDs.
    let root: String
    /// The names of the entities directly below.
    let subentities: [String]
    /// The names of all entities below.
    let descendants: Set<String>
    /// The attribute whose UUID is the object's ID.
    let identity: String
    let attributes: [String: ServiceAttribute]
    let relationships: [String: ServiceRelationship]
    /// The names of attributes whose bytes have an address of their own, sorted.
    let largeValues: [String]

    init(_ entity: NSEntityDescription, name: String, identity: String) {
        self.name = name
        self.identity = identity
        isAbstract = entity.isAbstract
        var root = entity
        while let parent = root.superentity, parent.attributesByName[identity] != nil { root = parent }
        self.root = root.name ?? name
        subentities = entity.subentities.compactMap(\.name)
        descendants = Self.descendants(of: entity)
        var attributes: [String: ServiceAttribute] = [:]
        for attribute in entity.attributesByName.values {
            attributes[attribute.name] = ServiceAttribute(attribute)
        }
        self.attributes = attributes
        relationships = entity.relationshipsByName.compactMapValues(ServiceRelationship.init)
        largeValues = attributes.values.filter { if case .largeBytes = $0.form { !$0.isTransient } else { false } }
            .map(\.name).sorted()
    }

    private static func descendants(of entity: NSEntityDescription) -> Set<String> {
        entity.subentities.reduce(into: []) { names, entity in
            if let name = entity.name { names.insert(name) }
            names.formUnion(descendants(of: entity))
        }
    }
}

/// An attribute, or an element of a composite attribute.
struct ServiceAttribute: Sendable {
    let name: String
    let form: AttributeForm
    /// Whether the store of the service computes it.
    let isDerived: Bool
    let isTransient: Bool

    /// - Returns: `nil` for an attribute that the service does not serve.
    init?(_ attribute: NSAttributeDescription) {
        guard let form = Self.form(attribute) else { return nil }
        self.form = form
        name = attribute.name
        isDerived = attribute is NSDerivedAttributeDescription
        isTransient = attribute.isTransient
    }

    private static func form(_ attribute: NSAttributeDescription) -> AttributeForm? {
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return .integer
        case .decimalAttributeType: return .decimal
        case .doubleAttributeType: return .double
        case .floatAttributeType: return .float
        case .stringAttributeType: return .string
        case .booleanAttributeType: return .boolean
        case .dateAttributeType: return .date
        case .binaryDataAttributeType: return attribute.allowsExternalBinaryDataStorage ? .largeBytes : .bytes
        case .UUIDAttributeType: return .uuid
        case .URIAttributeType: return .uri
        case .compositeAttributeType:
            guard let composite = attribute as? NSCompositeAttributeDescription else { return nil }
            let elements = composite.elements.compactMap(ServiceAttribute.init)
            return elements.count == composite.elements.count ? .composite(elements) : nil
        case .transformableAttributeType, .undefinedAttributeType, .objectIDAttributeType: return nil
        }
    }
}

/// A relationship as the service serves it.
struct ServiceRelationship: Sendable {
    let name: String
    let destination: String
    let isToMany: Bool
    let isOrdered: Bool
    let inverse: Inverse?
    /// Whether deleting an object deletes the destinations.
    let cascades: Bool

    struct Inverse: Sendable {
        let name: String
        let isToMany: Bool
        let isOrdered: Bool
    }

    init?(_ relationship: NSRelationshipDescription) {
        guard let destination = relationship.destinationEntity?.name, !relationship.isTransient else { return nil }
        self.destination = destination
        name = relationship.name
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered
        cascades = relationship.deleteRule == .cascadeDeleteRule
        inverse = relationship.inverseRelationship.map {
            Inverse(name: $0.name, isToMany: $0.isToMany, isOrdered: $0.isOrdered)
        }
    }
}
