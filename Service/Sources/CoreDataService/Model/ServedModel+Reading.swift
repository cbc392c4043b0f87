import CoreData
import Foundation

extension ServedModel {
    /// A model that cannot be served, with everything that has to be changed.
    package struct Failure: Error, CustomStringConvertible {
        package let problems: [String]

        package var description: String { problems.joined(separator: "\n") }
    }

    /// Reads what is served of a model.
    ///
    /// - Parameters:
    ///   - decimalDigits: the digits that the store keeps of a decimal: a value with more is refused, not rounded.
    ///   - isOpen: whether anybody may read or create objects of an entity; closed entities need no identity.
    /// - Throws: ``Failure`` if an open entity has no identity, or a property name that JSON needs itself.
    package init(
        _ model: NSManagedObjectModel, decimalDigits: Int = 15, isOpen: (NSEntityDescription) -> Bool = { _ in true }
    ) throws(Failure) {
        var problems: [String] = []
        var omissions: [Omission] = []
        var identities: [String: String] = [:]
        let all = model.entities.sorted { ($0.name ?? "") < ($1.name ?? "") }
        for entity in all {
            let name = entity.name ?? ""
            guard isOpen(entity) else {
                omissions.append(.init(entity: name, reason: "no rule allows anybody to read or create its objects"))
                continue
            }
            guard name.utf8.allSatisfy({ $0 != UInt8(ascii: "/") && $0 > 0x20 }) else {
                problems.append("\(name): an address cannot have this entity name: rename the entity")
                continue
            }
            switch Self.identity(of: entity) {
            case .success(let identity): identities[name] = identity
            case .failure(let failure): problems += failure.problems
            }
        }
        guard problems.isEmpty else { throw Failure(problems: problems) }
        guard !identities.isEmpty else {
            throw Failure(problems: [
                "No entity is open to anybody: give an entity rules, for example allow.read = signedIn in its userInfo."
            ])
        }
        var entities: [String: ServedEntity] = [:]
        for entity in all {
            guard let name = entity.name, let identity = identities[name] else { continue }
            var properties: [ServedProperty] = []
            for property in entity.propertiesByName.values.sorted(by: { $0.name < $1.name }) {
                switch Self.property(property, identities, decimalDigits) {
                case .success(let property): properties.append(property)
                case .failure(let reason):
                    omissions.append(.init(entity: name, property: property.name, reason: reason.words))
                }
            }
            entities[name] = ServedEntity(
                name: name, isAbstract: entity.isAbstract, superentity: entity.superentity?.name,
                descendants: Self.descendants(of: entity).filter { identities[$0] != nil }.sorted(), identity: identity,
                properties: properties)
        }
        self.entities = entities
        self.omissions = omissions
    }

    private static func descendants(of entity: NSEntityDescription) -> [String] {
        entity.subentities.flatMap { [$0.name ?? ""] + descendants(of: $0) }
    }

    // MARK: Identities

    /// The attribute that identifies objects: the one that `sync.id` names, or the only UUID attribute with a
    /// uniqueness constraint of its own.
    private static func identity(of entity: NSEntityDescription) -> Result<String, Failure> {
        let name = entity.name ?? ""
        var candidates: [String] = []
        var next: NSEntityDescription? = entity
        while let entity = next {
            for constraint in entity.uniquenessConstraints where constraint.count == 1 {
                let names = constraint.compactMap { ($0 as? String) ?? ($0 as? NSPropertyDescription)?.name }
                if let name = names.first, !candidates.contains(name),
                    entity.attributesByName[name]?.attributeType == .UUIDAttributeType
                {
                    candidates.append(name)
                }
            }
            next = entity.superentity
        }
        next = entity
        while let entity = next {
            if let chosen = entity.userInfo?["sync.id"] as? String {
                guard candidates.contains(chosen) else {
                    return .failure(
                        Failure(problems: [
                            "\(name): sync.id names '\(chosen)', which must be a UUID attribute with a uniqueness constraint "
                                + "of its own: add the constraint '\(chosen)' to \(root(of: entity))"
                        ]))
                }
                return .success(chosen)
            }
            next = entity.superentity
        }
        switch candidates.count {
        case 1: return .success(candidates[0])
        case 0:
            return .failure(
                Failure(problems: [
                    "\(name): its objects have no ID that a client can know: add the attribute 'id' of the type UUID and the "
                        + "uniqueness constraint 'id' to \(root(of: entity)), or close the entity"
                ]))
        default:
            return .failure(
                Failure(problems: [
                    "\(name): several UUIDs are unique (\(candidates.sorted().joined(separator: ", "))): name one as sync.id in "
                        + "the userInfo of the entity"
                ]))
        }
    }

