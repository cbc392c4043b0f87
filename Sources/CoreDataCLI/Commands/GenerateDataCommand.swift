import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata generate-data`.
struct GenerateDataCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate-data",
        abstract: "Fills a store with believable objects of any model.",
        usage: "coredata generate-data [<options>] <store>",
        discussion: """
            Makes names, numbers, dates, small pictures and relationships that fit the names of the attributes and keep to \
            the model: uniqueness constraints, counts of relationships, simple bounds of validation. The same seed makes \
            the same data. A store that is not there is made, with the model of --model.

            EXAMPLES
              coredata generate-data Shop.sqlite --model Shop.xcdatamodeld \\
                --count Item=1000 --count Unit=20 --seed 7
              coredata generate-data Shop.sqlite --count Item=100000 \\
                --members Unit.items=0-40
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "How many objects of an entity to make; for every entity that gets some.", valueName: "Entity=number"))
    var count: [String] = []

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp("How many members a to-many relationship has.", valueName: "Entity.relationship=from-to"))
    var members: [String] = []

    @Option(help: "What everything follows from, a whole number.")
    var seed: UInt64 = 1

    @Option(parsing: .unconditional, help: "How many objects to save at once.")
    var batchSize = 500

    @Flag(help: "Print the summary as JSON.")
    var json = false

    func validate() throws {
        if batchSize < 1 { throw ValidationError("--batch-size takes a number from 1.") }
        if count.isEmpty { throw ValidationError("Say how many objects to make, e.g. --count Item=1000.") }
        _ = try counts()
        _ = try ranges()
    }

    private func counts() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for option in count {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let number = Int(parts[1]), number >= 0 else {
                throw ValidationError("--count takes Entity=number, e.g. Item=1000, not '\(option)'.")
            }
            counts[parts[0], default: 0] += number
        }
        return counts
    }

    private func ranges() throws -> [String: ClosedRange<Int>] {
        var ranges: [String: ClosedRange<Int>] = [:]
        for option in members {
            let parts = option.split(separator: "=", maxSplits: 1).map(String.init)
            let ends = parts.last?.split(separator: "-").compactMap { Int($0) } ?? []
            guard parts.count == 2, let first = ends.first, let last = ends.last, ends.count <= 2, first <= last else {
                throw ValidationError(
                    "--members takes Entity.relationship=from-to, e.g. Unit.items=0-40, not '\(option)'.")
            }
            ranges[parts[0]] = first...last
        }
        return ranges
    }

    func run() throws {
        let opened: OpenStore
        try StoreFile.checkReaches(store)
        if try StoreTools.isTaken(StoreFile.url(store)) {
            opened = try OpenStore(changing: store, model: modelOptions)
        } else {
            guard let path = modelOptions.model else {
                throw ToolFailure(
                    "There is no store at \(StoreFile.shown(store)); to make one, give its model with --model.")
            }
            let document = try ModelOptions.versions(path).document(named: modelOptions.modelVersion, at: path)
            opened = try OpenStore(creating: store, model: try StoreModel(document: document).makeModel())
        }
        var generator = TestDataGenerator(opened.coordinator, seed: seed)
        generator.batchSize = batchSize
        generator.relationshipCounts = try ranges()
        var bar = ProgressBar("Making", unit: "objects")
        defer { bar.finish() }
        let start = ContinuousClock.now
        let summary = try generator.fill(opened.makeContext(), try counts()) { fraction, count in
            bar.update(fraction: fraction, count: count)
        }
        bar.finish()
        let duration = ContinuousClock.now - start
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) * 1e-18
        print(json ? Self.json(summary, seconds) : Self.text(summary, seconds), terminator: "")
    }

    private static func text(_ summary: TestDataGenerator.Summary, _ seconds: Double) -> String {
        var table = TextTable([.init(title: "entity"), .init(title: "made", isRightAligned: true)])
        table.rows = summary.objects.sorted { $0.key < $1.key }.map { [$0.key, Grouped.text($0.value)] }
        let count = Grouped.text(summary.objects.values.reduce(0, +), "object")
        return "\(count) made, \(Grouped.text(summary.links)) times linked, in \(String(format: "%.2f", seconds)) s\n"
            + table.lines().joined(separator: "\n") + "\n"
    }

    private static func json(_ summary: TestDataGenerator.Summary, _ seconds: Double) -> String {
        let objects = summary.objects.sorted { $0.key < $1.key }
            .map { "\(JSONText.quoted($0.key)): \($0.value)" }.joined(separator: ", ")
        return
            #"{"objects": {\#(objects)}, "links": \#(summary.links), "seconds": \#(String(format: "%.3f", seconds))}"#
            + "\n"
    }
}
