import CoreDataModel
import CoreDataSQL
import Foundation

extension StoreEngine {
    /// Removes the files of external data that no row names: what a process left that died between a file and its row.
    ///
    /// Nobody can save meanwhile, so that no file is removed whose row is about to be committed.
    ///
    /// - Returns: how many there were.
    @discardableResult
    package func removeOrphanedExternalData() throws -> Int {
        let data = externalData
        guard !isReadOnly, let files = data.files(), !files.isEmpty, let folder = data.folder else { return 0 }
        return try write { connection in
            // Those that came meanwhile are somebody's.
            var orphans = Set(files.keys.filter { UUID(uuidString: $0) != nil })
            for ordinal in model.entities.indices where !orphans.isEmpty {
                let entity = model.entities[ordinal]
                guard let bound = layout.entities[ordinal] else { continue }
                for column in entity.externalDataColumns {
                    guard let name = bound.columnNames[column] else { continue }
                    for row in try connection.rows(Self.references(in: name, table: bound.table)) {
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

    /// No more of each value than tells an envelope that names a file, which has 38 bytes, from a longer one.
    private static func references(in column: String, table: String) -> SelectStatement {
        let start = SQLExpression.function(.substring, [.column(nil, column), .integer(1), .integer(39)])
        var query = SelectStatement([.init(.cast(start, to: .bytes))], from: .init(table))
        query.condition = .isNotNull(.column(nil, column))
        return query
    }
}
