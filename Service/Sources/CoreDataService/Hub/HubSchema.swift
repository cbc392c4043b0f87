import CoreData

/// The part of a model that devices exchange with the served store: entities with an identity, and their properties.
struct HubSchema: Sendable {
    /// By name, without abstract ones.
    let entities: [String: HubEntity]
    /// The roots of the entities, sorted: each is fetched with its subentities.
    let roots: [String]
    /// Properties that are not exchanged with the served store although the model exchanges them, with the reason.
    let omissions: [ServedModel.Omission]

    subscript(name: String) -> HubEntity? { entities[name] }
}

/// An entity as the hub compares its objects.
struct HubEntity: Sendable {
    var name: String
    /// The topmost ancestor.
    var root: String
    /// The UUID attribute that identifies objects.
    var identity: String
    /// Without the identity.
    var attributes: [Attribute] = []
    var toOnes: [ToOne] = []
    var toManys: [ToMany] = []
    /// Attributes that identify an object besides its UUID: of `sync.key` and of uniqueness constraints.
    var keys: [[String]] = []
    /// Whether an edit that did not know of a deletion brings the object back.
    var editWins = false

    /// How two changes of one attribute become one.
    enum Merge: String, Sendable {
        case last, min, max, sum, text, union
    }

    struct Attribute: Sendable {
        enum Kind: Sendable {
            case integer, real, decimal, date, text, uri, data, uuid
            case composite([Attribute])
        }

        var name: String
        var kind: Kind
        var merge = Merge.last
        var isRequired = false
    }

    struct ToOne: Sendable {
        var name: String
        var isRequired: Bool
        /// Whether a deletion of the other object empties the reference.
        var hasInverse: Bool
    }

    struct ToMany: Sendable {
        var name: String
        var isOrdered: Bool
        var minimum: Int
        /// Whether only the order is compared: the other side of the relationship says who is a member.
        var isOrderOnly: Bool
    }
}

// MARK: Reading a model

extension HubSchema {
    init(_ model: NSManagedObjectModel, _ served: ServedModel) {
        var entities: [String: HubEntity] = [:]
        var omissions: [ServedModel.Omission] = []
        for entity in model.entities {
            guard let name = entity.name, !entity.isAbstract, let known = served.entities[name],
                !Self.isIgnored(entity)
            else { continue }
            var found = HubEntity(name: name, root: Self.root(of: entity), identity: known.identity)
            found.editWins = Self.word("sync.delete", of: entity) == "editWins"
            found.keys = Self.keys(of: entity, identity: known.identity)
            for property in entity.propertiesByName.values.sorted(by: { $0.name < $1.name }) {
                if property.name == known.identity || Self.flag(property.userInfo) { continue }
                switch property {
                case let attribute as NSAttributeDescription:
                    if attribute.isTransient || attribute is NSDerivedAttributeDescription { break }
                    guard let own = Self.attribute(attribute) else {
                        omissions.append(
                            .init(
                                entity: name, property: attribute.name,
                                reason: "transformable values are exchanged among the devices of an account only"))
                        break
                    }
                    found.attributes.append(own)
                case let relationship as NSRelationshipDescription:
                    guard let destination = relationship.destinationEntity, !relationship.isTransient,
                        served.entities[destination.name ?? ""] != nil, !Self.isIgnored(destination)
                    else { break }
                    Self.add(relationship, to: &found)
                default: break
                }
            }
            entities[name] = found
        }
        self.entities = entities
        self.omissions = omissions
        roots = Set(entities.values.map(\.root)).sorted()
    }

    private static func add(_ relationship: NSRelationshipDescription, to entity: inout HubEntity) {
        let inverse = relationship.inverseRelationship
        guard relationship.isToMany else {
            // Of a one-to-one pair, one side is compared.
            if let inverse, !inverse.isToMany, !isFirst(relationship, inverse) { return }
            let isRequired = !relationship.isOptional || relationship.minCount > 0
            entity.toOnes.append(
                .init(name: relationship.name, isRequired: isRequired, hasInverse: inverse != nil))
            return
        }
        let isOtherSide = inverse.map { !$0.isToMany || !isFirst(relationship, $0) } ?? false
        if isOtherSide, !relationship.isOrdered { return }
        entity.toManys.append(
            .init(
                name: relationship.name, isOrdered: relationship.isOrdered,
                minimum: max(relationship.minCount, relationship.isOptional ? 0 : 1), isOrderOnly: isOtherSide))
    }

    /// Whether pairs belong to this side: the one whose `Entity.relationship` is smaller, as `Sync` has it.
    private static func isFirst(_ one: NSRelationshipDescription, _ other: NSRelationshipDescription) -> Bool {
        if one === other { return true }
        let names = [one, other].map { "\($0.entity.name ?? "").\($0.name)" }
        return names[0].utf8.lexicographicallyPrecedes(names[1].utf8) || names[0] == names[1]
    }

    private static func attribute(_ attribute: NSAttributeDescription) -> HubEntity.Attribute? {
        let kind: HubEntity.Attribute.Kind
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .booleanAttributeType:
            kind = .integer
        case .doubleAttributeType, .floatAttributeType: kind = .real
        case .decimalAttributeType: kind = .decimal
        case .dateAttributeType: kind = .date
        case .stringAttributeType: kind = .text
        case .URIAttributeType: kind = .uri
        case .binaryDataAttributeType: kind = .data
        case .UUIDAttributeType: kind = .uuid
        case .compositeAttributeType:
            guard let composite = attribute as? NSCompositeAttributeDescription else { return nil }
            let elements = composite.elements.map(Self.attribute)
            guard elements.allSatisfy({ $0 != nil }) else { return nil }
            kind = .composite(elements.compactMap { $0 })
        default: return nil
        }
        let merge = (attribute.userInfo?["sync.merge"] as? String).flatMap(HubEntity.Merge.init) ?? .last
        return .init(name: attribute.name, kind: kind, merge: merge, isRequired: !attribute.isOptional)
    }

    // MARK: Words

    private static func lineage(_ entity: NSEntityDescription) -> [NSEntityDescription] {
        Array(sequence(first: entity, next: { $0.superentity }))
    }

    private static func root(of entity: NSEntityDescription) -> String { lineage(entity).last?.name ?? "" }

    private static func isIgnored(_ entity: NSEntityDescription) -> Bool {
        lineage(entity).contains { flag($0.userInfo) }
    }

    private static func flag(_ userInfo: [AnyHashable: Any]?) -> Bool {
        (userInfo?["sync.ignore"] as? String) == "YES"
    }

    private static func word(_ key: String, of entity: NSEntityDescription) -> String? {
        lineage(entity).lazy.compactMap { $0.userInfo?[key] as? String }.first
    }

    private static func keys(of entity: NSEntityDescription, identity: String) -> [[String]] {
        var keys: [[String]] = []
        if let text = word("sync.key", of: entity) {
            keys.append(text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) })
        }
        for owner in lineage(entity) {
            for constraint in owner.uniquenessConstraints {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                if names.count == constraint.count { keys.append(names) }
            }
        }
        let attributes = entity.attributesByName
        return keys.filter { names in
            !names.isEmpty && names != [identity] && names.allSatisfy { attributes[$0] != nil }
        }
    }
}
