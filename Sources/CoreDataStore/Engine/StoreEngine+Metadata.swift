import CoreDataModel
import CoreDataSQL
import Foundation

/// The one row of `Z_METADATA`.
package struct MetadataRow: Sendable {
    package var identifier: String
    package var metadata: StoreMetadata

    package init(identifier: String, metadata: StoreMetadata) {
        self.identifier = identifier
        self.metadata = metadata
    }

    package static func read(_ connection: any SQLConnection) throws -> MetadataRow {
        // One row, unless somebody else wrote more; then the first.
        var first = Int64.max
        var identifier = ""
        var plist = Data()
        for row in try connection.rows(query) {
            guard case .integer(let version) = row[0], version < first else { continue }
            first = version
            if case .text(let text) = row[1] { identifier = text } else { identifier = "" }
            if case .blob(let data) = row[2] { plist = data } else { plist = Data() }
        }
        return MetadataRow(identifier: identifier, metadata: StoreMetadata(propertyList: plist))
    }

    private static let query = SelectStatement(
        ["Z_VERSION", "Z_UUID", "Z_PLIST"].map { .init(.column(nil, $0)) }, from: .init(BookkeepingSchema.metadataTable)
    )

    /// Writes the dictionary of the user, who may have left out what the store needs and may have put the UUID in.
    static func write(_ metadata: StoreMetadata, in connection: any SQLConnection) throws -> MetadataRow {
        let old = try read(connection)
        var dictionary = metadata.dictionary
        let identifier = dictionary.removeValue(forKey: StoreMetadata.Key.identifier) as? String ?? old.identifier
        let kept = old.metadata.dictionary
        for key in StoreMetadata.Key.kept where dictionary[key] == nil { dictionary[key] = kept[key] }
        for key in StoreMetadata.Key.deferral { dictionary[key] = kept[key] }
        let new = MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: dictionary))
        let update = UpdateStatement(
            BookkeepingSchema.metadataTable,
            set: [
                .init("Z_UUID", .bind(.text(new.identifier))),
                .init("Z_PLIST", .bind(.blob(new.metadata.propertyList))),
            ])
        if try connection.run(update) == 0 { try connection.run(new.insertion) }
        return new
    }

    /// The same with another stage that the store is in the middle of.
    func inStage(_ stage: String?) throws -> MetadataRow {
        var dictionary = metadata.dictionary
        dictionary[StoreMetadata.Key.stage] = stage
        return MetadataRow(identifier: identifier, metadata: try StoreMetadata(dictionary: dictionary))
    }

    /// The stage that the store is in the middle of.
    package var stage: String? { metadata.dictionary[StoreMetadata.Key.stage] as? String }

    /// What writes the row where there is none.
    var insertion: InsertStatement {
        InsertStatement(
            into: BookkeepingSchema.metadataTable, columns: ["Z_VERSION", "Z_UUID", "Z_PLIST"],
            rows: [[.integer(1), .bind(.text(identifier)), .bind(.blob(metadata.propertyList))]])
    }

    /// The dictionary as users know it, with the UUID in it.
    package var dictionary: [String: Any] {
        var dictionary = metadata.dictionary
        dictionary[StoreMetadata.Key.identifier] = identifier
        dictionary[StoreMetadata.Key.historyReaders] = nil
        dictionary[StoreMetadata.Key.deferredTasks] = nil
        dictionary[StoreMetadata.Key.stage] = nil
        return dictionary
    }
}

extension StoreEngine {
    /// The store's metadata as it is in the file now.
    package func metadata() throws -> MetadataRow {
        try database.read { try MetadataRow.read($0) }
    }

    /// Writes the metadata at once. Keys that the store needs are kept where the dictionary lacks them; a
    /// `NSStoreUUID` in it becomes the store's identifier when it is next opened.
    @discardableResult
    package func setMetadata(_ metadata: StoreMetadata) throws -> MetadataRow {
        try write { try MetadataRow.write(metadata, in: $0) }
    }

    /// The metadata of a store that is not open.
    package static func metadata(options: DatabaseOptions, makeDatabase: DatabaseFactory) throws -> MetadataRow {
        var options = options
        options.isReadOnly = true
        return try withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.read { connection in
                try checkBookkeeping(connection, options)
                return try MetadataRow.read(connection)
            }
        }
    }

    /// Writes the metadata of a store that is not open, at once.
    @discardableResult
    package static func setMetadata(
        _ metadata: StoreMetadata, options: DatabaseOptions, makeDatabase: DatabaseFactory
    ) throws -> MetadataRow {
        try withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.write { connection in
                try checkBookkeeping(connection, options)
                return try MetadataRow.write(metadata, in: connection)
            }
        }
    }

    /// Notes in a store that is not open which stage it is in the middle of; `nil` for none.
    package static func setStage(_ stage: String?, options: DatabaseOptions, makeDatabase: DatabaseFactory) throws {
        try withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.write { connection in
                try checkBookkeeping(connection, options)
                let row = try MetadataRow.read(connection)
                guard row.stage != stage else { return }
                let list = try row.inStage(stage).metadata.propertyList
                try connection.run(
                    UpdateStatement(BookkeepingSchema.metadataTable, set: [.init("Z_PLIST", .bind(.blob(list)))]))
            }
        }
    }

    /// The model that a store keeps a copy of, to open it without having its model.
    ///
    /// - Throws: ``StoreFailure`` of kind `.noCachedModel` where there is none, as in stores made before 2015.
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

    /// A model that fits a store's tables, for stores whose model nobody has; see ``ModelInference``.
    ///
    /// To open the store with it takes ``StoreOptions/ignoresModelVersioning``.
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

    /// The model that this store keeps a copy of.
    package func cachedModelDocument() throws -> ModelDocument {
        try database.read { try ModelCache.document(in: $0, path: path) }
    }

    private static func checkBookkeeping(_ connection: any SQLConnection, _ options: DatabaseOptions) throws {
        let missing = try StoreCatalog.read(connection).missingBookkeeping
        guard missing.isEmpty else { throw StoreFailure.notAStore(options.path, missing: missing) }
    }
}
