import CoreDataModel
import CoreDataSQL

// Reads and writes data of closed stores.
extension StoreEngine {
    /// Returns the metadata of a closed store.
    package static func metadata(options: DatabaseOptions, makeDatabase: DatabaseFactory) throws -> MetadataRow {
        var options = options
        options.isReadOnly = true
        return try withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.read { connection in
                try checkBookkeeping(connection, options)
                return try MetadataRow.read(connection, path: options.path)
            }
        }
    }

    /// Writes the metadata of a closed store immediately.
    @discardableResult
    package static func setMetadata(
        _ metadata: StoreMetadata, options: DatabaseOptions, makeDatabase: DatabaseFactory
    ) throws -> MetadataRow {
        try withStore(options: options, makeDatabase: makeDatabase) { database in
            try check(database, options)
            return try database.write { connection in
                try checkBookkeeping(connection, options)
                return try MetadataRow.write(metadata, in: connection, path: options.path)
            }
        }
    }

    /// Records in a closed store the migration stage that is in progress; `nil` for none.
    package static func setStage(_ stage: String?, options: DatabaseOptions, makeDatabase: DatabaseFactory) throws {
        try withStore(options: options, makeDatabase: makeDatabase) { database in
            try check(database, options)
            try database.write { connection in
                try checkBookkeeping(connection, options)
                let row = try MetadataRow.read(connection, path: options.path)
                guard row.stage != stage else { return }
                let list = try row.inStage(stage).metadata.propertyList
                try connection.run(
                    UpdateStatement(BookkeepingSchema.metadataTable, set: [.init("Z_PLIST", .bind(.blob(list)))]))
            }
        }
    }

    /// Returns the cached model of a store, for opening it without another source of its model.
    ///
    /// - Throws: ``StoreFailure`` of kind `.noCachedModel` if there is none, as in stores from before 2015.
    package static func cachedModelDocument(
        options: DatabaseOptions, makeDatabase: DatabaseFactory
    ) throws -> ModelDocument {
        var options = options
        options.isReadOnly = true
        return try withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.read { connection in
                try checkBookkeeping(connection, options)
                return try ModelCache.document(in: connection, path: options.path)
            }
        }
    }

    /// Infers a model from a store's tables, for stores whose model is lost; see ``ModelInference``.
    ///
    /// Opening the store with it requires ``StoreOptions/ignoresModelVersioning``.
    package static func inferredModel(
        options: DatabaseOptions, makeDatabase: DatabaseFactory
    ) throws -> ModelInference {
        var options = options
        options.isReadOnly = true
        return try withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.read { connection in
                try checkBookkeeping(connection, options)
                var reader = StoreOutlineReader(connection)
                return ModelInference(try reader.read())
            }
        }
    }

    /// Checks that the file is a store with metadata, before anything else is done.
    private static func check(_ database: any SQLDatabase, _ options: DatabaseOptions) throws {
        try database.read { connection in
            try checkBookkeeping(connection, options)
            _ = try MetadataRow.read(connection, path: options.path)
        }
    }

    private static func checkBookkeeping(_ connection: any SQLConnection, _ options: DatabaseOptions) throws {
        let missing = try StoreCatalog.read(connection).missingBookkeeping
        guard missing.isEmpty else { throw StoreFailure.notAStore(options.path, missing: missing) }
    }
}
