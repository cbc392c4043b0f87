import CoreDataModel
import CoreDataSQL

/// What a store's file has before it is migrated, as a value.
package struct MigrationSource: Sendable {
    /// A table, index or trigger.
    package struct Part: Hashable, Sendable {
        package enum Kind: String, Sendable {
            case table, index, trigger
        }

        package var kind: Kind
        package var name: String
        package var table: String
        /// The statement that made it, where the database keeps that.
        package var text: String?
    }

    /// The layout of the older model, with the columns that there are.
    package var schema: SchemaLayout
    package var numbers: [EntityNumber]
    package var metadata: MetadataRow
    package var parts: [Part]
    /// The columns of the history's changes; empty where there is no history.
    package var changeColumns: [String]
    /// The columns of each table, all in capitals; also those that the model knows nothing of.
    package var columns: [String: Set<String>]
    /// The columns of each table with their types, where the catalog keeps no statements.
    package var types: [String: [String: String]] = [:]

    /// The entities of the older model that the store has, by ordinal.
    package var entities: [Int] { schema.entities }

    var tables: [String: Part] {
        Dictionary(
            parts.filter { $0.kind == .table }.map { ($0.name.uppercased(), $0) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension MigrationSource {
    /// Reads what a migration has to know of a file.
    ///
    /// - Parameter entities: those of the model that the store's metadata names.
    static func read(
        _ connection: any SQLConnection, model: CompiledModel, entities: [Int], metadata: MetadataRow
    ) throws -> MigrationSource {
        let catalog = try StoreCatalog.read(connection)
        let parts = try parts(connection)
        return MigrationSource(
            schema: try SchemaLayout.existing(model: model, entities: entities, connection: connection),
            numbers: try EntityNumber.all(in: connection), metadata: metadata, parts: parts,
            changeColumns: catalog.hasHistory ? catalog.table(BookkeepingSchema.changeTable)?.columns ?? [] : [],
            columns: Dictionary(
                catalog.tables.map { ($0.name.uppercased(), Set($0.columns.map { $0.uppercased() })) },
                uniquingKeysWith: { first, _ in first }), types: try types(connection))
    }

    private static func types(_ connection: any SQLConnection) throws -> [String: [String: String]] {
        guard !connection.dialect.keepsTexts else { return [:] }
        let names = connection.dialect.names
        var types: [String: [String: String]] = [:]
        for row in try connection.rows(CatalogQuery.columns) {
            guard case .text(let table) = row[0], case .text(let column) = row[1], case .text(let type) = row[2] else {
                continue
            }
            let name = names?.originalColumn(column, of: table) ?? column
            types[names?.original(table) ?? table, default: [:]][name] = type
        }
        return types
    }

    /// The tables, indexes and triggers of a file.
    static func parts(_ connection: any SQLConnection) throws -> [Part] {
        let names = connection.dialect.names
        return try connection.rows(CatalogQuery.texts).compactMap { row -> Part? in
            guard case .text(let type) = row[0], let kind = Part.Kind(rawValue: type), case .text(let stored) = row[1],
                case .text(let storedTable) = row[2]
            else { return nil }
            let name = names?.original(stored) ?? stored
            let table = names?.original(storedTable) ?? storedTable
            if case .text(let text) = row[3] { return Part(kind: kind, name: name, table: table, text: text) }
            return Part(kind: kind, name: name, table: table)
        }
    }
}
