import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

extension StoreEngine {
    /// Opens a store, or creates one if the file is missing or empty.
    ///
    ///     let engine = try StoreEngine.open(
    ///         model: model, configuration: nil, options: StoreOptions(path: "/data/Shop.sqlite"),
    ///         makeDatabase: { try SQLiteDatabase(SQLiteOptions($0)) })
    ///
    /// A store is created completely or not at all. An existing store is opened if its entities' hashes equal those of
    /// the configuration, and its tables have everything that the model needs; opening does not change it.
    ///
    /// - Parameter configuration: `nil` for all entities of the model.
    /// - Throws: ``StoreFailure``; ``SQLFailure`` for errors of the database, such as a lock.
    package static func open(
        model: CompiledModel, configuration: String? = nil, options: StoreOptions,
        makeDatabase: @escaping DatabaseFactory
    ) throws -> StoreEngine {
        guard let members = model.entities(inConfiguration: configuration) else {
            let known = model.configurations.keys.sorted().joined(separator: ", ")
            throw StoreFailure(
                .unknownConfiguration,
                "The model has no configuration '\(configuration ?? "")'. It has: \(known.isEmpty ? "none" : known).")
        }
        let engine = try StoreOpening(
            model: model, entities: members.map(\.ordinal), options: options, makeDatabase: makeDatabase
        ).open()
        engine.watchModel()
        guard !engine.isReadOnly else { return engine }
        do { for participant in options.participants { try participant.prepare(engine) } } catch {
            engine.close()
            throw error
        }
        return engine
    }

    /// Opens the file of a store for one operation, and closes it.
    static func withStore<R>(
        options: DatabaseOptions, makeDatabase: DatabaseFactory, _ body: (any SQLDatabase) throws -> R
    ) throws -> R {
        var options = options
        options.createsFile = false
        options.isLookedAtFirst = true
        return try StoreFailure.translated(options.path) {
            guard options.server != nil || FileSize.of(options.path) != 0 else {
                throw StoreFailure.notAStore(options.path, missing: [])
            }
            let database = try makeDatabase(options)
            defer { database.close() }
            return try body(database)
        }
    }
}

/// The steps of opening a store.
private struct StoreOpening {
    let model: CompiledModel
    let entities: [Int]
    let options: StoreOptions
    let makeDatabase: DatabaseFactory

    func open() throws -> StoreEngine {
        let path = options.database.path
        return try StoreFailure.translated(path) {
            do {
                // On a server, the database exists before the store.
                if options.database.server != nil { return try openExisting() }
                if path == nil || (FileSize.of(path) ?? 0) == 0 { return try create() }
                return try openExisting()
            } catch is StoreExists {
                return try openExisting()
            }
        }
    }

    // MARK: - Existing stores

    private func openExisting() throws -> StoreEngine {
        var options = options.database
        options.isLookedAtFirst = true
        let database = try makeDatabase(options)
        do {
            return try open(database)
        } catch {
            database.close()
            throw error
        }
    }

    /// The maximum number of attempts to create the store while others create it too, with growing pauses: after that,
    /// another cause is likely.
    private static let mostAttempts = 12

    private func open(
        _ database: any SQLDatabase, isSecondTime: Bool = false, attempt: Int = 1
    ) throws -> StoreEngine {
        let found = try database.read { try look($0, database) }
        guard case .store(let row, let schema, let hasHistory, let schemaVersion) = found else {
            let creation = try StoreCreation(
                model: model, entities: entities, options: options, naming: database.dialect.naming)
            try database.prepareFile()
            do {
                return try fill(database, creation: creation)
            } catch is StoreExists where database.dialect.sharesSchema {
                guard !isSecondTime else {
                    throw StoreFailure(
                        .notAStore, "The schema has something in it, and no store: give the store a schema of its own.")
                }
                // Another client has created it since the check.
                return try open(database, isSecondTime: true, attempt: attempt)
            } catch let failure as SQLFailure
                where failure.kind == .serialization && attempt < Self.mostAttempts
            {
                // Another client was creating it at the same time.
                Thread.sleep(forTimeInterval: .random(in: 0...min(0.005 * Double(1 << attempt), 0.25)))
                return try open(database, isSecondTime: isSecondTime, attempt: attempt + 1)
            }
        }
        if hasHistory, !options.tracksHistory, !options.database.isReadOnly {
            return try reopenForReading(database, schema, row)
        }
        // A refused store is not changed.
        try database.prepareFile()
        if options.tracksHistory, !hasHistory, !options.database.isReadOnly {
            let tombstones = StoreCreation.tombstoneCount(model: model, entities: entities)
            try database.write { connection in
                // Another client may have created it between the check and the lock.
                guard try !TableNames.read(connection).haveHistory else { return }
                try BookkeepingCreation.createHistory(tombstones: tombstones, in: connection)
            }
        } else if hasHistory, !options.database.isReadOnly {
            try prepareHistoryView(database)
            if options.tracksHistory { try prepareTombstones(database) }
        }
        try prepareCommits(database)
        try prepareConstraints(schema, database)
        var layout = schema.layout
        layout.searchIndexes = try SearchIndexes.prepare(
            model: model, layout: layout, in: database, isReadOnly: options.database.isReadOnly)
        layout.rTrees = try RTrees.found(schema, in: database)
        return StoreEngine(
            model: model, layout: layout, database: database, identifier: row.identifier, metadata: row.metadata,
            schemaVersion: schemaVersion, entities: entities, path: options.database.path,
            isReadOnly: options.database.isReadOnly,
            tracksHistory: options.tracksHistory && !options.database.isReadOnly, fetchTexts: schema.fetchTexts,
            participants: options.participants, clock: options.database.clock)
    }

