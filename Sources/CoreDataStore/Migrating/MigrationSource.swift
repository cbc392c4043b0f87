import CoreDataModel
import CoreDataSQL

/// The content of a store's file before a migration, as a value.
package struct MigrationSource: Sendable {
    /// The layout of the older model, with the existing columns.
    package var schema: SchemaLayout
    package var numbers: [EntityNumber]
    package var metadata: MetadataRow
    package var parts: [CatalogPart]
    /// The columns of the history's changes; empty without a history.
    package var changeColumns: [String]
    /// The columns of each table in capitals, including those unknown to the model.
    package var columns: [String: Set<String>]
    /// The columns of each table with their types, if the catalog stores no statements.
    package var types: [String: [String: String]] = [:]
    /// The counters and names of the history; `nil` where it has no transactions yet.
    var history: HistoryCounters?

    /// The entities of the older model in the store, by ordinal.
    package var entities: [Int] { schema.entities }

    var tables: [String: CatalogPart] {
        Dictionary(
            parts.filter { $0.kind == .table }.map { ($0.name.uppercased(), $0) },
            uniquingKeysWith: { first, _ in first })
    }
}

extension MigrationSource {
    /// Reads the data that a migration needs from a file.
    ///
    /// - Parameter entities: the entities in the store's metadata.
    static func read(
        _ connection: any SQLConnection, model: CompiledModel, entities: [Int], metadata: MetadataRow
    ) throws -> MigrationSource {
        let catalog = try StoreCatalog.read(connection)
        let parts = try CatalogPart.all(in: connection)
        return MigrationSource(
            schema: try SchemaLayout.existing(model: model, entities: entities, connection: connection),
            numbers: try EntityNumber.all(in: connection), metadata: metadata, parts: parts,
            changeColumns: catalog.hasHistory ? catalog.table(BookkeepingSchema.changeTable)?.columns ?? [] : [],
            columns: Dictionary(
                catalog.tables.map { ($0.name.uppercased(), Set($0.columns.map { $0.uppercased() })) },
                uniquingKeysWith: { first, _ in first }), types: try types(connection),
            history: try HistoryCounters.read(connection, catalog))
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
}
