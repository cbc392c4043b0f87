import CoreDataModel
import CoreDataSQL

/// The search indexes of one store: created if missing when the store is opened, and updated by writes.
enum SearchIndexes {
    /// Creates the missing indexes that the model requests, and updates them after other programs' changes.
    ///
    /// - Returns: the indexes that can be queried. An index that cannot be created now is not included: because another
    ///   client writes, the store is read-only, or this SQLite has no FTS5. Queries then scan every row.
    static func prepare(
        model: CompiledModel, layout: StoreLayout, in database: any SQLDatabase, isReadOnly: Bool
    ) throws -> [SearchIndex] {
        let wanted = SearchIndex.wanted(model: model, layout: layout)
        guard !wanted.isEmpty, database.dialect.hasSearchTables else { return [] }
        let dialect = database.dialect
        let (whole, isBehind) = try database.read { connection in
            let catalog = try SearchCatalog.read(connection)
            let whole = try wanted.filter { try catalog.isWhole($0, in: dialect) }
            return (whole, try whole.contains { try $0.isBehind(connection) })
        }
        guard !isReadOnly, whole.count < wanted.count || isBehind else { return whole }
        do {
            return try database.write { connection in
                let made = try make(wanted, in: connection)
                try update(made, in: connection)
                return made
            }
        } catch let failure as SQLFailure where failure.kind == .busy || failure.kind == .readOnly {
            return whole
        }
    }

    /// Creates the incomplete indexes, in the caller's transaction.
    static func make(_ wanted: [SearchIndex], in connection: any SQLConnection) throws -> [SearchIndex] {
        guard !wanted.isEmpty, connection.dialect.hasSearchTables else { return [] }
        let catalog = try SearchCatalog.read(connection)
        var made: [SearchIndex] = []
        for index in wanted {
            if try !catalog.isWhole(index, in: connection.dialect) {
                do {
                    for change in index.removals(from: catalog) { try connection.run(change) }
                    for statement in index.statements() {
                        for text in try SchemaRenderer.texts(of: statement, in: connection.dialect) {
                            try connection.execute(text)
                        }
                    }
                } catch let failure as SQLFailure where failure.isMissingModule {
                    continue
                }
                try connection.run(index.filling())
            }
            made.append(index)
        }
        return made
    }

    /// Updates the recorded rows, in the writer's transaction.
    static func update(_ indexes: [SearchIndex], in connection: any SQLConnection) throws {
        for index in indexes where try index.isBehind(connection) {
            for text in index.updates(in: connection.dialect) { try connection.run(text) }
        }
    }

    /// Recreates the triggers that were dropped while a table was rebuilt with the same rows. This includes triggers of
    /// indexes that this model does not request, because other programs may use them.
    static func restoreTriggers(of former: SearchCatalog, in connection: any SQLConnection) throws {
        let catalog = try SearchCatalog.read(connection)
        for (name, text) in former.triggers.sorted(by: { $0.key < $1.key }) where !catalog.has(name) {
            try connection.execute(text)
        }
    }
}
