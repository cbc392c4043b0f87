import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata store diff`.
struct StoreDiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compares the objects of two stores of one model.",
        usage: "coredata store diff [<options>] <first> <second>",
        discussion: """
            Prints the number of objects of each entity in both stores, then each object that only one of them has, and \
            each that has other values or relationships. Opens both for reading only, and leaves nothing beside them.

            The attributes that --unique names, else the uniqueness constraints of the model, tell which objects of both are \
            the same; where there are none, their keys do. Derived and transient attributes are not compared.

            EXAMPLES
              coredata store diff Before.sqlite After.sqlite
              coredata store diff Here.sqlite There.sqlite --unique Item.name,Unit.name
              coredata store diff Shop.sqlite Shop.xml --model Shop.xcdatamodeld --json

            EXIT CODES
              0  the stores have the same objects
              1  they do not: see the list
              2  not compared: see the message
            """)

    @Argument(help: "A store's file, or its postgresql:// URL.", completion: .file())
    var first: String

    @Argument(help: "The store that it is compared with.", completion: .file())
    var second: String

    @OptionGroup var modelOptions: ReadingModelOptions

    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "An attribute that tells the entity's objects apart; several of one entity do so together.",
            valueName: "Entity.attribute"))
    var unique: [String] = []

    @Option(parsing: .unconditional, help: "List at most so many objects; all are counted.")
    var limit = 100

    @Flag(help: "Print it as JSON.")
    var json = false

    func validate() throws {
        if limit < 0 { throw ValidationError("--limit takes a number from 0.") }
    }

    func run() throws {
        for store in [first, second] { try StoreFile.checkExists(store) }
        let hashes = (try StoreFile.versionHashes(first), try StoreFile.versionHashes(second))
        if let one = hashes.0, let other = hashes.1, one != other {
            throw ToolFailure(
                """
                \(StoreFile.shown(first)) and \(StoreFile.shown(second)) were made with different models.
                hint: coredata model diff tells what differs in the models; coredata migrate run migrates a store
                """)
        }
        let stores = try (
            OpenStore(reading: first, model: modelOptions), OpenStore(reading: second, model: modelOptions)
        )
        let uniques = try UniqueAttributes(
            options: unique.flatMap { $0.split(separator: ",").map(String.init) }, in: stores.0.model)
        let difference = try StoreDifference(stores.0, stores.1, uniques: uniques, limit: limit)
        if json {
            print(
                try JSONOutput.text(
                    Report(
                        isEqual: difference.isEmpty, entities: difference.entities, objects: difference.objects,
                        unlisted: difference.unlistedCount)))
        } else {
            for line in lines(of: difference) { print(line) }
        }
        if !difference.isEmpty { throw ExitCode(1) }
    }

    private struct Report: Encodable {
        var isEqual: Bool
        var entities: [StoreDifference.Counts]
        var objects: [StoreDifference.Object]
        var unlisted: Int
    }

    private func lines(of difference: StoreDifference) -> [String] {
        let names = ["first", "second", "only in first", "only in second", "changed"]
        var table = TextTable([.init(title: "entity")] + names.map { .init(title: $0, isRightAligned: true) })
        table.rows = difference.entities.map { counts in
            [counts.entity]
                + [counts.first, counts.second, counts.onlyInFirst, counts.onlyInSecond, counts.changed]
                .map(Grouped.text)
        }
        var lines = table.lines(width: Terminal.width)
        if !difference.isEmpty { lines.append("") }
        lines += difference.objects.map { object in
            switch object.difference {
            case .onlyInFirst: "only in first: \(object.object)"
            case .onlyInSecond: "only in second: \(object.object)"
            case .changed: "changed: \(object.object): \(object.properties.joined(separator: ", "))"
            }
        }
        if difference.unlistedCount > 0 {
            lines.append("and \(Grouped.text(difference.unlistedCount, "other object")); --limit lists more")
        }
        return lines + ["", difference.isEmpty ? "The stores have the same objects" : "The stores differ"]
    }
}
