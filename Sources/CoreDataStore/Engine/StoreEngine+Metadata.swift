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

    /// - Throws: ``StoreFailure`` of the kind `.lostMetadata` where there is no row, or one that cannot be read.
    package static func read(_ connection: any SQLConnection, path: String? = nil) throws -> MetadataRow {
        guard let row = try found(connection) else { throw noRow(path) }
        try row.check(path)
        return row
    }

    /// What the table has, whether or not it can be read; `nil` where it has no row.
    package static func found(_ connection: any SQLConnection) throws -> MetadataRow? {
        // One row, unless somebody else wrote more; then the first.
        var first = Int64.max
        var found: MetadataRow?
        for row in try connection.rows(query) {
            guard case .integer(let version) = row[0], version < first else { continue }
            first = version
            var identifier = ""
            var plist = Data()
            if case .text(let text) = row[1] { identifier = text }
            switch row[2] {
            case .null: break
            case .blob(let data): plist = data
            // No property list, whatever it says.
            case .text(let text): plist = Data(text.utf8)
            case .integer, .real: plist = Data([0])
            }
            found = MetadataRow(identifier: identifier, metadata: StoreMetadata(propertyList: plist))
        }
        return found
    }

    /// - Throws: ``StoreFailure`` of the kind `.lostMetadata` for a row that does not tell which store it is, or whose dictionary cannot be
    ///   read. One without dictionary, as old stores may have it, has an empty one.
    func check(_ path: String?) throws {
        if identifier.isEmpty { throw Self.lost("has no UUID", path) }
        guard metadata.isReadable else {
            throw Self.lost(
                "has \(metadata.propertyList.count) bytes that are no property list where its dictionary should be",
                path)
        }
    }

    static func noRow(_ path: String?) -> StoreFailure { lost("has no row", path) }

    private static func lost(_ reason: String, _ path: String?) -> StoreFailure {
        let table =
            path == nil ? SQLNames.readable.stored(BookkeepingSchema.metadataTable) : BookkeepingSchema.metadataTable
        let recovery = path.map {
            ", or make a new store of its objects: coredata store recover \($0) NEW --model MODEL"
        }
        return StoreFailure(
            .lostMetadata,
            "The store\(StoreFailure.quoted(path)) does not say which store it is and of what model: the table \(table) \(reason). Restore a backup\(recovery ?? "")."
        )
    }

    private static let query = SelectStatement(
        ["Z_VERSION", "Z_UUID", "Z_PLIST"].map { .init(.column(nil, $0)) }, from: .init(BookkeepingSchema.metadataTable)
    )

    /// Writes the dictionary of the user, who may have left out what the store needs and may have put the UUID in.
    static func write(
        _ metadata: StoreMetadata, in connection: any SQLConnection, path: String? = nil
    ) throws -> MetadataRow {
        let old = try read(connection, path: path)
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
        if try connection.run(update) == 0 { try connection.run(new.insertion(in: connection.dialect)) }
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
    func insertion(in dialect: SQLDialect) -> InsertStatement {
        InsertStatement(
            into: BookkeepingSchema.metadataTable, columns: ["Z_VERSION", "Z_UUID", "Z_PLIST"],
            rows: [
                [
                    .integer(Self.firstVersion(in: dialect)), .bind(.text(identifier)),
                    .bind(.blob(metadata.propertyList)),
                ]
            ])
    }

    /// A program that has a former store of that place open knows by the number that this is another.
    private static func firstVersion(in dialect: SQLDialect) -> Int64 {
        dialect.isRemote ? .random(in: 1...1_000_000_000_000) : 1
    }

    /// The dictionary as users know it, with the UUID in it.
    package var dictionary: [String: Any] {
        var dictionary = metadata.dictionary
        dictionary[StoreMetadata.Key.identifier] = identifier
        dictionary[StoreMetadata.Key.historyReaders] = nil
        dictionary[StoreMetadata.Key.deferredTasks] = nil
        dictionary[StoreMetadata.Key.stage] = nil
        dictionary[StoreMetadata.Key.formerVersions] = nil
        return dictionary
    }
}

extension StoreEngine {
    /// The store's metadata as it is in the file now.
    package func metadata() throws -> MetadataRow {
        try database.read { try MetadataRow.read($0, path: path) }
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
                return try MetadataRow.read(connection, path: options.path)
            }
        }
    }

    /// Writes the metadata of a store that is not open, at once.
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

    /// Notes in a store that is not open which stage it is in the middle of; `nil` for none.
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

    /// What is no store, or has lost its metadata, shows before anything is done to it.
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
