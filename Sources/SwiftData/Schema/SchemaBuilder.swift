import Foundation

/// Makes the entities of a schema of model classes.
enum SchemaBuilder {
    /// Returns the classes, those that their relationships refer to, and their superclasses; the given ones first.
    ///
    /// Subclasses are not found, since no declaration refers to them.
    static func reachable(from types: [any PersistentModel.Type]) -> [any PersistentModel.Type] {
        var result: [any PersistentModel.Type] = []
        var seen: Set<ObjectIdentifier> = []
        var queue = types
        while !queue.isEmpty {
            let type = queue.removeFirst()
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            result.append(type)
            let layout = ModelLayout.of(type)
            if let superclass = layout.superclass { queue.append(superclass.type) }
            queue += layout.properties.compactMap(\.destination)
        }
        return result
    }

    static func entities(of types: [any PersistentModel.Type]) -> [Schema.Entity] {
        let entities = types.map { entity(of: ModelLayout.of($0)) }
        connect(entities)
        return entities
    }

    private static func entity(of layout: ModelLayout) -> Schema.Entity {
        let entity = Schema.Entity(layout.entityName, properties: layout.properties.map(property))
        entity.superentityName = layout.superclass?.entityName
        // A key path that is no property is an error of the container, not of the schema: see SchemaCompiler.
        entity.uniquenessConstraints += (try? layout.uniquenessConstraints()) ?? []
        entity.indices = ((try? layout.indexes()) ?? []).filter { !$0.isRTree }.map(\.properties)
        return entity
    }

    /// Sets superentities, subentities and inherited properties by the entities' names.
    static func connect(_ entities: [Schema.Entity]) {
        let byName = Dictionary(entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for entity in entities {
            guard let superentity = entity.superentityName.flatMap({ byName[$0] }), superentity !== entity else {
                continue
            }
            entity.superentity = superentity
            superentity.subentities.insert(entity)
        }
        for entity in entities {
            var inherited: [any SchemaProperty] = []
            var seen: Set<String> = [entity.name]
            var next = entity.superentity
            while let ancestor = next, seen.insert(ancestor.name).inserted {
                inherited = ancestor.storedProperties + inherited
                next = ancestor.superentity
            }
            entity.inheritedProperties = inherited
        }
    }

    // MARK: Properties

    private static func property(_ property: ModelProperty) -> any SchemaProperty {
        if case .attribute(let form) = property.form { return attribute(property, form) }
        let given = property.relationship
        let relationship = Schema.Relationship(
            deleteRule: given?.deleteRule ?? .nullify, minimumModelCount: given?.minimumModelCount ?? 0,
            maximumModelCount: given?.maximumModelCount ?? 0, inverse: given?.inverseKeyPath,
            hashModifier: given?.hashModifier)
        relationship.options = given?.options ?? []
        relationship.name = property.name
        relationship.originalName = given.map(\.originalName).flatMap { $0.isEmpty ? nil : $0 } ?? property.name
        relationship.valueType = property.valueType
        relationship.keypath = property.keyPath
        relationship.destination = property.destination.map { ModelLayout.of($0).entityName } ?? ""
        relationship.inverseName = property.inverse
        return relationship
    }

    private static func attribute(_ property: ModelProperty, _ form: AttributeForm) -> Schema.Attribute {
        let given = property.attribute
        let originalName = given.map(\.originalName).flatMap { $0.isEmpty ? nil : $0 } ?? property.name
        let attribute: Schema.Attribute
        if case .composite(let elements) = form.kind {
            attribute = Schema.CompositeAttribute(
                name: property.name, originalName: originalName, options: given?.options ?? [],
                valueType: property.valueType, defaultValue: property.defaultValue,
                hashModifier: given?.hashModifier, properties: elements.map(Self.element))
        } else {
            attribute = Schema.Attribute(
                name: property.name, originalName: originalName, options: given?.options ?? [],
                valueType: property.valueType, defaultValue: property.defaultValue,
                hashModifier: given?.hashModifier)
        }
        attribute.form = form
        return attribute
    }

    private static func element(_ element: AttributeForm.Element) -> Schema.Attribute {
        let attribute: Schema.Attribute
        if case .composite(let inner) = element.form.kind {
            attribute = Schema.CompositeAttribute(
                name: element.name, valueType: element.form.valueType, properties: inner.map(Self.element))
        } else {
            attribute = Schema.Attribute(name: element.name, valueType: element.form.valueType)
        }
        attribute.isOptional = element.form.isOptional
        attribute.form = element.form
        return attribute
    }
}
