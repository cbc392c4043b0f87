import ArgumentParser
import CoreData
import Foundation

/// `coredata export`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Writes the objects of entities as records that 'coredata import' reads.",
        discussion: """
            A record has the entity's attributes and, of each related object, what tells it apart: name that with \
            --unique, for export and import alike. Binary values and transformed ones are base64, dates ISO 8601 in \
            UTC. What cannot be written is named on standard error.

            Without --entity all entities are exported; several make one JSON object with an array for each entity, or \
            one XML file with an element for each record. NDJSON and CSV take one entity.

            EXAMPLES
              coredata export Shop.sqlite --entity Item --unique Unit.name --format csv --output items.csv
              coredata export Shop.sqlite --format json
            """)

    @Argument(help: "The store's file.")
    var store: String

    @OptionGroup var modelOptions: ReadingModelOptions

    @Option(
        parsing: .singleValue,
        help: "An entity to export, its subentities not included; all that are not abstract without it.")
    var entity: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An attribute that tells the entity's objects apart. Without it the model's uniqueness constraints.",
            valueName: "Entity.attribute"))
    var unique: [String] = []

    @Option(help: "How to write. Without it the end of the output's name tells, else JSON.")
    var format: RecordFormat?

    @Option(name: .shortAndLong, help: "The file to write; standard output without it.")
    var output: String?

    func validate() throws {
        if let output, output != "-", format == nil, RecordFormat(fileName: output) == nil {
            throw ValidationError("The name of '\(output)' does not tell a format; give --format.")
        }
    }

    func run() throws {
        let opened = try OpenStore(reading: store, model: modelOptions)
        let format = format ?? output.flatMap { RecordFormat(fileName: $0) } ?? .json
        let plans = try plans(opened, format)
        guard plans.count == 1 || format == .json || format == .xml else {
            throw ToolFailure(
                "\(format.rawValue) takes one entity; choose with --entity: "
                    + plans.compactMap(\.entity.name).joined(separator: ", "))
        }
        for omission in plans.flatMap(\.omissions) { Terminal.note("note: left out \(omission)") }
        let file = try TextOutput(path: output)
        do {
            let count = try write(plans, of: opened, format.makeWriter(file, isOneOfSeveral: plans.count > 1))
            try file.finish()
            if let output, output != "-" { Terminal.note("\(Grouped.text(count)) records written to \(output)") }
        } catch {
            file.cancel()
            throw error
        }
    }

    private func plans(_ opened: OpenStore, _ format: RecordFormat) throws -> [ExportPlan] {
        let entities =
            try entity.isEmpty
            ? opened.model.entities.filter { !$0.isAbstract }.sorted { ($0.name ?? "") < ($1.name ?? "") }
            : entity.map { try opened.entity(named: $0) }
        let names = unique.flatMap { $0.split(separator: ",").map(String.init) }
        return try entities.map { entity in
            let unique = try ImportPlan(entity: entity, uniques: names, maps: [], in: opened.model)
            return try ExportPlan(entity: entity, unique: unique, format: format)
        }
    }

    private func write(_ plans: [ExportPlan], of opened: OpenStore, _ writer: any RecordWriter) throws -> Int {
        var writer = writer
        var total = 0
        for plan in plans {
            var objects = ObjectStream(opened.makeContext(), entity: plan.entity)
            // Subentities have properties of their own, and are exported as themselves.
            objects.includesSubentities = false
            objects.sortDescriptors = [NSSortDescriptor(key: "self", ascending: true)]
            objects.prefetched = ObjectPrinter.prefetched(plan.columns.map(\.path))
            var progress = ProgressBar("Exporting \(plan.entity.name ?? "")", unit: "records")
            try writer.begin(plan.entity.name ?? "", columns: plan.columns.map(\.name))
            total += try objects.forEach { object, index, count in
                try writer.write(plan.columns.map { $0.path.cell(of: object, showsMembers: true) })
                progress.update(fraction: Double(index) / Double(count), count: index)
            }
            progress.finish()
        }
        try writer.end()
        return total
    }
}
