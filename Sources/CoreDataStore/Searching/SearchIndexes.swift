import CoreDataModel
import CoreDataSQL

/// The search indexes of one store: made where they are missing when the store is opened, and kept up to date by what writes.
enum SearchIndexes {
    /// Makes what the model asks for and the store has not, and brings up to date what others left behind.
    ///
    /// - Returns: those that can be asked. One that cannot be made now, since somebody else writes, the store is to be read only,
    ///   or this SQLite has no FTS5, is not among them: then every row is looked at.
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

    /// Makes those that are not there whole, in the transaction of whoever calls it.
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

    /// Brings up to date what is noted, in the transaction of whoever has written.
    static func update(_ indexes: [SearchIndex], in connection: any SQLConnection) throws {
        for index in indexes where try index.isBehind(connection) {
            for text in index.updates(in: connection.dialect) { try connection.run(text) }
        }
    }

    /// Makes the triggers again that went while a table was made anew, row by row the same: also those of indexes that this model
    /// does not ask for, which somebody else may rely on now.
    static func restoreTriggers(of former: SearchCatalog, in connection: any SQLConnection) throws {
        let catalog = try SearchCatalog.read(connection)
        for (name, text) in former.triggers.sorted(by: { $0.key < $1.key }) where !catalog.has(name) {
            try connection.execute(text)
        }
    }
}

extension SQLFailure {
    /// Whether SQLite was built without what a virtual table needs.
    var isMissingModule: Bool {
        message.contains("no such module") || message.contains("no such tokenizer")
    }
}
