import CoreDataDigests
import Foundation

/// The exchanged entities and properties of a model with their kinds, as a file, so that a device can tell what it does
/// not know yet.
package struct ModelOutline: Hashable, Sendable {
    /// In the order of their names.
    package let entities: [Entity]

    package struct Entity: Hashable, Sendable {
        package let name: String
        /// The name of the entity that it inherits from.
        package let parent: String?
        /// Inherited ones included, in the order of their names.
        package let properties: [Property]

        package init(_ name: String, parent: String? = nil, properties: [Property]) {
            (self.name, self.parent) = (name, parent)
            self.properties = properties.sorted { ModelOutline.precedes($0.name, $1.name) }
        }
    }

    package struct Property: Hashable, Sendable {
        package let name: String
        package let kind: Kind

        package init(_ name: String, _ kind: Kind) { (self.name, self.kind) = (name, kind) }
    }

    package enum Kind: Hashable, Sendable {
        /// By the names of its type and of its merge rule.
        case attribute(type: String, merge: String)
        case toOne(destination: String)
        /// A relationship that is exchanged as pairs.
        case pairs(destination: String, isOrdered: Bool)
        /// The position in an ordered relationship of another entity.
        case position
    }

    package init(_ entities: [Entity]) {
        self.entities = entities.sorted { Self.precedes($0.name, $1.name) }
    }

    fileprivate static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }
}

// MARK: Comparing

extension ModelOutline {
    /// What one model has and another has not, or has otherwise.
    package enum Difference: Hashable, Sendable, CustomStringConvertible {
        case entity(String)
        case property(String, of: String)
        case kind(property: String, of: String)

        package var description: String {
            switch self {
            case .entity(let name): "entity “\(name)”"
            case .property(let name, let entity): "property “\(entity).\(name)”"
            case .kind(let name, let entity): "the kind of “\(entity).\(name)”"
            }
        }
    }

    /// What this model has and another one has not: values of it wait on a device with the other model.
    package func unknown(to other: Self) -> [Difference] {
        let known = Dictionary(other.entities.map { ($0.name, $0) }) { first, _ in first }
        var result: [Difference] = []
        for entity in entities {
            guard let otherEntity = known[entity.name] else {
                result.append(.entity(entity.name))
                continue
            }
            let kinds = Dictionary(otherEntity.properties.map { ($0.name, $0.kind) }) { first, _ in first }
            for property in entity.properties where kinds[property.name] != property.kind {
                result.append(
                    kinds[property.name] == nil
                        ? .property(property.name, of: entity.name) : .kind(property: property.name, of: entity.name))
            }
        }
        return result
    }
}

// MARK: Bytes

extension ModelOutline {
    /// The SHA-256 of the outline: equal models have equal ones, whatever made them.
    package var hash: Data { Digests.sha256(content.asData) }

    package var name: FileName { .model(hash) }

    package var bytes: Data {
        var payload = ByteWriter()
        payload.field(1, content)
        return Frame.seal(.model, payload.bytes)
    }

    private var content: ByteWriter {
        var writer = ByteWriter()
        writer.varint(entities.count)
        for entity in entities {
            writer.string(entity.name)
            writer.string(entity.parent ?? "")
            writer.varint(entity.properties.count)
            for property in entity.properties {
                writer.string(property.name)
                property.kind.write(to: &writer)
            }
        }
        return writer
    }

    package init(bytes: Data) throws(FileFault) {
        var reader = try Fields(Frame.open(.model, bytes)).required(1)
        let count = try reader.count(ofSize: 3)
        var entities: [Entity] = []
        entities.reserveCapacity(count)
        for _ in 0..<count {
            let name = try reader.string()
            let parent = try reader.string()
            let propertyCount = try reader.count(ofSize: 2)
            var properties: [Property] = []
            properties.reserveCapacity(propertyCount)
            for _ in 0..<propertyCount {
                let name = try reader.string()
                properties.append(Property(name, try Kind(from: &reader)))
            }
            entities.append(Entity(name, parent: parent.isEmpty ? nil : parent, properties: properties))
        }
        try reader.finish()
        self.init(entities)
    }
}

extension ModelOutline.Kind {
    fileprivate func write(to writer: inout ByteWriter) {
        switch self {
        case .attribute(let type, let merge):
            writer.byte(0)
            writer.string(type)
            writer.string(merge)
        case .toOne(let destination):
            writer.byte(1)
            writer.string(destination)
        case .pairs(let destination, let isOrdered):
            writer.byte(isOrdered ? 3 : 2)
            writer.string(destination)
        case .position: writer.byte(4)
        }
    }

    fileprivate init(from reader: inout ByteReader) throws(FileFault) {
        let kind = try reader.byte()
        switch kind {
        case 0:
            let type = try reader.string()
            self = .attribute(type: type, merge: try reader.string())
        case 1: self = .toOne(destination: try reader.string())
        case 2, 3: self = .pairs(destination: try reader.string(), isOrdered: kind == 3)
        case 4: self = .position
        default: throw reader.fault("properties have no kind \(kind)")
        }
    }
}
