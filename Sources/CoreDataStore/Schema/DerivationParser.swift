import CoreDataModel
import CoreDataSQL
import Foundation

/// Reads a derivation's text: `now()`, `name`, `unit.name`, `pages.@count`, `pages.@sum.number`,
/// `sum:(pages.number)`, `canonical:(unit.name)`.
struct DerivationParser {
    let schema: SchemaLayout
    let entity: CompiledEntity
    let property: CompiledProperty
    let text: String

    typealias Result = (source: DerivedAttribute.Source, function: String?, entity: Int)

    private static let functions = [
        "canonical": SQLFunctionName.canonical, "uppercase": SQLFunctionName.uppercase,
        "lowercase": SQLFunctionName.lowercase,
    ]
    private static let aggregates = ["sum": "SUM", "min": "MIN", "max": "MAX", "avg": "AVG", "average": "AVG"]

    func parse() throws -> Result {
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed == "now()" { return (.now, nil, entity.ordinal) }
        guard let call = Self.call(trimmed) else { return try keyPath(trimmed, function: nil) }
        if call.name == "count" { return try count(call.argument) }
        if let function = Self.functions[call.name] { return try keyPath(call.argument, function: function) }
        if let aggregate = Self.aggregates[call.name] {
            return try self.aggregate(aggregate, components(call.argument))
        }
        throw failure("there is no derivation with '\(call.name):'")
    }

    func failure(_ reason: String) -> StoreFailure {
        StoreFailure(
            .unsupportedModel,
            "The derived attribute '\(property.name)' of entity '\(entity.name)' (\(text)) cannot be stored: \(reason).",
            entity: entity.name, property: property.name)
    }

    /// `name:(argument)`
    private static func call(_ text: String) -> (name: String, argument: String)? {
        guard let start = text.range(of: ":("), text.hasSuffix(")") else { return nil }
        return (String(text[..<start.lowerBound]), String(text[start.upperBound...].dropLast()))
    }

    private func components(_ path: String) -> [String] {
        path.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ".").map(String.init)
    }

    private func keyPath(_ path: String, function: String?) throws -> Result {
        var parts = components(path)
        if let position = parts.firstIndex(where: { $0.hasPrefix("@") }) {
            guard function == nil else { throw failure("a function cannot take an aggregate") }
            let name = String(parts.remove(at: position).dropFirst())
            if name == "count" { return try count(parts.joined(separator: ".")) }
            guard let aggregate = Self.aggregates[name] else { throw failure("there is no aggregate '@\(name)'") }
            return try self.aggregate(aggregate, parts)
        }
        switch parts.count {
        case 1:
            let column = try attributeColumn(parts[0], of: entity)
            return (.own(column: column), function, entity.ordinal)
        case 2:
            guard let first = entity.property(named: parts[0]), let relationship = first.relationship,
                !relationship.isToMany,
                let key = schema.columnName(entity: entity.ordinal, role: .destinationKey(slot: first.slot))
            else { throw failure("'\(parts[0])' is no stored to-one relationship") }
            let destination = schema.model.entities[relationship.destination]
            let column = try attributeColumn(parts[1], of: destination)
            return (
                .destination(table: try table(of: destination), column: column, key: key), function,
                destination.ordinal
            )
        default: throw failure("a key path can lead through one to-one relationship")
        }
    }

    private func count(_ path: String) throws -> Result {
        let parts = components(path)
        guard parts.count == 1 else { throw failure("only a relationship of the entity itself can be counted") }
        let (property, destination) = try toMany(parts[0])
        let owner = StoreLayout.Relationship(entity: property.declaringEntity, slot: property.slot)
        if let join = schema.layout.joinTables[owner] {
            return (.linkCount(table: join.name, owner: join.ownerColumn), nil, destination.ordinal)
        }
        let key = try backKey(property, destination)
        return (.count(table: try table(of: destination), key: key), nil, destination.ordinal)
    }

    private func aggregate(_ name: String, _ parts: [String]) throws -> Result {
        guard parts.count == 2 else {
            throw failure("an aggregate needs a to-many relationship and an attribute of its destination")
        }
        let (property, destination) = try toMany(parts[0])
        let column = try attributeColumn(parts[1], of: destination)
        let key = try backKey(property, destination)
        return (
            .aggregate(name, table: try table(of: destination), column: column, key: key), nil,
            destination.ordinal
        )
    }

    private func toMany(_ name: String) throws -> (CompiledProperty, CompiledEntity) {
        guard let property = entity.property(named: name), let relationship = property.relationship,
            relationship.isToMany, !property.isTransient
        else { throw failure("'\(name)' is no stored to-many relationship") }
        return (property, schema.model.entities[relationship.destination])
    }

    /// The column in the destination's table that holds the key of the relationship's owner.
    private func backKey(_ property: CompiledProperty, _ destination: CompiledEntity) throws -> String {
        let inverse = property.relationship.flatMap { schema.model.inverse(of: $0) }
        let role: RowLayout.Role =
            inverse.map { .destinationKey(slot: $0.slot) }
            ?? .ownerKey(entity: property.declaringEntity, slot: property.slot)
        guard let column = schema.columnName(entity: destination.ordinal, role: role) else {
            throw failure("'\(property.name)' has no to-one inverse")
        }
        return column
    }

    private func attributeColumn(_ name: String, of owner: CompiledEntity) throws -> String {
        guard let attribute = owner.property(named: name), attribute.attribute != nil,
            let column = schema.columnName(entity: owner.ordinal, role: .attribute(slot: attribute.slot))
        else { throw failure("entity '\(owner.name)' has no stored attribute '\(name)'") }
        return column
    }

    private func table(of owner: CompiledEntity) throws -> String {
        guard let table = schema.table(ofRoot: owner.root)?.name else {
            throw failure("entity '\(owner.name)' is not in the store's configuration")
        }
        return table
    }
}
