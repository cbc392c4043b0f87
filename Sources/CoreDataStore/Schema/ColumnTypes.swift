import CoreDataSQL

/// The types of the columns, in a database with typed columns.
struct ColumnTypes {
    /// By table and column, with the engine's names.
    private var types: [String: [String: String]] = [:]

    static func read(_ connection: any SQLConnection) throws -> ColumnTypes {
        var found = ColumnTypes()
        let names = connection.dialect.names
        for row in try connection.rows(CatalogQuery.columns) {
            guard case .text(let table) = row[0], case .text(let column) = row[1], case .text(let type) = row[2] else {
                continue
            }
            let name = names?.originalColumn(column, of: table) ?? column
            found.types[names?.original(table) ?? table, default: [:]][name] = type
        }
        return found
    }

    /// Types that are read and written alike: a developer may make a column wider, or a text of any length.
    private static let families: [Set<String>] = [
        ["smallint", "integer", "bigint"], ["real", "double precision"], ["text", "character varying", "character"],
    ]

    private static func fits(_ type: String, _ wanted: String) -> Bool {
        type == wanted || families.contains { $0.contains(type) && $0.contains(wanted) }
    }

    /// Checks that values of the model's attributes fit the columns, before any is read or written.
    ///
    /// - Throws: ``StoreFailure`` that names the columns and the required types.
    func check(_ schema: SchemaLayout, _ dialect: SQLDialect) throws {
        var unfit: [String] = []
        for table in schema.tables {
            let stored = dialect.stored(table.name)
            for column in table.columns {
                let name = dialect.stored(column.name)
                guard let wanted = dialect.catalogTypes[column.type],
                    let type = types[table.name]?[column.name] ?? types[table.name]?[name], !Self.fits(type, wanted)
                else { continue }
                unfit.append("\"\(stored)\".\"\(name)\" is \(type), not \(wanted)")
            }
        }
        guard !unfit.isEmpty else { return }
        let rest = unfit.count > 10 ? " and \(unfit.count - 10) more" : ""
        throw StoreFailure(
            .incompleteSchema,
            "The store's columns are of other types than the model's attributes: \(unfit.prefix(10).joined(separator: "; "))\(rest). It was made by an earlier version of OpenCoreData, or its tables were changed since; docs/postgresql.md says how such columns are converted."
        )
    }
}
