import CoreDataModel
import CoreDataSQL
import Foundation

extension StoreVerifier {
    /// Checks that every external value has its file, and every file its value.
    mutating func checkExternalData() throws {
        guard path != nil else { return }
        let files = ExternalData(storePath: path).files() ?? [:]
        var used: Set<String> = []
        for ordinal in schema.entities {
            let entity = model.entities[ordinal]
            guard let bound = schema.layout.entities[ordinal] else { continue }
            for (index, column) in entity.rowLayout.columns.enumerated() {
                guard case .attribute(let slot) = column.role, let name = bound.columnNames[index],
                    entity.properties[slot].declaringEntity == ordinal,
                    entity.properties[slot].attribute?.allowsExternalBinaryDataStorage == true
                else { continue }
                try checkReferences(
                    in: name, of: ordinal, property: entity.properties[slot].name, table: bound.table, files: files,
                    used: &used)
            }
        }
        // The references of another store that shares this folder are unknown here.
        if ExternalData(storePath: path).isShared { return }
        let orphans = files.keys.filter { !used.contains($0) && UUID(uuidString: $0) != nil }.sorted()
        for orphan in orphans.prefix(Self.rowLimit) {
            report(.warning, nil, nil, "no row refers to the external data file \(orphan)", hint: "it can be removed")
        }
        if orphans.count > Self.rowLimit {
            report(.warning, nil, nil, "no row refers to \(orphans.count - Self.rowLimit) more external data files")
        }
    }

    /// Checks references. It reads just enough of each value to distinguish the 38 bytes of an envelope with a file
    /// name from a longer value.
    private mutating func checkReferences(
        in column: String, of entity: Int, property: String, table: String, files: [String: Int],
        used: inout Set<String>
    ) throws {
        var missing = 0
        var raw = 0
        let value = SQLExpression.column(nil, column)
        let start = SQLExpression.function(.substring, [value, .integer(1), .integer(39)])
        var query = SelectStatement([.init(.column(nil, "Z_PK")), .init(.cast(start, to: .bytes))], from: .init(table))
        query.condition = .isNotNull(value)
        query.orders = [.init(.column(nil, "Z_PK"))]
        for row in try connection.rows(query) {
            guard case .integer(let key) = row[0], case .blob(let value) = row[1] else { continue }
            if let name = value.withUnsafeBytes(ExternalData.fileName) {
                used.insert(name)
                if files[name] != nil { continue }
                missing += 1
                if missing <= Self.rowLimit {
                    report(.error, entity, property, row: key, "its file \(name) is missing", hint: "the value is lost")
                }
            } else if value.first != ExternalData.Mark.inline, !value.isEmpty {
                raw += 1
            }
        }
        if missing > Self.rowLimit {
            report(.error, entity, property, "the files of \(missing - Self.rowLimit) more rows are missing")
        }
        if raw > 0 {
            report(
                .note, entity, property, "\(raw) values were written before the attribute allowed external storage",
                hint: "they are read as they are")
        }
    }
}
