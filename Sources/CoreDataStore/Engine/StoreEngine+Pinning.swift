import CoreDataSQL
import Foundation

// The store as it was at one moment.
extension StoreEngine: FormerRows {
    package func pinned() throws -> (any FormerRows)? { try pinnedEngine() }

    /// The store on a connection of its own, whose transaction stays open; its rows are not those that contexts share.
    func pinnedEngine() throws -> StoreEngine? {
        let hasFiles = model.entities.contains { !$0.externalDataColumns.isEmpty }
        for attempt in 0..<2 {
            let files = hasFiles ? FormerFiles(keepingFilesOf: externalData) : nil
            guard let database = try database.pinned() else { return nil }
            // Somebody may have saved the first file in between.
            let isLate = hasFiles && files == nil && externalData.folder.map(FileManager.default.fileExists) ?? false
            if attempt == 0, isLate { continue }
            // Nothing later can change the schema that it has.
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

    package func isSame(as other: any FormerRows) -> Bool { (other as? StoreEngine)?.database === database }

    package func checkKept() throws { try database.readStatement { _ in } }
}
