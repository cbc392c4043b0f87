import CoreDataModel
import Foundation

/// The file format of a single-file store: converts its content to bytes and back.
package protocol AtomicFormat: Sendable {
    /// The kind of files.
    static var kind: AtomicFileKind { get }
    /// Whether keys are unique across all entities.
    static var sharesKeys: Bool { get }
    /// The number before the first key of a new store.
    static var keyBeforeFirst: Int64 { get }

    /// - Throws: ``StoreFailure`` for a model that the format does not support.
    static func check(_ model: CompiledModel, entities: [Int]) throws
    /// - Throws: ``StoreFailure`` for damaged bytes, or bytes of another format.
    static func metadata(in data: Data, path: String) throws -> MetadataRow
    /// - Throws: ``StoreFailure`` for damaged bytes, bytes of another format, or a store of another model.
    static func contents(in data: Data, model: CompiledModel, entities: [Int], path: String) throws -> MemoryContents
    /// Returns the number of objects of each entity, by the names in the file; needs no model.
    ///
    /// - Throws: ``StoreFailure`` for damaged bytes, or bytes of another format.
    static func objectCounts(in data: Data, path: String) throws -> [String: Int]
    /// Returns the readable content of damaged bytes, and descriptions of the unreadable parts.
    ///
    /// - Throws: ``StoreFailure`` if nothing can be read.
    static func salvage(
        _ data: Data, model: CompiledModel, entities: [Int], path: String
    ) throws -> (MemoryContents, notes: [String])
    static func write(_ contents: MemoryContents, entities: [Int], to writer: AtomicFileWriter) throws
    /// Writes the same store with different metadata.
    static func write(
        _ metadata: MetadataRow, replacingThoseIn data: Data, path: String, to writer: AtomicFileWriter) throws
}

extension AtomicFormat {
    /// The type of stores with this format, e.g. `XML`.
    package static var storeType: String { kind.storeType }

    /// Returns whether a file with this start may have this format, even if the rest is damaged.
    package static func begins(_ start: Data) -> Bool { kind.begins(start) }

    /// Returns a failure that names the actual format of the bytes, if it is known.
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
        for (magic, what) in known where start.starts(with: Array(magic.utf8)) {
            return StoreFailure(
                .wrongStoreType, "The file '\(path)' is no store of type \(storeType), but \(what).")
        }
        for other in AtomicFileKind.allCases where other != kind && other.begins(data.prefix(512)) {
            return StoreFailure(
                .wrongStoreType,
                "The file '\(path)' is a store of type \(other.storeType), not \(storeType).")
        }
        return nil
    }

    static func damaged(_ path: String, _ reason: String) -> StoreFailure {
        StoreFailure(.notADatabase, "The file '\(path)' is no \(storeType) store, or it is damaged: \(reason).")
    }

    /// Completes the metadata with the keys that the store itself needs, which follow from the model.
    static func complete(_ metadata: StoreMetadata, _ model: CompiledModel, _ entities: [Int]) throws -> StoreMetadata {
        if metadata.versionHashes != nil { return metadata }
        return try StoreMetadata.made(for: model, entities: entities, type: storeType, adding: metadata)
    }
}
