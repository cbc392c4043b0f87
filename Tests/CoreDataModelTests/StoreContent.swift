import CSQLite
import CoreDataModel
import Foundation
import TestSupport

/// What a store of the fixtures says of its model.
struct StoreContent {
    /// The compressed archive of the model, where the store has one.
    var modelCache: Data?
    var versionHashes: [String: Data] = [:]
    var versionHashesDigest: String?
    var versionChecksum: String?

    /// Reads a copy, as a store's content may be only in its write-ahead log.
    init(store path: String) throws {
        let copy = try Fixtures.temporaryCopy(path)
        defer { try? FileManager.default.removeItem(at: copy.deletingLastPathComponent()) }
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open(copy.path, &database) == SQLITE_OK else { throw CocoaError(.fileReadUnknown) }
        modelCache = Self.blob("SELECT Z_CONTENT FROM Z_MODELCACHE", in: database)
        guard let data = Self.blob("SELECT Z_PLIST FROM Z_METADATA", in: database) else { return }
        let metadata = try PropertyListValue(propertyList: data)
        if case .dictionary(let hashes)? = metadata["NSStoreModelVersionHashes"] {
            versionHashes = hashes.compactMapValues(\.data)
        }
        versionHashesDigest = metadata["NSStoreModelVersionHashesDigest"]?.string
        versionChecksum = metadata["NSStoreModelVersionChecksumKey"]?.string
    }

    private static func blob(_ sql: String, in database: OpaquePointer?) -> Data? {
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let bytes = sqlite3_column_blob(statement, 0)
        else { return nil }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(statement, 0)))
    }
}
