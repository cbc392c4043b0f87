import CoreData
import Foundation

/// The entities of a store with the numbers of their objects; subentities follow their parents.
struct EntityList {
    struct Row {
        var name: String
        var parent: String?
        /// The number of ancestors.
        var depth: Int
        /// The number of objects including subentities, as a query counts them.
        var count: Int
    }

    private(set) var rows: [Row] = []

    /// Makes the list from a report, which needs no model.
    init(_ report: PersistentStoreReport) {
        let children = Dictionary(grouping: report.entities) { $0.parent ?? "" }
        var visited: Set<String> = []
        /// Adds the entity and its subentities; returns the number of their objects.
        func add(_ entity: PersistentStoreReport.Entity, depth: Int) -> Int {
            guard visited.insert(entity.name).inserted else { return 0 }
            let place = rows.count
            rows.append(Row(name: entity.name, parent: entity.parent, depth: depth, count: 0))
            let below = (children[entity.name] ?? []).sorted { $0.name < $1.name }.map { add($0, depth: depth + 1) }
            rows[place].count = entity.rowCount + below.reduce(0, +)
            return rows[place].count
        }
        for entity in (children[""] ?? []).sorted(by: { $0.name < $1.name }) { _ = add(entity, depth: 0) }
    }

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
