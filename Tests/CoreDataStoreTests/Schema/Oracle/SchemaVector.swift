import CoreDataModel
import Foundation
import TestSupport

/// A model and the schema that Apple's Core Data made of it: a line of `schema-vectors.jsonl`.
struct SchemaVector: Decodable {
    struct Model: Decodable {
        var parent: String?
        var abstract: Bool
        var attributes: [Attribute]
        var relationships: [Relationship]
        var unique: [[String]]
        var fetchIndexes: [Index]
        var indexed: [String]
        var compoundIndexes: [[String]]
    }

    struct Attribute: Decodable {
        var name: String
        var type: Int32
        var optional: Bool
        var transient: Bool
    }

    struct Relationship: Decodable {
        var name: String
        var destination: String
        var inverse: String?
        var toMany: Bool
        var ordered: Bool
        var optional: Bool
        var transient: Bool
    }

    struct Index: Decodable {
        struct Element: Decodable {
            var property: String
            var type: Int
            var ascending: Bool
        }

        var name: String
        var elements: [Element]
        var partial: Bool
    }

    var source: String
    var framework: Int
    var model: [String: Model]
    /// Type, name and SQL of each row of `sqlite_master`.
    var schema: [[String?]]
    /// The store's owner had removed some statements.
    var partial: Bool?

    static func all() throws -> [SchemaVector] {
        let text = try String(contentsOf: Fixtures.url("schema-vectors.jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map {
            try JSONDecoder().decode(SchemaVector.self, from: Data($0.utf8))
        }
    }

    /// Whether the schema is in the style of today.
    var isCurrent: Bool { framework >= 866 && partial != true }

    /// What stands for entities: tables, join tables, indexes.
    var statements: [String] {
        schema.compactMap { row in
            guard let name = row[1], row[0] != "trigger" else { return nil }
            let others = ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE"]
            let prefixes = ["ACHANGE", "ATRANSACTION", "Z_TRANSACTION", "ANSC", "Z_NSCK", "sqlite_autoindex_"]
            if others.contains(name) || prefixes.contains(where: name.hasPrefix) { return nil }
            return row[2]?.trimmingCharacters(in: .whitespaces)
        }
    }

    var document: ModelDocument {
        var document = ModelDocument()
        document.origin = .cached
        document.entities = model.sorted { $0.key < $1.key }.map { name, model in
            var entity = EntityElement(name: name)
            entity.parentName = model.parent
            entity.isAbstract = model.abstract
            entity.properties = model.attributes.map { $0.property(isIndexed: model.indexed.contains($0.name)) }
            entity.properties += model.relationships.map(\.property)
            entity.uniquenessConstraints = model.unique
            entity.fetchIndexes = model.fetchIndexes.map(\.element)
            let listed = entity.fetchIndexes.map { $0.elements.map(\.propertyName) }
            entity.compoundIndexes = model.compoundIndexes.filter { !listed.contains($0) }
            return entity
        }
        return document
    }
}

extension SchemaVector.Attribute {
    fileprivate func property(isIndexed: Bool) -> PropertyElement {
        var property = PropertyElement(
            name: name, kind: .attribute(AttributeElement(type: AttributeType(rawValue: type) ?? .undefined)))
        property.isOptional = optional
        property.isTransient = transient
        property.isIndexed = isIndexed
        return property
    }
}

extension SchemaVector.Relationship {
    fileprivate var property: PropertyElement {
        var relationship = RelationshipElement()
        relationship.destinationName = destination
        relationship.inverseName = inverse
        relationship.inverseEntityName = inverse == nil ? nil : destination
        relationship.maxCount = toMany ? 0 : 1
        relationship.isOrdered = ordered
        var property = PropertyElement(name: name, kind: .relationship(relationship))
        property.isOptional = optional
        property.isTransient = transient
        return property
    }
}

extension SchemaVector.Index {
    fileprivate var element: FetchIndexElement {
        var index = FetchIndexElement(name: name)
        index.elements = elements.map {
            var element = FetchIndexElement.Element(propertyName: $0.property)
            element.isAscending = $0.ascending
            element.isRTree = $0.type == 1
            return element
        }
        return index
    }
}