    /// Creates the view of the history in an older store without it. A role without permission opens the store without
    /// the view.
    private func prepareHistoryView(_ database: any SQLDatabase) throws {
        guard try database.read({ try $0.lacksHistoryView() }) else { return }
        do { try database.write { try $0.makeHistoryView() } } catch let failure as SQLFailure
            where failure.kind == .busy || failure.kind == .readOnly
        { database.note("the store has no view of its history: \(failure.message)") }
    }

    /// Adds columns for tombstones to an older history, after the model has begun to preserve a composite attribute:
    /// version hashes do not include that, so no migration adds them.
    private func prepareTombstones(_ database: any SQLDatabase) throws {
        guard keepsComposites else { return }
        let table = BookkeepingSchema.changeTable
        let wanted = (0..<StoreCreation.tombstoneCount(model: model, entities: entities)).map { "ZTOMBSTONE\($0)" }
        func missing(_ connection: any SQLConnection) throws -> [String] {
            let columns = try StoreCatalog.read(connection).table(table)
            return wanted.filter { columns?.column($0) == nil }
        }
        guard try !database.read(missing).isEmpty else { return }
        do {
            try database.write { connection in
                for name in try missing(connection) {
                    try connection.run(SchemaChange.addColumn(.init(name, .bytes), to: table))
                }
            }
        } catch let failure as SQLFailure where failure.kind == .busy || failure.kind == .readOnly {
            database.note("tombstones do not keep all that the model says: \(failure.message)")
        }
    }

    /// Whether tombstones preserve a composite attribute of an entity.
    private var keepsComposites: Bool {
        entities.contains { ordinal in
            model.entities[ordinal].properties.contains {
                $0.isComposite && $0.attribute?.preservesValueInHistoryOnDeletion == true
            }
        }
    }

    /// Creates the table in which transactions record their commit, in an older store without it.
    private func prepareCommits(_ database: any SQLDatabase) throws {
        guard database.dialect.notesCommits, !options.database.isReadOnly,
            try !database.read(TableNames.haveCommits)
        else { return }
        do {
            try database.write { connection in
                if try !TableNames.haveCommits(in: connection) { try BookkeepingCreation.createCommits(in: connection) }
            }
        } catch let failure as SQLFailure where failure.kind == .readOnly {
            // A role without permission to create tables works without it.
            database.note("commits are not noted in the store: \(failure.message)")
        }
    }

    private func prepareConstraints(_ schema: SchemaLayout, _ database: any SQLDatabase) throws {
        guard !options.database.isReadOnly else { return }
        try StoreConstraints.prepare(schema, document: options.document, in: database)
    }

    private enum Found {
        /// The file is empty, and may become a store.
        case empty
        case store(MetadataRow, SchemaLayout, hasHistory: Bool, schemaVersion: Int64)
    }

    private func look(_ connection: any SQLConnection, _ database: any SQLDatabase) throws -> Found {
        if try !TableNames.haveBookkeeping(in: connection) {
            let tables = try TableNames.read(connection)
            if tables.isEmpty, !options.database.isReadOnly, options.createsStore { return .empty }
            if tables.isEmpty, connection.dialect.sharesSchema {
                throw StoreFailure(.cannotOpen, "There is no store in the schema, and none is to be made.")
            }
            guard tables.missingBookkeeping.isEmpty else {
                throw StoreFailure.notAStore(options.database.path, missing: tables.missingBookkeeping)
            }
        }
        // From here on, the connection knows the schema of this transaction, because a statement has run.
        guard let row = try MetadataRow.found(connection) else { throw MetadataRow.noRow(options.database.path) }
        try check(row, database)
        return .store(
            row, try bind(connection, row), hasHistory: try TableNames.haveHistory(in: connection),
            schemaVersion: try connection.schemaVersion())
    }

    /// The metadata that last matched a model, so that opening the same store again does not parse them.
    private struct KnownMetadata: Sendable {
        let propertyList: Data
        let type: String
        let entities: [Int]
    }

