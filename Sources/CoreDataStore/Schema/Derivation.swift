import CoreDataModel
import CoreDataPrimitives
import Foundation

/// The meaning of a derived attribute's expression in its model: `now()`, `name`, `unit.name`, `pages.@count`,
/// `pages.@sum.number`, `sum:(pages.number)`, `canonical:(unit.name)`.
struct Derivation {
    /// The source of the value.
    enum Source {
        /// The time of the save.
        case now
        /// An attribute of the row itself.
        case own(CompiledProperty)
        /// An attribute of the row that a to-one points to.
        case destination(relationship: CompiledProperty, CompiledProperty)
        /// The number of a to-many's members.
        case count(CompiledProperty)
        /// An aggregate of an attribute of a to-many's members.
        case aggregate(Aggregate, relationship: CompiledProperty, CompiledProperty)
    }

    enum Function: String {
        case canonical, uppercase, lowercase
    }

    enum Aggregate: String {
        case sum, min, max
        case average = "avg"

        init?(name: String) { self.init(rawValue: name == "average" ? "avg" : name) }
    }

    /// The reason why an expression is invalid.
    struct Problem: EngineFailure {
        var reason: String
    }

    let source: Source
    /// The function applied to the value, if any.
    let function: Function?

    private init(_ source: Source, in function: Function? = nil) {
        self.source = source
        self.function = function
    }

    /// The attribute that is read; `nil` for a time and a count.
    var attribute: CompiledProperty? {
        switch source {
        case .now, .count: nil
        case .own(let attribute), .destination(_, let attribute), .aggregate(_, _, let attribute): attribute
        }
    }

    /// - Throws: ``Problem``.
    static func read(_ text: String, entity: CompiledEntity, model: CompiledModel) throws -> Derivation {
        let reader = Reader(entity: entity, model: model)
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed == "now()" { return Derivation(.now) }
        guard let call = Self.call(trimmed) else {
            return Derivation(try reader.keyPath(trimmed, isInFunction: false))
        }
        if call.name == "count" { return Derivation(try reader.count(call.argument)) }
        if let function = Function(rawValue: call.name) {
            return Derivation(try reader.keyPath(call.argument, isInFunction: true), in: function)
        }
        guard let aggregate = Aggregate(name: call.name) else {
            throw Problem(reason: "there is no derivation with '\(call.name):'")
        }
        return Derivation(try reader.aggregate(aggregate, Reader.components(call.argument)))
    }

    /// Parses `name:(argument)`.
    private static func call(_ text: String) -> (name: String, argument: String)? {
        guard let start = text.range(of: ":("), text.hasSuffix(")") else { return nil }
        return (String(text[..<start.lowerBound]), String(text[start.upperBound...].dropLast()))
    }
}

extension Derivation {
    /// Resolves paths.
    private struct Reader {
        let entity: CompiledEntity
        let model: CompiledModel

        static func components(_ path: String) -> [String] {
            path.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ".").map(String.init)
        }

        func keyPath(_ path: String, isInFunction: Bool) throws -> Source {
            var parts = Self.components(path)
            if let position = parts.firstIndex(where: { $0.hasPrefix("@") }) {
                guard !isInFunction else { throw Problem(reason: "a function cannot take an aggregate") }
                let name = String(parts.remove(at: position).dropFirst())
                if name == "count" { return try count(parts.joined(separator: ".")) }
                guard let aggregate = Aggregate(name: name) else {
                    throw Problem(reason: "there is no aggregate '@\(name)'")
                }
                return try self.aggregate(aggregate, parts)
            }
            switch parts.count {
            case 1: return .own(try attribute(parts[0], of: entity))
            case 2:
                guard let first = entity.property(named: parts[0]), let relationship = first.relationship,
                    !relationship.isToMany, !first.isTransient
                else { throw Problem(reason: "'\(parts[0])' is no stored to-one relationship") }
                return .destination(
                    relationship: first, try attribute(parts[1], of: model.entities[relationship.destination]))
            default: throw Problem(reason: "a key path can lead through one to-one relationship")
            }
        }

        func count(_ path: String) throws -> Source {
            let parts = Self.components(path)
            guard parts.count == 1 else {
                throw Problem(reason: "only a relationship of the entity itself can be counted")
            }
            return .count(try toMany(parts[0]).property)
        }

        func aggregate(_ aggregate: Aggregate, _ parts: [String]) throws -> Source {
            guard parts.count == 2 else {
                throw Problem(
                    reason: "an aggregate needs a to-many relationship and an attribute of its destination")
            }
            let (property, relationship) = try toMany(parts[0])
            let attribute = try attribute(parts[1], of: model.entities[relationship.destination])
            guard model.inverse(of: relationship)?.relationship?.isToMany != true else {
                throw Problem(reason: "'\(property.name)' has no to-one inverse")
            }
            return .aggregate(aggregate, relationship: property, attribute)
        }

        private func toMany(
            _ name: String
        ) throws -> (property: CompiledProperty, relationship: CompiledRelationship) {
            guard let property = entity.property(named: name), let relationship = property.relationship,
                relationship.isToMany, !property.isTransient
            else { throw Problem(reason: "'\(name)' is no stored to-many relationship") }
            return (property, relationship)
        }

        private func attribute(_ name: String, of owner: CompiledEntity) throws -> CompiledProperty {
            guard let attribute = owner.property(named: name), attribute.attribute != nil, !attribute.isTransient
            else { throw Problem(reason: "entity '\(owner.name)' has no stored attribute '\(name)'") }
            return attribute
        }
    }
}
