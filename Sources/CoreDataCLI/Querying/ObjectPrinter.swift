import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// Prints the objects of a query.
struct ObjectPrinter {
    let columns: [PropertyPath]
    let output: TextOutput

    func printRecords(_ objects: ObjectStream, _ writer: some RecordWriter, showsMembers: Bool) throws {
        var writer = writer
        var objects = objects
        objects.prefetched = Self.prefetched(columns)
        try writer.begin(objects.entity.name ?? "", columns: columns.map(\.text))
        try objects.forEach { object, _, _ in
            try writer.write(columns.map { $0.cell(of: object, showsMembers: showsMembers) })
        }
        try writer.end()
    }

    /// Prints a row per object, with a heading for each value of the group.
    func printTable(_ objects: ObjectStream, group: PropertyPath?) throws {
        var groups: [(title: String, rows: [[CellValue]])] = []
        var objects = objects
        objects.prefetched = Self.prefetched(columns + (group.map { [$0] } ?? []))
        let count = try objects.forEach { object, _, _ in
            let title = group?.cell(of: object, showsMembers: true).tableText ?? ""
            if groups.last?.title != title { groups.append((title, [])) }
            groups[groups.count - 1].rows.append(columns.map { $0.cell(of: object, showsMembers: false) })
        }
        // All groups have the same column widths.
        let rows = groups.flatMap(\.rows)
        var table = TextTable(
            columns.enumerated().map { index, column in
                let values = rows.map { $0[index] }.filter { $0 != .null }
                return .init(title: column.text, isRightAligned: !values.isEmpty && values.allSatisfy(\.isNumber))
            })
        table.rows = rows.map { $0.map(\.tableText) }
        var lines = table.lines(width: Terminal.width)
        if count > 0 { try output.write(lines.prefix(2).joined(separator: "\n") + "\n") }
        lines.removeFirst(2)
        for part in groups {
            if group != nil { try output.write("\n\(part.title) (\(Grouped.text(part.rows.count)))\n") }
            try output.write(lines.prefix(part.rows.count).map { $0 + "\n" }.joined())
            lines.removeFirst(part.rows.count)
        }
        try output.write((count > 0 ? "\n" : "") + Grouped.text(count, "object") + "\n")
    }

    /// Prints a line for each property of a single object.
    func printLines(_ objects: ObjectStream) throws {
        try objects.forEach { object, _, _ in
            var table = TextTable([.init(title: ""), .init(title: "")])
            table.rows = columns.map { column in
                let cell = column.cell(of: object, showsMembers: true)
                // Show the full ID here, as other programs expect it.
                return [column.text, column.text == "objectID" ? cell.text ?? "" : cell.tableText]
            }
            try output.write(table.lines(hasHeader: false, width: Terminal.width).map { $0 + "\n" }.joined())
        }
    }

    /// Returns the relationships in the columns' paths, so that each is prefetched for many objects.
    static func prefetched(_ columns: [PropertyPath]) -> [String] {
        let paths = columns.flatMap { column -> [String] in
            let names = column.steps.map(\.name) + (column.relationship.map { [$0.name] } ?? [])
            return names.isEmpty ? [] : [names.joined(separator: ".")]
        }
        return Array(Set(paths)).sorted()
    }
}
