import CoreDataStore
import Foundation

/// Facts about a store that need no model: its type, its files, and its content.
///
///     let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: url)
///     print(report.entities.map { "\($0.name): \($0.rowCount)" })     // ["Item: 399", "Unit: 8"]
///
/// Apple's framework has no counterpart.
public struct PersistentStoreReport: Codable, Hashable, Sendable {
    /// An entity as the store knows it.
    public struct Entity: Codable, Hashable, Sendable {
        /// The name in the model, if the store keeps a copy of that.
        public var name: String
        /// The older name that stands in the store, of an entity that a migration renamed.
        public var formerName: String?
        /// The entity's number in the store's rows, `Z_ENT`; 0 in a store that is one file, which has none.
        public var number: Int64
        /// The name of the parent entity.
        public var parent: String?
        /// The table of its rows, which all entities of one inheritance tree share; `nil` when the file has none.
        public var table: String?
        /// The number of objects of exactly this entity, without those of subentities.
        public var rowCount: Int
        /// The highest key handed out; of entities without parent only.
        public var maximumKey: Int64?
        /// The version hash of the entity in the model that the store was made with.
        public var versionHash: Data?
    }

    /// The path of the file; of a store on a server its URL, without a password.
    public var path: String
    /// `NSStoreType`.
    public var type: String?
    /// The store's UUID.
    public var identifier: String
    /// The version of the framework that wrote the store's metadata last.
    public var frameworkVersion: Int?
    /// The identifiers of the model's version.
    public var versionIdentifiers: [String]
    /// The checksum of the model's version, in stores that have one.
    public var versionChecksum: String?
    /// The keys of the program's own metadata.
    public var applicationMetadataKeys: [String]
    /// How the database keeps its changes safe: `wal`, `delete`.
    public var journalMode: String?
    /// Bytes of a page of the file.
    public var pageSize: Int?
    /// The database's settings by name.
    public var pragmas: [String: String]
    /// Bytes of the main file, or of a server's tables with their indexes.
    public var fileSize: Int?
    /// Bytes of the write-ahead log beside it.
    public var logSize: Int?
    /// Bytes of all values that have files of their own, and how many they are.
    public var externalDataSize: Int?
    /// The number of files of external data beside the store; `nil` if it has no folder for them.
    public var externalDataCount: Int?
    /// The entities in the order of their numbers.
    public var entities: [Entity]
    /// Whether changes were recorded at some time.
    public var hasHistory: Bool
    /// How many transactions the store's history has; `nil` without a history.
    public var transactionCount: Int?
    /// How many changes the store's history has; `nil` without a history.
    public var changeCount: Int?
    /// Whether the store keeps a copy of its model, so that it can be opened without.
    public var hasCachedModel: Bool
    /// The names of the tables of its search indexes, by parts of texts and by words; `nil` without one.
    public var searchIndexes: [String]?
}

extension NSPersistentStoreCoordinator {
    /// Describes the store at that URL; needs no model and changes nothing.
    ///
    /// Runs a handful of statements and counts the rows of every table; of a store that is one file reads that.
    ///
    /// - Throws: an error when the file is no store or cannot be read.
    public class func report(onPersistentStoreAt url: URL) throws -> PersistentStoreReport {
        let format = AtomicFileStore.format(ofType: StoreTools.type(ofStoreAt: url))
        let report = try SQLStore.reading(url) { options in
            if let format { return try StoreReport.make(format, path: url.path) }
            return try StoreReport.make(options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
        }
        return PersistentStoreReport(
            report, path: url.isFileURL ? url.path : ServerStores.shared.shown(url).absoluteString)
    }
}

extension PersistentStoreReport {
    fileprivate init(_ report: StoreReport, path: String) {
        self.path = path
        type = report.type
        identifier = report.identifier
        frameworkVersion = report.frameworkVersion
        versionIdentifiers = report.versionIdentifiers
        versionChecksum = report.versionChecksum
        applicationMetadataKeys = report.applicationMetadataKeys
        journalMode = report.journalMode
        pageSize = report.pageSize
        pragmas = report.pragmas
        fileSize = report.fileSize
        logSize = report.logSize
        externalDataSize = report.externalDataSize
        externalDataCount = report.externalDataCount
        entities = report.entities.map { entity in
            Entity(
                name: entity.name, formerName: entity.formerName, number: entity.number, parent: entity.parent,
                table: entity.table,
                rowCount: entity.rowCount, maximumKey: entity.maximumKey, versionHash: entity.versionHash)
        }
        hasHistory = report.hasHistory
        transactionCount = report.transactionCount
        changeCount = report.changeCount
        hasCachedModel = report.modelSource == .cache
        searchIndexes = report.searchIndexes.isEmpty ? nil : report.searchIndexes
    }
}
