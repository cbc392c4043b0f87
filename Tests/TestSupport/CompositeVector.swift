import CoreDataModel
import Foundation

/// An entity with composite attributes as SwiftData derived it, and what Apple's Core Data made of it: a line of
/// `composite-vectors.jsonl`, whose entities are those of one store.
package struct CompositeVector: Decodable {
    struct Attribute: Decodable {
        var name: String
        var optional: Bool
        var type: Int32
        var elements: [Attribute]?
    }

    struct Relationship: Decodable {
        var name: String
        var opt: Bool
        var min: Int
        var max: Int
        var delete: Int
        var dest: String
        var inv: String?
    }

    package let entity: String
    let attributes: [Attribute]
    let relationships: [Relationship]
    let unique: [[String]]
    /// The version hash, in hexadecimal.
    package let hash: String
    /// The table, then its indexes.
    package let sql: [String]

    package static func all() throws -> [CompositeVector] {
        let text = try String(contentsOf: Fixtures.url("composite-vectors.jsonl"), encoding: .utf8)
        return try text.split(separator: "\n").map {
            try JSONDecoder().decode(CompositeVector.self, from: Data($0.utf8))
        }
    }

    /// The model of the store.
    package static func document() throws -> ModelDocument {
        var document = ModelDocument()
        document.origin = .cached
        document.entities = try all().map { vector in
            var entity = EntityElement(name: vector.entity)
            entity.properties = vector.attributes.map(\.property) + vector.relationships.map(\.property)
            entity.uniquenessConstraints = vector.unique
            return entity
        }
        return document
    }
}

extension CompositeVector.Attribute {
    fileprivate var property: PropertyElement {
        var attribute = AttributeElement(type: AttributeType(rawValue: type) ?? .undefined)
        attribute.elements = (elements ?? []).map(\.property)
        var property = PropertyElement(name: name, kind: .attribute(attribute))
        property.isOptional = optional
        return property
    }
}

extension CompositeVector.Relationship {
    fileprivate var property: PropertyElement {
        var relationship = RelationshipElement()
        relationship.destinationName = dest
        relationship.inverseName = inv
        relationship.inverseEntityName = inv == nil ? nil : dest
        relationship.minCount = min
        relationship.maxCount = max
        relationship.deleteRule = DeleteRule(rawValue: delete) ?? .nullify
        var property = PropertyElement(name: name, kind: .relationship(relationship))
        property.isOptional = opt
        return property
    }
}
