import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata query`.
struct QueryCommand: ParsableCommand {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case table, json, ndjson, csv
    }

    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Prints the objects of an entity that a predicate selects.",
        usage: "coredata query [<options>] <store> [<entity>]",
        discussion: """
            Opens the store for reading only, and leaves nothing beside it. Without an entity it lists the entities. \
            With the ID of an object, as printed or in short (Item/p12), it prints that object.

            A predicate is written as for NSPredicate(format:). Texts in it are read as what they are held against: \
            dates in ISO 8601, UUIDs, bytes in base64 or as 0x01ff, objects by their ID.

            Columns may be key paths; a to-many shows as the number of its objects in a table and in CSV, as a list of \
            them in JSON; tasks.@count, tasks.@sum.hours and objectID are columns too. Dates are ISO 8601 in UTC, \
            binary values show as their size in a table and are base64 elsewhere, unless they are JSON or an archive of \
            plain values, which are written as JSON. On a terminal a wide table is cut.

            EXAMPLES
              coredata query Shop.sqlite
              coredata query Shop.sqlite Item --where 'unit.name == "kg"' --sort -name
              coredata query Shop.sqlite Item --where 'bought > "2024-05-01"' --count
              coredata query Shop.sqlite Item --select name,quantity,unit.name \\
                --group locationAtShop.aisle
              coredata query Shop.sqlite Unit --select name,items.@count,objectID
              coredata query Shop.sqlite Unit/p3 --format json
              coredata query Shop.sqlite Item --where 'unit == "Unit/p3"'
              coredata query Shop.sqlite Item --where 'name CONTAINS[cd] "cafe"' --explain
              coredata query App2013.sqlite Item --infer
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @Argument(
        help: ArgumentHelp(
            "The entity, subentities included; or the ID of an object. Without it the entities are listed.",
            valueName: "entity"))
    var entity: String?

    @OptionGroup var modelOptions: ReadingModelOptions

    @Option(name: .customLong("where"), help: ArgumentHelp("Only what this selects.", valueName: "predicate"))
    var predicate: String?

    // A value such as -name is not an option.
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Key paths to sort by; '-' before one turns it round.", valueName: "a,-b.c"))
    var sort: String?

    @Option(help: ArgumentHelp("Key paths to print. Without it everything that the entity has.", valueName: "a,b.c"))
    var select: String?

    @Option(help: ArgumentHelp("Print a heading for each value of this key path (table only).", valueName: "a.b"))
    var group: String?

    @Option(parsing: .unconditional, help: "Print at most so many.")
    var limit: Int?

    @Option(parsing: .unconditional, help: "Leave out so many first.")
    var offset: Int?

    @Flag(help: "Print the number alone.")
    var count = false

    @Flag(help: "Print the SQL, how the database runs it and what would make it faster, instead of the result.")
    var explain = false

    @Option(name: .customLong("format"), help: "How to print; table unless said.")
    var chosenFormat: Format?

    @Flag(help: "The same as --format json.")
    var json = false

    private var format: Format { json ? .json : chosenFormat ?? .table }

    private var reference: ObjectReference? { entity.flatMap(ObjectReference.init) }

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
        if let offset, offset < 0 { throw ValidationError("--offset takes a number from 0.") }
        for (option, list) in [("--sort", sort), ("--select", select)] where list != nil && Self.names(list).isEmpty {
            throw ValidationError("\(option) takes key paths, such as name,unit.name.")
        }
        if json, let chosenFormat, chosenFormat != .json {
            throw ValidationError("Choose one of --json and --format \(chosenFormat.rawValue).")
        }
        if json, explain { throw ValidationError("--explain prints text.") }
        if count, explain { throw ValidationError("Choose one of --count and --explain.") }
        if group != nil, format != .table { throw ValidationError("--group goes with --format table.") }
        let ofEntities = [
            ("--where", predicate != nil), ("--sort", sort != nil), ("--group", group != nil),
            ("--limit", limit != nil),
            ("--offset", offset != nil), ("--count", count), ("--explain", explain),
        ]
        if entity == nil || reference != nil, let option = ofEntities.first(where: \.1)?.0 {
            throw ValidationError("\(option) goes with an entity\(entity == nil ? "" : ", not with one object").")
        }
        if entity == nil, select != nil { throw ValidationError("--select goes with an entity.") }
    }

    func run() throws {
        guard let entity else { return try listEntities() }
        let opened = try OpenStore(reading: store, model: modelOptions)
        if let reference { return try printObject(reference, of: opened) }
        let description = try opened.entity(named: entity)
        var objects = ObjectStream(opened.makeContext(), entity: description)
        objects.predicate = try predicate.map {
            try ConstantReader(opened: opened, option: "--where: ").predicate($0, of: description)
        }
        objects.limit = limit ?? 0
        objects.offset = offset ?? 0
        objects.sortDescriptors = try sortDescriptors(of: description)
        if count {
            let request = objects.request(NSManagedObject.self)
            print(try objects.context.performAndWait { try objects.context.count(for: request) })
        } else if explain {
            print(try explanation(objects), terminator: "")
        } else {
            try printObjects(objects, columns: columns(of: description))
        }
    }

    // MARK: Printed properties

    private func listEntities() throws {
        try StoreFile.checkExists(store)
        let report = try NSPersistentStoreCoordinator.report(onPersistentStoreAt: StoreFile.url(store))
        let output = try TextOutput()
        try EntityList(report).write(as: format, to: output)
        try output.finish()
    }

    private func printObject(_ reference: ObjectReference, of opened: OpenStore) throws {
        let id = try reference.objectID(in: opened)
        let context = opened.makeContext()
        let found = try context.performAndWait { () -> String? in
            let request = NSFetchRequest<NSManagedObject>(entityName: id.entity.name ?? "")
            request.predicate = NSPredicate(format: "self == %@", argumentArray: [id])
            return try context.fetch(request).first?.entity.name
        }
        guard let found else {
            throw ToolFailure("There is no \(reference.entity)/p\(reference.key) in \(StoreFile.shown(store)).")
        }
        // The object's entity may be a subentity with more properties.
        let entity = try opened.entity(named: found)
        var objects = ObjectStream(context, entity: entity)
        objects.predicate = NSPredicate(format: "self == %@", argumentArray: [id])
        let columns = try columns(of: entity)
        guard format == .table else { return try printObjects(objects, columns: columns) }
        let output = try TextOutput()
        let heading = select == nil ? [try PropertyPath("objectID", of: entity)] : []
        try ObjectPrinter(columns: heading + columns, output: output).printLines(objects)
        try output.finish()
    }

    private func sortDescriptors(of entity: NSEntityDescription) throws -> [NSSortDescriptor] {
        // Sorting by the group first keeps each group together.
        let names = (group.map { [$0] } ?? []) + Self.names(sort)
        return try names.map { name in
            let isDescending = name.hasPrefix("-")
            let path = try PropertyPath(isDescending ? String(name.dropFirst()) : name, of: entity)
            guard path.isSortable else {
                throw ToolFailure("A store cannot sort by '\(path.text)': it leads to several objects.")
            }
            return NSSortDescriptor(key: path.text, ascending: !isDescending)
        }
    }

    /// Returns the properties of `--select`; by default attributes, then to-one and to-many relationships, each by
    /// name.
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

    private func printObjects(_ objects: ObjectStream, columns: [PropertyPath]) throws {
        let output = try TextOutput()
        let printer = ObjectPrinter(columns: columns, output: output)
        switch format {
        case .table:
            try printer.printTable(objects, group: group.map { try PropertyPath($0, of: objects.entity) })
        case .json:
            try printer.printRecords(
                objects, JSONRecordWriter(output, isKeyedByEntity: false), showsMembers: true)
        case .ndjson: try printer.printRecords(objects, NDJSONRecordWriter(output), showsMembers: true)
        case .csv: try printer.printRecords(objects, CSVRecordWriter(output), showsMembers: false)
        }
        try output.finish()
    }

    private func explanation(_ objects: ObjectStream) throws -> String {
        let request = objects.request(NSManagedObject.self)
        let explanation = try objects.context.performAndWait { try objects.context.explain(request) }
        return explanation.map { "\($0)\n" }.joined(separator: "\n")
    }
}
