import CoreData
import CoreDataStoreTools
import Foundation

// Prints the entities of a store.
extension EntityList {
    func write(as format: QueryCommand.Format, to output: TextOutput) throws {
        switch format {
        case .table:
            var table = TextTable([.init(title: "entity"), .init(title: "objects", isRightAligned: true)])
            table.rows = rows.map { [String(repeating: "  ", count: $0.depth) + $0.name, Grouped.text($0.count)] }
            let lines = table.lines(width: Terminal.width)
            try output.write(lines.map { $0 + "\n" }.joined())
            try output.write("\n" + Grouped.text(rows.count, "entity", many: "entities") + "\n")
        case .json: try write(JSONRecordWriter(output, isKeyedByEntity: false))
        case .ndjson: try write(NDJSONRecordWriter(output))
        case .csv: try write(CSVRecordWriter(output))
        }
    }

    private func write(_ writer: some RecordWriter) throws {
        var writer = writer
        try writer.begin("entity", columns: ["entity", "parent", "objects"])
        for row in rows {
            try writer.write([.text(row.name), row.parent.map { .text($0) } ?? .null, .count(row.count)])
        }
        try writer.end()
    }
}
