import CoreDataModel
import Foundation
import TestSupport

/// A model and the schema that Apple's Core Data made of it: a line of `schema-vectors.jsonl`, or one of
/// `schema-vectors-2.jsonl` whose rules are all known.
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
        var omitEntityIndex: Bool?
    }

    struct Attribute: Decodable {
        var name: String
        var type: Int32
        var optional: Bool
        var transient: Bool
        /// Those of a composite attribute.
        var elements: [Attribute]?
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
        var predicate: Condition?
    }

    /// The predicate of a partial index: `["kind", "=", 1]`, or `["AND", [[…], […]]]`.
    indirect enum Condition: Decodable {
        case comparison(String, String, Int?)
        case junction(String, [Condition])

        init(from decoder: any Decoder) throws {
            var parts = try decoder.unkeyedContainer()
            let first = try parts.decode(String.self)
            if first == "AND" || first == "OR" {
                self = .junction(first, try parts.decode([Condition].self))
            } else {
                let comparison = try parts.decode(String.self)
                self = .comparison(first, comparison, try parts.decodeNil() ? nil : try parts.decode(Int.self))
            }
        }

        var text: String {
            switch self {
            case .comparison(let name, let comparison, let value):
                "\(name) \(["=": "==", "<>": "!="][comparison] ?? comparison) \(value.map(String.init) ?? "nil")"
            case .junction(let word, let parts): parts.map { "(\($0.text))" }.joined(separator: " \(word) ")
            }
        }
    }

    var source: String
    var framework: Int
    var model: [String: Model]
    /// Type, name and SQL of each row of `sqlite_master`.
    var schema: [[String?]]
    /// The store's owner had removed some statements.
    var partial: Bool?
    /// The order of columns is not explained, in stores that have features of Apple's own apps besides.
    var fokOrderUnknown: Bool?

    static func all() throws -> [SchemaVector] {
        try ["schema-vectors.jsonl", "schema-vectors-2.jsonl"].flatMap(lines).filter { $0.fokOrderUnknown != true }
    }

    /// Libraries of Photos, with 53 to 74 entities.
    static func photos() throws -> [SchemaVector] {
        try lines(of: "schema-vectors-2.jsonl").filter { $0.source.contains("osxphotos") }
    }

    private static func lines(of file: String) throws -> [SchemaVector] {
        let text = try String(contentsOf: Fixtures.url(file), encoding: .utf8)
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
            let prefixes = ["ACHANGE", "ATRANSACTION", "Z_TRANSACTION", "ANSC", "Z_NSCK", "sqlite_autoindex_", "Z_RT_"]
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
            if model.omitEntityIndex == true { entity.userInfo["_NSEntityOmitSubentityColumnIndex"] = "YES" }
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
        var attribute = AttributeElement(type: AttributeType(rawValue: type) ?? .undefined)
        attribute.elements = (elements ?? []).map { $0.property(isIndexed: false) }
        var property = PropertyElement(name: name, kind: .attribute(attribute))
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
        index.predicate = predicate?.text
        index.elements = elements.map {
            let part = IndexedRowPart(expression: $0.property)
            var element =
                part.map { .init(expression: $0.rawValue) } ?? FetchIndexElement.Element(propertyName: $0.property)
            element.isAscending = $0.ascending
            element.isRTree = $0.type == 1
            return element
        }
        return index
    }
}
