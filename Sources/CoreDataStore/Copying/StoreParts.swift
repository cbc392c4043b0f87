import CoreDataModel
import CoreDataSQL
import Foundation

/// The parts of a database on a server that belong to a store: other programs may have tables in the same schema.
package struct StoreParts: Sendable {
    package var tables: [String]
    /// The triggers for derived attributes and for the schema version, by name, with their tables.
    package var triggers: [(name: String, table: String)]
    /// The functions that belong to no trigger.
    package var functions: [String]

    /// - Returns: the parts; `nil` if there is no store.
    package static func read(_ connection: any SQLConnection) throws -> StoreParts? {
        let catalog = try StoreCatalog.read(connection)
        guard catalog.missingBookkeeping.isEmpty else { return nil }
        var tables =
            [
                BookkeepingSchema.primaryKeyTable, BookkeepingSchema.metadataTable, BookkeepingSchema.modelCacheTable,
                BookkeepingSchema.changeTable, BookkeepingSchema.transactionTable,
                BookkeepingSchema.transactionStringTable, BookkeepingSchema.commitsTable,
            ]
        let names = Set(try EntityNumber.all(in: connection).map(\.name))
        let model = try ModelCompiler.compile(ModelCache.document(in: connection, path: nil))
        let entities = model.entities.indices.filter { names.contains(model.entities[$0].name) }
        let schema = try SchemaLayout.existing(model: model, entities: entities, connection: connection)
        tables += schema.tables.map(\.name) + schema.joinTables.map(\.name)
        tables = tables.filter { catalog.table($0) != nil }
        let triggers = try CatalogPart.all(in: connection).filter { part in
            part.kind == .trigger && tables.contains(part.table)
                && (part.name.hasPrefix("Z_DA_") || part.name == ServerText.schemaNumbered)
        }
        return StoreParts(
            tables: tables, triggers: triggers.map { ($0.name, $0.table) },
            functions: triggers.contains { $0.name == ServerText.schemaNumbered } ? [ServerText.schemaNumber] : [])
    }

    /// Drops all parts, and nothing else.
    package func remove(_ connection: any SQLConnection) throws {
        try StoreConstraints.remove(in: connection)
        try connection.dropHistoryView()
        for trigger in triggers { try connection.run(SchemaChange.dropTrigger(trigger.name, on: trigger.table)) }
        for function in functions { try connection.run(SchemaChange.dropFunction(function)) }
        for table in tables { try connection.run(SchemaChange.dropTable(table)) }
    }
}

