import CoreDataModel
import CoreDataSQL
import Foundation

extension StoreEngine {
    /// Removes the files of external data that no row names: what a process left that died between a file and its row.
    ///
    /// Nobody can save meanwhile, so that no file is removed whose row is about to be committed. Where another store has the same
    /// folder (``ExternalData/neighbours``) nothing is removed: its rows are not known here.
    ///
    /// - Returns: how many there were.
    @discardableResult
    package func removeOrphanedExternalData() throws -> Int {
        let data = externalData
        guard !isReadOnly, let files = data.files(), !files.isEmpty, let folder = data.folder, !data.isShared
        else { return 0 }
        return try write { connection in
            // Those that came meanwhile are somebody's.
            var orphans = Set(files.keys.filter { UUID(uuidString: $0) != nil })
            for ordinal in model.entities.indices where !orphans.isEmpty {
                let entity = model.entities[ordinal]
                guard let bound = layout.entities[ordinal] else { continue }
                for column in entity.externalDataColumns {
                    guard let name = bound.columnNames[column] else { continue }
                    for row in try connection.rows(ExternalData.references(in: name, table: bound.table)) {
                        guard case .blob(let value)? = row.first,
                            let file = value.withUnsafeBytes(ExternalData.fileName)
                        else { continue }
                        orphans.remove(file)
                    }
                }
            }
            FormerFiles.remove(orphans.map { "\(folder)/\($0)" }, of: data)
            return orphans.count
        }
    }
}
