import ArgumentParser
import CoreData
import Foundation

/// `coredata query`
struct QueryCommand: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json, ndjson, csv
    }

    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Prints the objects of an entity that a predicate selects.",
        discussion: """
            Opens the store for reading only. A predicate is written as for NSPredicate(format:). Columns may be key \
            paths; a to-many shows as the number of its objects in a table and in CSV, as a list of them in JSON. \
            Dates are ISO 8601 in UTC, binary values show as their size in a table and are base64 elsewhere.

            EXAMPLES
              coredata query Shop.sqlite Item
              coredata query Shop.sqlite Item --where 'listed == YES AND unit.name == "kg"' --sort locationAtShop.aisle,name
              coredata query Shop.sqlite Item --select name,quantity,unit.name --group locationAtShop.aisle
              coredata query Shop.sqlite Unit --where 'items.@count > 10' --count
              coredata query Shop.sqlite Item --where 'name CONTAINS[cd] "cafe"' --explain
            """)

    @Argument(help: "The store's file.")
    var store: String

    @Argument(help: "The entity, subentities included.")
    var entity: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(name: .customLong("where"), help: ArgumentHelp("Only what this selects.", valueName: "predicate"))
    var predicate: String?

    // A value such as -name is no option.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Key paths to sort by; '-' before one turns it round.", valueName: "a,-b.c"))
    var sort: String?

    @Option(help: ArgumentHelp("Key paths to print. Without it everything that the entity has.", valueName: "a,b.c"))
    var select: String?

    @Option(help: ArgumentHelp("Print a heading for each value of this key path (table only).", valueName: "a.b"))
    var group: String?

    @Option(help: "Print at most so many.")
    var limit: Int?

    @Option(help: "Leave out so many first.")
    var offset: Int?

    @Flag(help: "Print the number alone.")
    var count = false

    @Flag(help: "Print the SQL and how the database runs it, instead of the result.")
    var explain = false

    @Option(help: "How to print.")
    var format: Format = .table

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
        if let offset, offset < 0 { throw ValidationError("--offset takes a number from 0.") }
        if count, explain { throw ValidationError("Choose one of --count and --explain.") }
        if group != nil, format != .table { throw ValidationError("--group goes with --format table.") }
    }

    func run() throws {
        let opened = try OpenStore(store, model: modelOptions, isReadOnly: true)
        let entity = try opened.entity(named: entity)
        var objects = ObjectStream(opened.makeContext(), entity: entity)
        objects.predicate = try predicate.map { try NSPredicate(validating: $0) }
        objects.limit = limit ?? 0
        objects.offset = offset ?? 0
        objects.sortDescriptors = try sortDescriptors(of: entity)
        if count {
            let request = objects.request(NSManagedObject.self)
            print(try objects.context.performAndWait { try objects.context.count(for: request) })
        } else if explain {
            print(try explanation(objects), terminator: "")
        } else {
            try printObjects(objects, columns: columns(of: entity))
        }
    }

    private func sortDescriptors(of entity: NSEntityDescription) throws -> [NSSortDescriptor] {
        // Groups stay together when they are sorted by first.
        let names = (group.map { [$0] } ?? []) + Self.names(sort)
        return try names.map { name in
            let isDescending = name.hasPrefix("-")
            let path = try PropertyPath(isDescending ? String(name.dropFirst()) : name, of: entity)
            return NSSortDescriptor(key: path.text, ascending: !isDescending)
        }
    }

    /// What `--select` names, else attributes, to-one and to-many relationships, each by name.
    private func columns(of entity: NSEntityDescription) throws -> [PropertyPath] {
        let names = Self.names(select)
        if !names.isEmpty { return try names.map { try PropertyPath($0, of: entity) } }
        let relationships = entity.relationshipsByName.values
        return try
            (entity.attributesByName.keys.sorted() + relationships.filter { !$0.isToMany }.map(\.name).sorted()
            + relationships.filter(\.isToMany).map(\.name).sorted())
            .map { try PropertyPath($0, of: entity) }
    }

    private static func names(_ list: String?) -> [String] {
        list?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } ?? []
    }

    // MARK: Printing

    private func printObjects(_ objects: ObjectStream, columns: [PropertyPath]) throws {
        var objects = objects
        objects.prefetched = Self.prefetched(columns)
        let output = try TextOutput()
        switch format {
        case .table: try printTable(objects, columns, output)
        case .json: try printRecords(objects, columns, JSONRecordWriter(output, isKeyedByEntity: false))
        case .ndjson: try printRecords(objects, columns, NDJSONRecordWriter(output))
        case .csv: try printRecords(objects, columns, CSVRecordWriter(output))
        }
        try output.finish()
    }

    private func printRecords(
        _ objects: ObjectStream, _ columns: [PropertyPath], _ writer: some RecordWriter
    ) throws {
        var writer = writer
        let showsMembers = format != .csv
        try writer.begin(entity, columns: columns.map(\.text))
        try objects.forEach { object, _, _ in
            try writer.write(columns.map { $0.cell(of: object, showsMembers: showsMembers) })
        }
        try writer.end()
    }

    private func printTable(_ objects: ObjectStream, _ columns: [PropertyPath], _ output: TextOutput) throws {
        let groupPath = try group.map { try PropertyPath($0, of: objects.entity) }
        var groups: [(title: String, rows: [[CellValue]])] = []
        var objects = objects
        objects.prefetched = Self.prefetched(columns + (groupPath.map { [$0] } ?? []))
        let count = try objects.forEach { object, _, _ in
            let title = groupPath?.cell(of: object, showsMembers: true).tableText ?? ""
            if groups.last?.title != title { groups.append((title, [])) }
            groups[groups.count - 1].rows.append(columns.map { $0.cell(of: object, showsMembers: false) })
        }
        // One set of widths for all groups.
        let rows = groups.flatMap(\.rows)
        var table = TextTable(
            columns.enumerated().map { index, column in
                let values = rows.map { $0[index] }.filter { $0 != .null }
                return .init(title: column.text, isRightAligned: !values.isEmpty && values.allSatisfy(\.isNumber))
            })
        table.rows = rows.map { $0.map(\.tableText) }
        var lines = table.lines()
        if count > 0 { try output.write(lines.prefix(2).joined(separator: "\n") + "\n") }
        lines.removeFirst(2)
        for group in groups {
            if groupPath != nil { try output.write("\n\(group.title) (\(Grouped.text(group.rows.count)))\n") }
            try output.write(lines.prefix(group.rows.count).map { $0 + "\n" }.joined())
            lines.removeFirst(group.rows.count)
        }
        try output.write((count > 0 ? "\n" : "") + "\(Grouped.text(count)) \(count == 1 ? "object" : "objects")\n")
    }

    private func explanation(_ objects: ObjectStream) throws -> String {
        let request = objects.request(NSManagedObject.self)
        let explanation = try objects.context.performAndWait { try objects.context.explain(request) }
        return explanation.map { statement in
            var lines = [statement.sql]
            if !statement.bindings.isEmpty { lines.append("  with \(statement.bindings.joined(separator: ", "))") }
            return (lines + statement.plan.map { "  \($0)" }).joined(separator: "\n") + "\n"
        }.joined(separator: "\n")
    }

    /// The relationships that the columns go through, so that each is read for many objects at once.
    static func prefetched(_ columns: [PropertyPath]) -> [String] {
        let paths = columns.flatMap { column -> [String] in
            let names = column.steps.map(\.name) + (column.relationship.map { [$0.name] } ?? [])
            return names.isEmpty ? [] : [names.joined(separator: ".")]
        }
        return Array(Set(paths)).sorted()
    }
}
