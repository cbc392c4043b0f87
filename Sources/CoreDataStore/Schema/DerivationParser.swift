import CoreDataModel
import CoreDataSQL

/// Finds the tables and columns that a derived attribute's expression names; see ``Derivation``.
struct DerivationParser {
    let schema: SchemaLayout
    let entity: CompiledEntity
    let property: CompiledProperty
    let text: String

    typealias Result = (source: DerivedAttribute.Source, function: SQLFunction?, entity: Int)

    func parse() throws -> Result {
        let derivation: Derivation
        do {
            derivation = try Derivation.read(text, entity: entity, model: schema.model)
        } catch let problem as Derivation.Problem {
            throw failure(problem.reason)
        }
        let (source, entity) = try source(derivation.source)
        return (source, derivation.function?.sqlName, entity)
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
