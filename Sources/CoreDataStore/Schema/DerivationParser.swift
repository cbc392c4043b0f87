import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Resolves the tables and columns of a derived attribute's expression; see ``Derivation``.
struct DerivationParser {
    let schema: SchemaLayout
    let entity: CompiledEntity
    let property: CompiledProperty
    let text: String

    typealias Result = (
        source: DerivedAttribute.Source, function: SQLFunction?, entity: Int, attribute: CompiledProperty?
    )

    func parse() throws -> Result {
        let derivation: Derivation
        do {
            derivation = try Derivation.read(text, entity: entity, model: schema.model)
        } catch let problem as Derivation.Problem {
            throw failure(problem.reason)
        }
        let (source, entity) = try source(derivation.source)
        return (source, derivation.function?.sqlName, entity, derivation.attribute)
    }

    /// Checks that a database with typed columns can also store the attribute.
    ///
    /// - Throws: ``StoreFailure`` that names the required type.
    func checkTypes() throws {
        guard let derivation = try? Derivation.read(text, entity: entity, model: schema.model),
            let own = property.attribute?.type.kind
        else { return }
        func require(_ family: ColumnFamily, _ reason: String) throws {
            if ColumnFamily(own) != family {
                throw failure("\(reason), and the attribute is \(ColumnFamily(own).rawValue)")
            }
        }
        let read = derivation.attribute?.attribute.map { ColumnFamily($0.type.kind) } ?? .number
        switch derivation.source {
        case .now: try require(.date, "now() is a date")
        case .count:
            try require(.number, "a count is a number")
            if own == .boolean { throw failure("a count is a number, and the attribute is a Boolean") }
        case .own, .destination: try require(read, "what it is made of is \(read.rawValue)")
        case .aggregate(let aggregate, _, let attribute):
            let isOrdered = read == .number || read == .text || read == .date
            guard read == .number || isOrdered && (aggregate == .min || aggregate == .max) else {
                throw failure(
                    "the server knows no \(aggregate.rawValue) of '\(attribute.name)', which is \(read.rawValue)")
            }
            try require(read, "what it is made of is \(read.rawValue)")
        }
    }

    /// Types that a server converts to each other when it writes a column.
    private enum ColumnFamily: String {
        case number = "a number"
        case text = "a text"
        case date = "a date"
        case identifier = "a UUID"
        case bytes = "data"

        init(_ kind: ValueKind) {
            switch kind {
            case .integer, .boolean, .reference, .real, .single, .decimal: self = .number
            case .text, .link: self = .text
            case .date: self = .date
            case .identifier: self = .identifier
            case .bytes, .object, .composite: self = .bytes
            }
        }
    }

    func failure(_ reason: String) -> StoreFailure {
        StoreFailure(
            .unsupportedModel,
            "The derived attribute '\(property.name)' of entity '\(entity.name)' (\(text)) cannot be stored: \(reason).",
            entity: entity.name, property: property.name)
    }

    private func source(_ source: Derivation.Source) throws -> (DerivedAttribute.Source, entity: Int) {
        switch source {
        case .now: return (.now, entity.ordinal)
        case .own(let attribute): return (.own(column: try column(attribute, of: entity)), entity.ordinal)
        case .destination(let first, let attribute):
            let destination = try destination(of: first)
            guard let key = schema.columnName(entity: entity.ordinal, role: .destinationKey(slot: first.slot)) else {
                throw failure("'\(first.name)' is no stored to-one relationship")
            }
            let column = try column(attribute, of: destination)
            return (
                .destination(table: try table(of: destination), column: column, key: key), destination.ordinal
            )
        case .count(let property):
            let destination = try destination(of: property)
            let owner = StoreLayout.Relationship(entity: property.declaringEntity, slot: property.slot)
            if let join = schema.layout.joinTables[owner] {
                return (.linkCount(table: join.name, owner: join.ownerColumn), destination.ordinal)
            }
            let key = try backKey(property, destination)
            return (.count(table: try table(of: destination), key: key), destination.ordinal)
        case .aggregate(let aggregate, let property, let attribute):
            let destination = try destination(of: property)
            let column = try column(attribute, of: destination)
            let key = try backKey(property, destination)
            return (
                .aggregate(aggregate.sqlName, table: try table(of: destination), column: column, key: key),
                destination.ordinal
            )
        }
    }

    private func destination(of property: CompiledProperty) throws -> CompiledEntity {
        guard let relationship = property.relationship else { throw failure("'\(property.name)' is no relationship") }
        return schema.model.entities[relationship.destination]
    }

    /// Returns the column in the destination's table with the key of the relationship's owner.
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

    private func column(_ attribute: CompiledProperty, of owner: CompiledEntity) throws -> String {
        guard let column = schema.columnName(entity: owner.ordinal, role: .attribute(slot: attribute.slot)) else {
            throw failure("entity '\(owner.name)' has no stored attribute '\(attribute.name)'")
        }
        return column
    }

    private func table(of owner: CompiledEntity) throws -> String {
        guard let table = schema.table(ofRoot: owner.root)?.name else {
            throw failure("entity '\(owner.name)' is not in the store's configuration")
        }
        return table
    }
}

extension Derivation.Function {
    fileprivate var sqlName: SQLFunction {
        switch self {
        case .canonical: .canonical
        case .uppercase: .uppercase
        case .lowercase: .lowercase
        }
    }
}

extension Derivation.Aggregate {
    fileprivate var sqlName: SQLAggregate {
        switch self {
        case .sum: .sum
        case .min: .minimum
        case .max: .maximum
        case .average: .average
        }
    }
}
