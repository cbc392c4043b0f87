import CoreDataModel
import CoreDataSQL
import Foundation

/// A report on a store, which `coredata store info` prints.
package struct StoreReport: Sendable {
    package struct EntityReport: Hashable, Sendable {
        /// The name in the cached model, if there is one.
        package var name: String
        /// The older name in `Z_PRIMARYKEY`, for an entity that a migration renamed.
        package var formerName: String?
        /// `Z_ENT`.
        package var number: Int64
        package var parent: String?
        /// The table of its rows, shared by its entity tree; `nil` if the file has none.
        package var table: String?
        /// The number of rows of exactly this entity, without subentities.
        package var rowCount: Int
        /// The highest assigned primary key; only for root entities.
        package var maximumKey: Int64?
        /// The version hash in the metadata; `nil` if they do not contain the entity.
        package var versionHash: Data?
    }

    package enum ModelSource: String, Sendable {
        /// The cached model.
        case cache
        /// The cached model, which cannot be read.
        case unreadableCache
        /// None: the store is too old.
        case none
    }

    package var path: String?
    package var type: String?
    package var identifier: String
    package var frameworkVersion: Int?
    package var versionIdentifiers: [String]
    package var versionChecksum: String?
    /// The keys of the metadata that are not Core Data's own, sorted.
    package var applicationMetadataKeys: [String]
    package var journalMode: String?
    package var pageSize: Int?
    /// `page_count`, `auto_vacuum`, `encoding`, … by name.
    package var pragmas: [String: String]
    /// The sizes in bytes of the main file, its companion files, and external values.
    package var fileSize: Int?
    package var logSize: Int?
    package var externalDataSize: Int?
    package var externalDataCount: Int?
    package var entities: [EntityReport]
    package var hasHistory: Bool
    package var transactionCount: Int?
    package var changeCount: Int?
    package var modelSource: ModelSource
    /// The tables of this library's search indexes.
    package var searchIndexes: [String]

    /// Makes a report; needs no model.
    package static func make(options: DatabaseOptions, makeDatabase: DatabaseFactory) throws -> StoreReport {
        var options = options
        options.isReadOnly = true
        return try StoreEngine.withStore(options: options, makeDatabase: makeDatabase) { database in
            try make(database, path: options.path)
        }
    }

    package static func make(_ database: any SQLDatabase, path: String?) throws -> StoreReport {
        try database.read { connection in
            let catalog = try StoreCatalog.read(connection)
            guard catalog.missingBookkeeping.isEmpty else {
                throw StoreFailure.notAStore(path, missing: catalog.missingBookkeeping)
            }
            // A store without readable metadata can still be reported.
            let row =
                try MetadataRow.found(connection)
                ?? MetadataRow(identifier: "", metadata: StoreMetadata(propertyList: Data()))
            let dictionary = row.metadata.dictionary
            let pragmas = try database.settings()
            let model = try cachedModel(connection)
            let external = ExternalData(storePath: path).files()
            return StoreReport(
                path: path, type: row.metadata.type, identifier: row.identifier,
                frameworkVersion: row.metadata.frameworkVersion,
                versionIdentifiers: dictionary[StoreMetadata.Key.versionIdentifiers] as? [String] ?? [],
                versionChecksum: dictionary[StoreMetadata.Key.versionChecksum] as? String,
                applicationMetadataKeys: row.metadata.applicationKeys,
                journalMode: pragmas["journal_mode"], pageSize: pragmas["page_size"].flatMap { Int($0) },
                pragmas: pragmas, fileSize: FileSize.of(path) ?? pragmas["bytes"].flatMap { Int($0) },
                logSize: path.flatMap { FileSize.of($0 + "-wal") },
                externalDataSize: external.map { $0.values.reduce(0, +) }, externalDataCount: external?.count,
                entities: try entities(connection, catalog, model, hashes: row.metadata.versionHashes ?? [:]),
                hasHistory: catalog.hasHistory,
                transactionCount: try count(BookkeepingSchema.transactionTable, connection, catalog),
                changeCount: try count(BookkeepingSchema.changeTable, connection, catalog),
                modelSource: model == nil
                    ? try ModelCache.content(in: connection) == nil ? .none : .unreadableCache : .cache,
                searchIndexes: connection.dialect.hasSearchTables ? try SearchCatalog.read(connection).searchTables : []
            )
        }
    }

    /// Returns the cached model, if it can be read.
    private static func cachedModel(_ connection: any SQLConnection) throws -> CompiledModel? {
        guard try ModelCache.content(in: connection) != nil else { return nil }
        return try? ModelCompiler.compile(ModelCache.document(in: connection, path: nil))
    }

    private static func count(
        _ table: String, _ connection: any SQLConnection, _ catalog: StoreCatalog
    ) throws -> Int? {
        guard catalog.table(table) != nil,
            case .integer(let count)? = try connection.rows(
                SelectStatement([.init(.countAll)], from: .init(table))
            ).first?.first
        else { return nil }
        return Int(count)
    }

    private static func entities(
        _ connection: any SQLConnection, _ catalog: StoreCatalog, _ model: CompiledModel?, hashes: [String: Data]
    ) throws -> [EntityReport] {
        let numbers = try EntityNumber.all(in: connection)
        // A migration may have left the old name of a renamed entity.
        var names: [Int64: String] = [:]
        if let model {
            let found = SchemaLayout.numbers(of: Array(model.entities.indices), in: model, rows: numbers).numbers
            for (entity, number) in zip(model.entities, found) {
                if let number { names[number] = entity.name }
            }
        }
        func name(_ entity: EntityNumber) -> String { names[entity.number] ?? entity.name }
        let byNumber = Dictionary(numbers.map { ($0.number, $0) }, uniquingKeysWith: { first, _ in first })
        func root(_ entity: EntityNumber) -> EntityNumber {
            var current = entity
            // Only a damaged store has a cycle of parents; the number of entities limits the steps.
            for _ in numbers {
                guard let parent = byNumber[current.parent] else { break }
                current = parent
            }
            return current
        }
        var counts: [String: [Int64: Int]] = [:]
        return try numbers.map { entity in
            let root = root(entity)
            let prefix = connection.dialect.naming == .apples ? "Z" : ""
            let table = (catalog.table(prefix + name(root)) ?? catalog.table(prefix + root.name))?.name
            if let table, counts[table] == nil {
                var found: [Int64: Int] = [:]
                var query = SelectStatement(
                    [.init(.column(nil, "Z_ENT")), .init(.countAll)], from: .init(table))
                query.groups = [.column(nil, "Z_ENT")]
                for row in try connection.rows(query) {
                    if case .integer(let number) = row[0], case .integer(let count) = row[1] {
                        found[number] = Int(count)
                    }
                }
                counts[table] = found
            }
            let present = name(entity)
            return EntityReport(
                name: present, formerName: present == entity.name ? nil : entity.name, number: entity.number,
                parent: byNumber[entity.parent].map(name), table: table,
                rowCount: table.flatMap { counts[$0]?[entity.number] } ?? 0,
                maximumKey: entity.parent == 0 ? entity.maximum : nil,
                versionHash: hashes[present] ?? hashes[entity.name])
        }
    }
}

extension ExternalData {
    /// Returns the size of each file by name; `nil` if there is no folder.
    package func files() -> [String: Int]? {
        guard let folder, let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
        return Dictionary(
            names.map { ($0, FileSize.of(folder + "/" + $0) ?? 0) }, uniquingKeysWith: { first, _ in first })
    }
}