/// Operations on whole stores on servers, like ``StoreFiles`` for files.
package struct StoreSchemas {
    package let makeDatabase: DatabaseFactory

    package init(makeDatabase: @escaping DatabaseFactory) { self.makeDatabase = makeDatabase }

    /// Deletes a store in one transaction; its schema and other objects in it remain.
    ///
    /// - Throws: ``SQLFailure`` if another client reads from the store, or if other objects depend on it.
    package func destroy(_ options: DatabaseOptions) throws {
        guard !options.isReadOnly else { throw Self.readOnly }
        var options = options
        options.createsFile = false
        let database = try makeDatabase(options)
        defer { database.close() }
        try database.write { try StoreParts.read($0)?.remove($0) }
    }

    /// Returns whether there is a store, or anything else that conflicts with a new one.
    package func isTaken(_ options: DatabaseOptions) throws -> Bool {
        var options = options
        options.isReadOnly = true
        let database = try makeDatabase(options)
        defer { database.close() }
        return try database.read { try !StoreCatalog.read($0).isEmpty }
    }

    /// Moves a closed store to its final schema, in one transaction, replacing the one there, if any.
    ///
    /// - Parameters:
    ///   - schemas: the names of both schemas.
    ///   - replaces: whether an existing store may be replaced.
    /// - Returns: `false` if an existing store was not to be replaced; then nothing was done.
    package func put(
        _ source: DatabaseOptions, at destination: DatabaseOptions, schemas: (from: String, to: String), replaces: Bool
    ) throws -> Bool {
        guard !destination.isReadOnly else { throw Self.readOnly }
        let parts = try parts(source)
        let database = try makeDatabase(destination)
        defer { database.close() }
        return try database.write { connection in
            // Another store may have been created meanwhile.
            guard try replaces || StoreCatalog.read(connection).isEmpty else { return false }
            try put(parts, schemas, connection)
            return true
        }
    }

    /// Creates a store and replaces another one by it, if the other one is the expected one. Meanwhile no other client
    /// writes to it.
    ///
    /// ```
    ///  lock ──▶ check ──▶ create the new store, on other connections ──▶ drop old tables, move new ones ──▶ commit
    /// ```
    /// After a failure or a crash before the commit, the old store is unchanged.
    ///
    /// - Parameters:
    ///   - source: the schema where the new store is created.
    ///   - isExpected: called with the version hashes of the existing store.
    /// - Returns: whether the existing store was the expected one.
    package func exchange(
        _ destination: DatabaseOptions, for source: DatabaseOptions, schemas: (from: String, to: String),
        if isExpected: ([String: Data]?) -> Bool, making: () throws -> Void
    ) throws -> Bool {
        guard !destination.isReadOnly else { throw Self.readOnly }
        var options = destination
        options.createsFile = false
        let database = try makeDatabase(options)
        defer { database.close() }
        return try database.write { connection in
            let missing = try StoreCatalog.read(connection).missingBookkeeping
            guard missing.isEmpty else { throw StoreFailure.notAStore(nil, missing: missing) }
            guard isExpected(try MetadataRow.read(connection).metadata.versionHashes) else { return false }
            try connection.expectPauses()
            try making()
            try put(parts(source), schemas, connection)
            return true
        }
    }

    private func parts(_ source: DatabaseOptions) throws -> StoreParts {
        var options = source
        options.createsFile = false
        let made = try makeDatabase(options)
        defer { made.close() }
        guard let parts = try made.read({ try StoreParts.read($0) }) else {
            throw StoreFailure.notAStore(nil, missing: [])
        }
        return parts
    }

    private func put(
        _ parts: StoreParts, _ schemas: (from: String, to: String), _ connection: any SQLConnection
    ) throws {
        var version: Int64?
        var parts = parts
        if var old = try StoreParts.read(connection) {
            version = try connection.schemaVersion()
            // Keep the table, because clients with an unknown commit outcome read it, and this transaction records its
            // own commit there.
            if let kept = old.tables.firstIndex(of: BookkeepingSchema.commitsTable) {
                old.tables.remove(at: kept)
                parts.tables.removeAll { $0 == BookkeepingSchema.commitsTable }
            }
            try old.remove(connection)
        }
        for table in parts.tables {
            try connection.run(SchemaChange.moveTable(table, from: schemas.from, to: schemas.to))
        }
        for function in parts.triggers.map(\.name) + parts.functions {
            try connection.run(SchemaChange.moveFunction(function, from: schemas.from, to: schemas.to))
        }
        // The other schema's view is dropped with the schema.
        if parts.tables.contains(BookkeepingSchema.changeTable) { try connection.makeHistoryView() }
        // Clients with the old store open check the schema again before they write.
        guard let version else { return }
        try connection.run(
            UpdateStatement(BookkeepingSchema.metadataTable, set: [.init("Z_VERSION", .integer(version + 1))]))
    }

    private static let readOnly = StoreFailure(.readOnly, "The store is to be read only: it is left as it is.")
}

extension StoreEngine {
    /// Creates a store with the whole content of another, with its UUID and metadata, and its cached model.
    ///
    /// A store on a server is copied from one snapshot, regardless of concurrent saves.
    ///
    /// - Parameter withHistory: whether to copy the history, if both are on servers of the same kind.
    /// - Throws: ``StoreFailure`` if the source is not a store, or has no cached model.
    package static func copy(
        _ source: DatabaseOptions, to destination: DatabaseOptions, types: (from: String, to: String),
        withHistory: Bool = false, makeDatabase: @escaping DatabaseFactory
    ) throws {
        let document = try cachedModelDocument(options: source, makeDatabase: makeDatabase)
        let model = try ModelCompiler.compile(document)
        var reading = StoreOptions(source)
        reading.type = types.from
        reading.database.isReadOnly = true
        reading.createsStore = false
        let old = try open(model: model, options: reading, makeDatabase: makeDatabase)
        defer { old.close() }
        let pinned = old.database.dialect.writesTogether ? try old.pinnedEngine() : nil
        defer { pinned?.close() }
        let state = pinned ?? old
        let row = try state.metadata()
        var writing = StoreOptions(destination)
        writing.type = types.to
        writing.identifier = row.identifier
        writing.metadata = row.metadata
        writing.document = { document }
        let new = try open(model: model, options: writing, makeDatabase: makeDatabase)
        defer { new.close() }
        try RowCopy(from: state, to: new, model: model).run()
        if withHistory { try HistoryCopy(source: state, target: new).run() }
    }
}
