import CoreData
import CoreDataModel
import Foundation

/// Makes the managed object model of a schema: the one that Apple's derives, by names, types, optionality, constraints
/// and indexes, so that version hashes and columns are the same.
package enum SchemaCompiler {
    /// The model, and the classes by their entities' names.
    ///
    /// - Throws: ``SwiftDataError/loadIssueModelContainer`` with the entity and property that cannot be stored.
    package static func managedObjectModel(
        of schema: Schema
    ) throws -> (NSManagedObjectModel, types: [String: any PersistentModel.Type]) {
        var types: [String: any PersistentModel.Type] = [:]
        for type in schema.types {
            let layout = ModelLayout.of(type)
            if let problem = layout.problem { throw SwiftDataError(.loadIssueModelContainer, problem) }
            if let other = types.updateValue(type, forKey: layout.entityName) {
                throw SwiftDataError(
                    .loadIssueModelContainer,
                    "\(String(reflecting: other)) and \(String(reflecting: type)) are both entity "
                        + "'\(layout.entityName)'. One schema has one class of a name. If these are two versions, a "
                        + "relationship refers to the class of the other version.")
            }
            // Their key paths are checked here, and reported.
            _ = try layout.uniquenessConstraints()
            _ = try layout.indexes()
        }
        return (try model(of: schema, types), types)
    }

    private static func model(
        of schema: Schema, _ types: [String: any PersistentModel.Type]
    ) throws -> NSManagedObjectModel {
        var descriptions: [String: NSEntityDescription] = [:]
        for entity in schema.entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.renamingIdentifier = entity.name
            description.runtimeClass = ModelObject.self
            descriptions[entity.name] = description
        }
        var compiled: [(Schema.Entity, NSEntityDescription)] = []
        for entity in schema.entities {
            guard let description = descriptions[entity.name] else { continue }
            description.properties = try entity.storedProperties.compactMap {
                try property($0, of: entity, descriptions)
            }
            compiled.append((entity, description))
        }
        for (entity, description) in compiled {
            description.subentities = compiled.filter { $0.0.superentityName == entity.name }.map(\.1)
        }
        for (entity, description) in compiled {
            for (name, property) in description.relationshipsByName where property.entity === description {
                let relationship = entity.storedPropertiesByName[name] as? Schema.Relationship
                guard let inverse = relationship?.inverseName, let destination = property.destinationEntity else {
                    continue
                }
                property.inverseRelationship =
                    sequence(first: destination, next: \.superentity)
                    .lazy.compactMap { $0.relationshipsByName[inverse] }.first
            }
        }
        for (entity, description) in compiled {
            description.uniquenessConstraints = try constraints(of: entity)
            description.indexes = try indexes(of: entity, types[entity.name])
        }
        let model = NSManagedObjectModel()
        model.entities = compiled.map(\.1)
        model.versionIdentifiers = [schema.version.description]
        model.setEntities(model.entities, forConfigurationName: ModelConfiguration.defaultName)
        return model
    }

    // MARK: Properties

    private static func property(
        _ property: any SchemaProperty, of entity: Schema.Entity, _ entities: [String: NSEntityDescription]
    ) throws -> NSPropertyDescription? {
        if ReservedNames.contains(property.name) {
            throw SwiftDataError(
                .loadIssueModelContainer,
                "\(entity.name).\(property.name) has the name of a member of all managed objects. Rename it, and for "
                    + "data that exists say @Attribute(originalName: \"\(property.name)\").")
        }
        if let attribute = property as? Schema.Attribute {
            return try AttributeCompiler(entity: entity.name).description(of: attribute)
        }
        guard let relationship = property as? Schema.Relationship else { return nil }
        guard let destination = entities[relationship.destination] else {
            throw SwiftDataError(
                .loadIssueModelContainer,
                "\(entity.name).\(relationship.name) refers to entity '\(relationship.destination)', which the schema lacks."
            )
        }
        let description = NSRelationshipDescription()
        description.name = relationship.name
        description.renamingIdentifier = relationship.originalName
        description.versionHashModifier = relationship.hashModifier
        description.isOptional = relationship.isOptional
        description.destinationEntity = destination
        let isToOne = relationship.isToOneRelationship
        let minimum = relationship.minimumModelCount ?? 0
        let maximum = relationship.maximumModelCount ?? 0
        // A to-many relationship of at most 1 would be a to-one relationship.
        description.maxCount = isToOne ? 1 : maximum == 1 ? 0 : maximum
        description.minCount = isToOne ? 0 : minimum
        description.deleteRule =
            switch relationship.deleteRule {
            case .noAction: .noActionDeleteRule
            case .nullify: .nullifyDeleteRule
            case .cascade: .cascadeDeleteRule
            case .deny: .denyDeleteRule
            }
        return description
    }

    // MARK: Constraints and indexes

    /// Returns the constraints by columns: an enumeration's is its raw value's, a struct's are those of its members.
    private static func constraints(of entity: Schema.Entity) throws -> [[String]] {
        try entity.uniquenessConstraints.map { names in try names.flatMap { try columns($0, of: entity) } }
    }

    private static func columns(_ name: String, of entity: Schema.Entity) throws -> [String] {
        guard let attribute = entity.attributesByName[name] else { return [name] }
        if let composite = attribute as? Schema.CompositeAttribute {
            return leaves(composite).map { "\(name).\($0)" }
        }
        return [name]
    }

    private static func leaves(_ composite: Schema.CompositeAttribute) -> [String] {
        composite.properties.flatMap { element -> [String] in
            guard let inner = element as? Schema.CompositeAttribute else { return [element.name] }
            return leaves(inner).map { "\(element.name).\($0)" }
        }
    }

    private static func indexes(
        of entity: Schema.Entity, _ type: (any PersistentModel.Type)?
    ) throws -> [NSFetchIndexDescription] {
        let declared =
            try type.map { try ModelLayout.of($0).indexes() }
            ?? entity.indices.map { ModelIndexDeclaration(isRTree: false, properties: $0) }
        var names: Set<String> = []
        return try declared.compactMap { index in
            let name =
                (index.isRTree ? "SwiftDataIndexOnRTree" : "SwiftDataIndexOnBinary")
                + index.properties.map { $0.replacing(".", with: "") }.joined()
            guard names.insert(name).inserted else { return nil }
            let elements = try index.properties.flatMap { try columns($0, of: entity) }.map { path in
                // Stands for the property of that path until the index is part of the entity.
                let property = NSAttributeDescription()
                property.name = path
                return NSFetchIndexElementDescription(
                    property: property, collationType: index.isRTree ? .rTree : .binary)
            }
            return NSFetchIndexDescription(name: name, elements: elements)
        }
    }
}
