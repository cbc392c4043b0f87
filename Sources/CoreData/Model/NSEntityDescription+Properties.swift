import CoreDataModel
import Foundation

/// An entity's properties by name, including inherited ones.
struct PropertyLookups: @unchecked Sendable {
    // Safe because stored lookups belong to a frozen model, whose descriptions any thread may read.

    var properties: [NSPropertyDescription]
    var propertiesByName: [String: NSPropertyDescription] = [:]
    var attributesByName: [String: NSAttributeDescription] = [:]
    var relationshipsByName: [String: NSRelationshipDescription] = [:]

    init(_ properties: [NSPropertyDescription]) {
        self.properties = properties
        for property in properties {
            propertiesByName[property.name] = property
            if let attribute = property as? NSAttributeDescription { attributesByName[property.name] = attribute }
            if let relationship = property as? NSRelationshipDescription {
                relationshipsByName[property.name] = relationship
            }
        }
    }
}

extension NSEntityDescription {
    /// The properties. For an entity in a model, inherited ones come first, then its own. Setting them sets its own
    /// ones.
    ///
    /// A property belongs to one entity only; use copies for several entities.
    public var properties: [NSPropertyDescription] {
        get {
            if let lookups { return lookups.properties }
            return model == nil ? ownProperties : allProperties
        }
        set {
            willChange("properties")
            setOwnProperties(
                newValue.filter { property in
                    property.owner == nil || property.owner === self || !inherits(from: property.entity)
                })
        }
    }

    /// The properties by name, including inherited ones.
    public var propertiesByName: [String: NSPropertyDescription] {
        lookups?.propertiesByName ?? PropertyLookups(allProperties).propertiesByName
    }

    /// The attributes by name, including inherited ones.
    public var attributesByName: [String: NSAttributeDescription] {
        lookups?.attributesByName ?? PropertyLookups(allProperties).attributesByName
    }

    /// The relationships by name, including inherited ones.
    public var relationshipsByName: [String: NSRelationshipDescription] {
        lookups?.relationshipsByName ?? PropertyLookups(allProperties).relationshipsByName
    }

    /// Returns the relationships, including inherited ones, whose destination is exactly that entity.
    public func relationships(forDestination entity: NSEntityDescription) -> [NSRelationshipDescription] {
        (lookups?.properties ?? allProperties).compactMap { property in
            guard let relationship = property as? NSRelationshipDescription,
                relationship.destinationEntity === entity
            else { return nil }
            return relationship
        }
    }

    private func inherits(from entity: NSEntityDescription) -> Bool {
        sequence(first: self, next: \.superentity).dropFirst().contains { $0 === entity }
    }

    /// Inherited properties, from the root down, then the entity's own.
    var allProperties: [NSPropertyDescription] { (superentity?.allProperties ?? []) + ownProperties }

    func setOwnProperties(_ properties: [NSPropertyDescription]) {
        for property in properties {
            ModelMutation.stop(refusalMessage(property: property))
        }
        for property in ownProperties { property.owner = nil }
        ownProperties = properties
        for property in properties { property.owner = self }
    }

    /// Returns why the entity cannot have that property, or `nil` if it can.
    func refusalMessage(property: NSPropertyDescription) -> String? {
        if let other = property.owner, other !== self {
            return """
                Property '\(property.name)' cannot be added to entity '\(name ?? "")': it belongs to \
                '\(other.name ?? "")' already. Use a copy of it (property.copy()).
                """
        }
        if property is NSExpressionDescription {
            return """
                '\(property.name)' cannot be a property of entity '\(name ?? "")': an expression is for a request's \
                propertiesToFetch. Use NSDerivedAttributeDescription for a computed attribute.
                """
        }
        return nil
    }

    // MARK: - Constraints

    /// Groups of properties whose values together are unique among the entity's objects.
    ///
    /// Set names or descriptions; the getter returns names.
    ///
    ///     reader.uniquenessConstraints = [["email"], ["lastName", "firstName"]]
    public var uniquenessConstraints: [[Any]] {
        get { storedUniquenessConstraints }
        set {
            willChange("uniquenessConstraints")
            storedUniquenessConstraints = newValue.map(Self.names)
        }
    }

    /// Groups of properties that are indexed together.
    @available(*, deprecated, message: "Use indexes instead")
    public var compoundIndexes: [[Any]] {
        get { storedCompoundIndexes }
        set {
            willChange("compoundIndexes")
            storedCompoundIndexes = newValue.map(Self.names)
        }
    }

    private static func names(_ group: [Any]) -> [String] {
        group.map { member in
            if let property = member as? NSPropertyDescription { return property.path }
            if let name = member as? String { return name }
            fatalError("A constraint has property names or NSPropertyDescriptions, not \(type(of: member)).")
        }
    }
}

extension NSEntityDescription: Sequence {
    /// The entity's properties, as `for property in entity` gives them.
    public func makeIterator() -> IndexingIterator<[NSPropertyDescription]> { properties.makeIterator() }
}
