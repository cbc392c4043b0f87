import CoreDataSQL
import Foundation

// Snapshots of a store.
extension StoreEngine: SourceSnapshot {
    package func pinned() throws -> (any SourceSnapshot)? { try pinnedEngine() }

    /// Returns a read-only engine with a separate connection and an open transaction; it does not share rows with other
    /// contexts.
    func pinnedEngine() throws -> StoreEngine? {
        let hasFiles = model.entities.contains { !$0.externalDataColumns.isEmpty }
        for attempt in 0..<2 {
            let files = hasFiles ? FormerFiles(keepingFilesOf: externalData) : nil
            guard let database = try database.pinned() else { return nil }
            // Another process may have saved the first file in between.
            let isLate = hasFiles && files == nil && externalData.folder.map(FileManager.default.fileExists) ?? false
            if attempt == 0, isLate { continue }
            // Check the schema once: later changes do not affect the snapshot.
            do { try database.read { try checkModel($0, isWriting: false) } } catch {
                database.close()
                throw error
            }
            return StoreEngine(
                model: model, layout: layout, database: database, identifier: identifier,
                metadata: openedMetadata.metadata, entities: entities, path: path, isReadOnly: true,
                formerFiles: files, keepsRows: false, fetchTexts: fetchTexts, clock: clock)
        }
        return nil
    }

    package func isSame(as other: any SourceSnapshot) -> Bool { (other as? StoreEngine)?.database === database }

    package func checkKept() throws { try database.readStatement { _ in } }
}