    private static func root(of entity: NSEntityDescription) -> String {
        var root = entity
        while let next = root.superentity { root = next }
        return root.name ?? ""
    }

    // MARK: Properties

    private struct Reason: Error {
        let words: String

        init(_ words: String) { self.words = words }
    }

    private static func property(
        _ property: NSPropertyDescription, _ identities: [String: String], _ digits: Int
    ) -> Result<ServedProperty, Reason> {
        switch property {
        case let attribute as NSAttributeDescription: return Self.attribute(attribute, digits).map { .attribute($0) }
        case let relationship as NSRelationshipDescription:
            guard let destination = relationship.destinationEntity?.name, identities[destination] != nil else {
                return .failure(Reason("the entity that it refers to is not served"))
            }
            return .success(
                .relationship(
                    ServedRelationship(
                        name: relationship.name, destination: destination, isToMany: relationship.isToMany,
                        isOrdered: relationship.isOrdered, isOptional: relationship.isOptional,
                        inverse: relationship.inverseRelationship?.name)))
        default: return .failure(Reason("a fetched property is a request of a program: send its predicate as where"))
        }
    }

    private static func attribute(
        _ attribute: NSAttributeDescription, _ digits: Int
    ) -> Result<ServedAttribute, Reason> {
        form(attribute, digits).map { form in
            var served = ServedAttribute(name: attribute.name, form: form)
            served.isOptional = attribute.isOptional
            served.hasDefault = attribute.defaultValue != nil
            served.isDerived = attribute is NSDerivedAttributeDescription
            served.isTransient = attribute.isTransient
            if let type = attribute.userInfo?["service.mediaType"] as? String { served.mediaType = type }
            return served
        }
    }

    private static func form(_ attribute: NSAttributeDescription, _ digits: Int) -> Result<AttributeForm, Reason> {
        switch attribute.attributeType {
        case .integer16AttributeType: return .success(.integer(Int64(Int16.min)...Int64(Int16.max)))
        case .integer32AttributeType: return .success(.integer(Int64(Int32.min)...Int64(Int32.max)))
        case .integer64AttributeType: return .success(.integer(.integers))
        case .decimalAttributeType: return .success(.decimal(digits: digits))
        case .doubleAttributeType: return .success(.double)
        case .floatAttributeType: return .success(.float)
        case .stringAttributeType: return .success(.string)
        case .booleanAttributeType: return .success(.boolean)
        case .dateAttributeType: return .success(.date)
        case .binaryDataAttributeType:
            return .success(attribute.allowsExternalBinaryDataStorage ? .largeBytes : .bytes)
        case .UUIDAttributeType: return .success(.uuid)
        case .URIAttributeType: return .success(.uri)
        case .transformableAttributeType:
            return .failure(
                Reason(
                    "only a program knows the class of a transformable value: store it as text, bytes or a composite"))
        case .compositeAttributeType:
            guard let composite = attribute as? NSCompositeAttributeDescription else {
                return .failure(Reason("the composite attribute has no elements"))
            }
            var elements: [ServedAttribute] = []
            for element in composite.elements {
                switch Self.attribute(element, digits) {
                case .success(let element): elements.append(element)
                case .failure(let reason): return .failure(Reason("its element \(element.name): \(reason.words)"))
                }
            }
            return .success(.composite(elements))
        case .undefinedAttributeType, .objectIDAttributeType:
            return .failure(Reason("its values exist in a program only"))
        }
    }
}
