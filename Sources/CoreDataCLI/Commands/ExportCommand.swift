import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata export`.
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the objects of a store as records that 'coredata import' makes an equal store of.",
        usage: "coredata export [<options>] <store>",
        discussion: """
            A record has the object's ID, its attributes, and the IDs of the objects that its relationships lead to. \
            With --unique related objects of that entity are told by an attribute instead, as "unit.name": "kg", or \
            with --nested "unit": {"name": "kg"}. --no-ids leaves IDs out: then what nothing else tells apart is lost, \
            and named on standard error. Binary values and transformed ones are base64, unless they \
            are JSON text or an archive of plain values, which are written as JSON; dates are ISO 8601 in UTC.

            Without --entity, or with several, JSON is one object with an array for each entity, XML one file with an \
            element for each record, NDJSON has a line for each, and CSV a file for each entity in the folder that \
            --output names. Of one entity JSON is an array, and CSV one file.

            EXAMPLES
              coredata export Shop.sqlite --output Shop.json
              coredata export Shop.sqlite --format csv --output Shop/
              coredata export Shop.sqlite --entity Item --no-ids --unique Unit.name \\
                --format csv --output items.csv

              # a store there and back
              coredata export Shop.sqlite --output Shop.json
              coredata store create New.sqlite --model Shop.sqlite
              coredata import New.sqlite Shop.json
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @OptionGroup var modelOptions: ReadingModelOptions

    @Option(
        parsing: .singleValue,
        help: "An entity to export, its subentities not included; all that are not abstract without it.")
    var entity: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An attribute that tells the entity's objects apart, to write in place of their IDs.",
            valueName: "Entity.attribute"))
    var unique: [String] = []

    @Flag(help: "Leave IDs out; without --unique the model's uniqueness constraints tell related objects apart.")
    var noIds = false

    @Flag(help: "JSON: write what tells a related object apart as an object of its own.")
    var nested = false

    @Option(help: "How to write. Without it the end of the output's name tells, else JSON.")
    var format: RecordFormat?

    @Option(
        name: .shortAndLong, help: "The file or folder to write; standard output without it.", completion: .file())
    var output: String?

    @Flag(help: "Replace what is there.")
    var force = false

    func validate() throws {
        if let output, output != "-", format == nil, RecordFormat(fileName: output) == nil {
            throw ValidationError("The name of '\(output)' does not tell a format; give --format.")
        }
        if nested, !resolvedFormat.hasTypes { throw ValidationError("--nested goes with JSON and NDJSON.") }
    }

    private var resolvedFormat: RecordFormat { format ?? output.flatMap { RecordFormat(fileName: $0) } ?? .json }

    func run() throws {
        let opened = try OpenStore(reading: store, model: modelOptions)
        let plans = try plans(opened)
        let target = ExportTarget(output, isForSeveral: namesSeveral && resolvedFormat == .csv)
        switch target {
        case .text(let path):
            guard !namesSeveral || resolvedFormat.hasSeveralEntities(withIDs: !noIds) else {
                throw ToolFailure(
                    """
                    \(resolvedFormat.rawValue) takes one entity; choose with --entity: \
                    \(plans.compactMap(\.entity.name).sorted().joined(separator: ", ")); or name a folder with \
                    --output, for a file of each.
                    """)
            }
            if let path { try ExportTarget.check(path, isReplacing: force) }
            noteOmissions(plans)
            let count = try write(plans, of: opened, to: path, isOneOfSeveral: namesSeveral)
            if let path { Terminal.note("\(Grouped.text(count, "record")) written to \(path)") }
        case .folder(let folder): try write(plans, of: opened, into: folder)
        }
    }

    /// Whether the user requested several entities. The number of entities in the store does not matter, so that
    /// programs that read the output find the same format for every store.
    private var namesSeveral: Bool { entity.count != 1 }

    private func plans(_ opened: OpenStore) throws -> [ExportPlan] {
        let entities =
            try entity.isEmpty
            ? EntityOrder.byDependency(opened.entities.filter { !$0.isAbstract })
            : entity.map { try opened.entity(named: $0) }
        let options = ExportPlan.Options(
            unique: try UniqueAttributes(
                options: unique.flatMap { $0.split(separator: ",").map(String.init) }, in: opened.model),
            hasIDs: !noIds, isNested: nested, format: resolvedFormat)
        return try entities.map { try ExportPlan(entity: $0, options: options) }
    }

    private func noteOmissions(_ plans: [ExportPlan]) {
        for omission in plans.flatMap(\.omissions) { Terminal.note("note: left out \(omission)") }
    }

    // MARK: Writing

    private func write(_ plans: [ExportPlan], of opened: OpenStore, into folder: String) throws {
        let paths = plans.map { ExportTarget.path(of: $0.entity.name ?? "", resolvedFormat, in: folder) }
        for path in paths { try ExportTarget.check(path, isReplacing: force) }
        noteOmissions(plans)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var count = 0
        for (plan, path) in zip(plans, paths) {
            count += try write([plan], of: opened, to: path, isOneOfSeveral: false)
        }
        Terminal.note(
            "\(Grouped.text(count, "record")) written to \(Grouped.text(plans.count, "file")) in \(folder)")
    }

    private func write(
        _ plans: [ExportPlan], of opened: OpenStore, to path: String?, isOneOfSeveral: Bool
    ) throws -> Int {
        let file = try TextOutput(path: path)
        do {
            let writer = resolvedFormat.makeWriter(file, isOneOfSeveral: isOneOfSeveral)
            let count = try write(plans, of: opened, writer)
            try file.finish()
            return count
        } catch {
            file.cancel()
            throw error
        }
    }

    private func write(_ plans: [ExportPlan], of opened: OpenStore, _ writer: any RecordWriter) throws -> Int {
        var writer = writer
        var total = 0
        for plan in plans {
            var objects = ObjectStream(opened.makeContext(), entity: plan.entity)
            // Subentities have additional properties, and are exported separately.
            objects.includesSubentities = false
            objects.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            objects.prefetched = plan.prefetched
            var progress = ProgressBar("Exporting \(plan.entity.name ?? "")", unit: "records")
            try writer.begin(plan.entity.name ?? "", columns: plan.columns.map(\.name))
            total += try objects.forEach { object, index, count in
                try writer.write(plan.columns.map { $0.read(object) })
                progress.update(fraction: Double(index) / Double(count), count: index)
            }
            progress.finish()
        }
        try writer.end()
        return total
    }
}

extension RecordFormat {
    /// Returns whether one file can contain records of several entities: in NDJSON, their IDs contain the entity.
    fileprivate func hasSeveralEntities(withIDs: Bool) -> Bool {
        switch self {
        case .json, .xml: true
        case .ndjson: withIDs
        case .csv: false
        }
    }
}
