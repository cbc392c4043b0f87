import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

extension StoreEngine {
    package var externalData: ExternalData { ExternalData(storePath: path) }

    package func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { try externalData.data(of: stored) }

    package func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? {
        let compiled = model.entities[entity]
        guard let bound = layout.entities[entity], compiled.rowLayout.columnOfSlot[slot] >= 0,
            let column = bound.columnNames[compiled.rowLayout.columnOfSlot[slot]]
        else { return nil }
        var select = SelectStatement(
            [.init(.column(nil, "Z_PK")), .init(.column(nil, "Z_ENT"))], from: .init(bound.table, as: bound.table))
        select.condition = .comparison(.equal, .column(nil, column), .bind(.blob(stored)))
        return (try? query(select) { key($0, at: 0, of: entity) })?.first
    }

    /// Deletes the external data files that no row names: a process that terminated between writing a file and its row
    /// left them.
    ///
    /// Saves are blocked meanwhile, so that no file of a row about to be committed is deleted. If another store shares
    /// the folder (``ExternalData/neighbours``), nothing is deleted: its rows are not known here.
    ///
    /// - Returns: the number of deleted files.
    @discardableResult
    package func removeOrphanedExternalData() throws -> Int {
        let data = externalData
        guard !isReadOnly, let files = data.files(), !files.isEmpty, let folder = data.folder, !data.isShared
        else { return 0 }
        return try write { connection in
            // Files that were created meanwhile are in use.
            var orphans = Set(files.keys.filter { UUID(uuidString: $0) != nil })
            for ordinal in model.entities.indices where !orphans.isEmpty {
                let entity = model.entities[ordinal]
                guard let bound = layout.entities[ordinal] else { continue }
                for column in entity.externalDataColumns {
                    guard let name = bound.columnNames[column] else { continue }
                    for row in try connection.rows(ExternalData.startsOfValues(in: name, table: bound.table)) {
                        guard case .blob(let value)? = row.first,
                            let file = value.withUnsafeBytes(ExternalData.fileName)
                        else { continue }
                        orphans.remove(file)
                    }
                }
            }
            // The commits that released the files must be on the disk first.
            if !orphans.isEmpty { try database.synchronize() }
            FormerFiles.remove(orphans.map { "\(folder)/\($0)" }, of: data)
            return orphans.count
        }
    }
}
