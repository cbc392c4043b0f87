import CoreDataModel
import CoreDataSQL
import Foundation

/// What in a database on a server is one store's: others may have tables of theirs beside it.
package struct StoreParts: Sendable {
    package var tables: [String]
    /// What keeps derived attributes, and the number of the schema, by name, with the table that it is on.
    package var triggers: [(name: String, table: String)]
    /// What no trigger runs.
    package var functions: [String]

    /// - Returns: `nil` where there is no store.
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
        let triggers = try MigrationSource.parts(connection).filter { part in
            part.kind == .trigger && tables.contains(part.table)
                && (part.name.hasPrefix("Z_DA_") || part.name == ServerText.schemaNumbered)
        }
        return StoreParts(
            tables: tables, triggers: triggers.map { ($0.name, $0.table) },
            functions: triggers.contains { $0.name == ServerText.schemaNumbered } ? [ServerText.schemaNumber] : [])
    }

    /// Takes all of it away, and nothing else.
    package func remove(_ connection: any SQLConnection) throws {
        try StoreConstraints.remove(in: connection)
        try connection.dropHistoryView()
        for trigger in triggers { try connection.run(SchemaChange.dropTrigger(trigger.name, on: trigger.table)) }
        for function in functions { try connection.run(SchemaChange.dropFunction(function)) }
        for table in tables { try connection.run(SchemaChange.dropTable(table)) }
    }
}

/// Stores on servers as wholes, as ``StoreFiles`` has those in files.
package struct StoreSchemas {
    package let makeDatabase: DatabaseFactory

    package init(makeDatabase: @escaping DatabaseFactory) { self.makeDatabase = makeDatabase }

    /// Takes a store away, in one transaction; its schema stays, and what else is in that.
    ///
    /// - Throws: ``SQLFailure`` where somebody reads from the store, or something of others depends on it.
    package func destroy(_ options: DatabaseOptions) throws {
        guard !options.isReadOnly else { throw Self.readOnly }
        var options = options
        options.createsFile = false
        let database = try makeDatabase(options)
        defer { database.close() }
        try database.write { try StoreParts.read($0)?.remove($0) }
    }

    /// Whether there is a store, or anything else in the way of one.
    package func isTaken(_ options: DatabaseOptions) throws -> Bool {
        var options = options
        options.isReadOnly = true
        let database = try makeDatabase(options)
        defer { database.close() }
        return try database.read { try !StoreCatalog.read($0).isEmpty }
    }

    /// Puts the store that nobody has open where it is to be, in one transaction: in place of the one there, if any.
    ///
    /// - Parameters:
    ///   - schemas: the names of both schemas.
    ///   - replaces: whether that is what is wanted.
    /// - Returns: `false` where there is something that was not to be replaced, and nothing was done.
    package func put(
        _ source: DatabaseOptions, at destination: DatabaseOptions, schemas: (from: String, to: String), replaces: Bool
    ) throws -> Bool {
        guard !destination.isReadOnly else { throw Self.readOnly }
        let parts = try parts(source)
        let database = try makeDatabase(destination)
        defer { database.close() }
        return try database.write { connection in
            // It may have come while this one was made.
            guard try replaces || StoreCatalog.read(connection).isEmpty else { return false }
            try put(parts, schemas, connection)
            return true
        }
    }

    /// Makes a store and puts it in place of another, if that is what is expected. Nobody else writes to the other one meanwhile.
    ///
    /// ```
    ///  others kept out ──▶ looked at ──▶ the new one made, on other connections ──▶ old tables dropped, new ones moved ──▶ commit
    /// ```
    /// Whatever fails, or kills the program, before the commit leaves the old one as it was.
    ///
    /// - Parameters:
    ///   - source: where the new one is made.
    ///   - isExpected: asked with the version hashes of the other one.
    /// - Returns: whether it was.
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
            // Whose commit is in doubt finds it there, and this transaction's is noted there, too.
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
        // The one of the other schema goes with that.
        if parts.tables.contains(BookkeepingSchema.changeTable) { try connection.makeHistoryView() }
        // Who has the old one open looks again before he writes.
        guard let version else { return }
        try connection.run(
            UpdateStatement(BookkeepingSchema.metadataTable, set: [.init("Z_VERSION", .integer(version + 1))]))
    }

    private static let readOnly = StoreFailure(.readOnly, "The store is to be read only: it is left as it is.")
}

extension StoreEngine {
    /// Makes a store of everything that another has, with its UUID and metadata, by the model that it keeps a copy of.
    ///
    /// A store on a server is copied as it is at one moment, whatever others save meanwhile.
    ///
    /// - Parameter withHistory: whether the history is copied, where both are of one kind of server.
    /// - Throws: ``StoreFailure`` for what is no store, or keeps no copy of its model.
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
