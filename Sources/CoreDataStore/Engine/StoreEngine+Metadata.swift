import CoreDataModel
import CoreDataSQL

extension StoreEngine {
    /// Returns the current metadata in the store's file.
    package func metadata() throws -> MetadataRow {
        try database.read { try MetadataRow.read($0, path: path) }
    }

    /// Writes the metadata immediately. Required keys that the dictionary lacks are kept; a `NSStoreUUID` in it becomes
    /// the store's identifier when the store is opened again.
    @discardableResult
    package func setMetadata(_ metadata: StoreMetadata) throws -> MetadataRow {
        try write { try MetadataRow.write(metadata, in: $0) }
    }

    /// Returns the store's cached model.
    package func cachedModelDocument() throws -> ModelDocument {
        try database.read { try ModelCache.document(in: $0, path: path) }
    }
}
