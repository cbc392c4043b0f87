import CoreDataModel
import Foundation

/// How a store that is one file is written: to bytes and back.
package protocol AtomicFormat: Sendable {
    /// The type of stores that have it, e.g. `XML`.
    static var storeType: String { get }
    /// Whether a key is given out once for all entities.
    static var sharesKeys: Bool { get }
    /// The number before the first key that a new store gives out.
    static var keyBeforeFirst: Int64 { get }

    /// Whether bytes that begin like that were perhaps made by this format, however damaged the rest is.
    static func begins(_ start: Data) -> Bool
    /// - Throws: ``StoreFailure`` for what no store of the format can keep.
    static func check(_ model: CompiledModel, entities: [Int]) throws
    /// - Throws: ``StoreFailure`` for bytes that are damaged, or no such store.
    static func metadata(in data: Data, path: String) throws -> MetadataRow
    /// - Throws: ``StoreFailure`` for bytes that are damaged, no such store, or of another model.
    static func contents(in data: Data, model: CompiledModel, entities: [Int], path: String) throws -> MemoryContents
    /// How many objects the bytes have of each entity, by the names that are in them; needs no model.
    ///
    /// - Throws: ``StoreFailure`` for bytes that are damaged, or no such store.
    static func objectCounts(in data: Data, path: String) throws -> [String: Int]
    /// What can be read of damaged bytes, and in words what could not.
    ///
    /// - Throws: ``StoreFailure`` for bytes of which nothing can be read.
    static func salvage(
        _ data: Data, model: CompiledModel, entities: [Int], path: String
    ) throws -> (MemoryContents, notes: [String])
    static func write(_ contents: MemoryContents, entities: [Int], to writer: AtomicFileWriter) throws
    /// Writes the same store with other metadata.
    static func write(
        _ metadata: MetadataRow, replacingThoseIn data: Data, path: String, to writer: AtomicFileWriter) throws
}

extension AtomicFormat {
    /// Why bytes are not of the format, where they are known to be something else.
    static func otherKind(_ data: Data, path: String) -> StoreFailure? {
        let start = data.prefix(16)
        if start.isEmpty { return .notAStore(path, missing: []) }
        let known: [(String, String)] = [
            ("SQLite format 3\0", "an SQLite database: add it as a store of type SQLite"),
            (
                "CoreData",
                "a binary store of Apple's, whose format is not known here: migrate it to an XML or SQLite store where Apple's Core Data runs"
            ),
        ]
        let other: [any AtomicFormat.Type] = [XMLStoreFormat.self, BinaryStoreFormat.self]
        for (magic, what) in known where start.starts(with: Array(magic.utf8)) {
            return StoreFailure(
                .wrongStoreType, "The file '\(path)' is no store of type \(storeType), but \(what).")
        }
        for format in other where format.storeType != storeType && format.begins(data.prefix(512)) {
            return StoreFailure(
                .wrongStoreType,
                "The file '\(path)' is a store of type \(format.storeType), not \(storeType).")
        }
        return nil
    }

    static func damaged(_ path: String, _ reason: String) -> StoreFailure {
        StoreFailure(.notADatabase, "The file '\(path)' is no \(storeType) store, or it is damaged: \(reason).")
    }

    /// Who may not have the metadata: keys that the store itself needs come from the model.
    static func complete(_ metadata: StoreMetadata, _ model: CompiledModel, _ entities: [Int]) throws -> StoreMetadata {
        if metadata.versionHashes != nil { return metadata }
        return try StoreMetadata.made(for: model, entities: entities, type: storeType, adding: metadata)
    }
}
