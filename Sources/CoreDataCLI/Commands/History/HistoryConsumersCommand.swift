import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The command `coredata history consumers`.
struct HistoryConsumersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumers",
        abstract: "Lists who reads a store's history, and how far each one is.",
        usage: "coredata history consumers [<options>] <store>",
        discussion: """
            A consumer is a name under which a program notes what it has read; the rest is kept for it.

            EXAMPLES
              coredata history consumers Shop.sqlite
              coredata history consumers Shop.sqlite --remove 'search index'
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(help: ArgumentHelp("Forget this one: nothing is kept for it any more.", valueName: "name"))
    var remove: String?

    @Flag(help: "Print the list as JSON.")
    var json = false

    func validate() throws {
        if json, remove != nil { throw ValidationError("--json goes with the list, not with --remove.") }
    }

    func run() throws {
        let opened = try OpenStore(withHistory: store, model: modelOptions)
        if let remove {
            guard try opened.coordinator.removeHistoryConsumer(remove) else {
                let names = try opened.coordinator.historyConsumers().map(\.name)
                throw ToolFailure("There is no consumer '\(remove)'\(Suggestion.text(for: remove, among: names))")
            }
            print("Removed \(remove)")
            return
        }
        let consumers = try opened.coordinator.historyConsumers()
        if json { return print(try JSONOutput.text(consumers.map(HistoryConsumerListing.init))) }
        guard !consumers.isEmpty else { return print("no consumers") }
        var table = TextTable([
            .init(title: "consumer"), .init(title: "read up to", isRightAligned: true), .init(title: "on"),
        ])
        table.rows = consumers.map {
            [$0.name, String($0.transactionNumber), HistoryPrinter.text($0.lastRead)]
        }
        print(table.lines(width: Terminal.width).joined(separator: "\n"))
    }
}

/// A consumer in the JSON output.
struct HistoryConsumerListing: Encodable {
    var name: String
    /// The number of the last transaction that the consumer has read.
    var transactionNumber: Int64
    var lastRead: String

    init(_ consumer: HistoryConsumer) {
        name = consumer.name
        transactionNumber = consumer.transactionNumber
        lastRead = HistoryPrinter.text(consumer.lastRead)
    }
}