    private func check(_ row: MetadataRow, _ database: any SQLDatabase) throws {
        if let known = model.companions.value(of: KnownMetadata.self), known.type == options.type,
            known.entities == entities, known.propertyList == row.metadata.propertyList, !row.identifier.isEmpty
        {
            return
        }
        try row.check(options.database.path)
        let identification = row.metadata.identification
        if let type = identification.type, type != options.type {
            var failure = StoreFailure(
                .wrongStoreType,
                "The file\(StoreFailure.quoted(options.database.path)) is a store of type '\(type)', not '\(options.type)'."
            )
            failure.metadata = row
            throw failure
        }
        if let version = identification.versionHashesVersion, version > 3 {
            var failure = StoreFailure(
                .newerFormat,
                "The store\(StoreFailure.quoted(options.database.path)) was made by a newer Core Data: its version hashes are of version \(version), known is 3."
            )
            failure.metadata = row
            throw failure
        }
        if options.ignoresModelVersioning { return }
        guard var mismatch = identification.mismatch(with: model, entities: entities) else {
            return model.companions.keep(
                KnownMetadata(propertyList: row.metadata.propertyList, type: options.type, entities: entities))
        }
        if options.takesFormerComposites, identification.isFormer(of: model, entities: entities) { return }
        mismatch.explain(with: model, storedIn: database)
        var failure = StoreFailure(
            .incompatibleModel,
            "The store\(StoreFailure.quoted(options.database.path)) was made with another version of the model (\(mismatch.description)). Migrate the store, or open it with the model that it was made with."
        )
        failure.mismatch = mismatch
        failure.metadata = row
        throw failure
    }

    private func bind(_ connection: any SQLConnection, _ metadata: MetadataRow) throws -> SchemaLayout {
        do {
            let schema = try SchemaLayout.existing(model: model, entities: entities, connection: connection)
            if connection.dialect.typesValues {
                try ColumnTypes.read(connection).check(schema, connection.dialect)
            }
            return schema
        } catch var failure as StoreFailure {
            failure.metadata = metadata
            throw failure
        }
    }

    /// Reopens the store read-only, so that the connection itself cannot write.
    private func reopenForReading(
        _ database: any SQLDatabase, _ schema: SchemaLayout, _ row: MetadataRow
    ) throws -> StoreEngine {
        database.close()
        var readOnly = options.database
        readOnly.isReadOnly = true
        readOnly.createsFile = false
        let database = try makeDatabase(readOnly)
        var layout = schema.layout
        layout.searchIndexes = try SearchIndexes.prepare(
            model: model, layout: layout, in: database, isReadOnly: true)
        layout.rTrees = try RTrees.found(schema, in: database)
        return StoreEngine(
            model: model, layout: layout, database: database, identifier: row.identifier,
            metadata: row.metadata, entities: entities, path: options.database.path, isReadOnly: true,
            isReadOnlyForHistory: true, fetchTexts: schema.fetchTexts, clock: options.database.clock)
    }

    // MARK: - New stores

    private func create() throws -> StoreEngine {
        let path = options.database.path
        let isNew = FileSize.of(path) == nil
        guard options.createsStore, !options.database.isReadOnly, !isNew || options.database.createsFile else {
            if isNew { throw StoreFailure.missing(path) }
            throw StoreFailure(
                .cannotOpen, "The file\(StoreFailure.quoted(path)) is empty, and it may not be made a store.")
        }
        // Report errors of the model before creating a file.
        let creation = try StoreCreation(model: model, entities: entities, options: options)
        do {
            let database = try makeDatabase(options.database)
            do { return try fill(database, creation: creation) } catch {
                database.close()
                throw error
            }
        } catch {
            if isNew { removeWhatWasMade() }
            throw error
        }
    }

    /// Deletes an incomplete store, but not a store that another client has just created.
    private func removeWhatWasMade() {
        guard let path = options.database.path, FileSize.of(path) != nil else { return }
        var plain = options.database
        plain.createsFile = false
        // A pragma may be the reason why there is no store.
        plain.pragmas = [:]
        let database = try? makeDatabase(plain)
        let isEmpty = (try? database?.read { try StoreCatalog.read($0).isEmpty }) ?? false
        database?.close()
        if isEmpty { FileSize.removeDatabase(path) }
    }

    private func fill(_ database: any SQLDatabase, creation: StoreCreation) throws -> StoreEngine {
        var layout = creation.schema.layout
        let schemaVersion = try database.write { connection in
            // Another client may have created it between the check and the lock.
            guard try StoreCatalog.read(connection).isEmpty else { throw StoreExists() }
            try creation.run(connection)
            layout.searchIndexes = try SearchIndexes.make(
                SearchIndex.wanted(model: model, layout: layout), in: connection)
            return try connection.schemaVersion()
        }
        try prepareConstraints(creation.schema, database)
        layout.rTrees = try RTrees.found(creation.schema, in: database)
        return StoreEngine(
            model: model, layout: layout, database: database, identifier: creation.identifier,
            metadata: creation.metadata, schemaVersion: schemaVersion, entities: entities, path: options.database.path,
            tracksHistory: options.tracksHistory, fetchTexts: creation.schema.fetchTexts,
            participants: options.participants, clock: options.database.clock)
    }

    private struct StoreExists: EngineFailure {}
}
