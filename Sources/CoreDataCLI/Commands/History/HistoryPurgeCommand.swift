import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata history purge`.
struct HistoryPurgeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "purge",
        abstract: "Deletes the beginning of a store's history.",
        usage: "coredata history purge [<options>] <store>",
        discussion: """
            Without options, what every consumer has read goes; where nobody said that he reads the history, nothing \
            does. With --older-than and --keep more may go, whoever has read it; the consumers whom that cuts off are \
            named, and the exit code is 1.

            EXAMPLES
              coredata history purge Shop.sqlite
              coredata history purge Shop.sqlite --older-than 30
              coredata history purge Shop.sqlite --keep 1000
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(help: ArgumentHelp("Delete what is older than so many days.", valueName: "days"))
    var olderThan: Double?

    @Option(help: ArgumentHelp("Keep at most so many transactions, the newest.", valueName: "count"))
    var keep: Int?

    @Flag(help: "Print what was deleted as JSON.")
    var json = false

    func validate() throws {
        if let olderThan, !(olderThan >= 0) { throw ValidationError("--older-than takes a number of days from 0.") }
        if let keep, keep < 0 { throw ValidationError("--keep takes a number from 0.") }
    }

    func run() throws {
        let opened = try OpenStore(withHistory: store, model: modelOptions)
        let purge = try opened.coordinator.purgeHistory(
            olderThan: olderThan.map { $0 * 86_400 }, keepingAtMost: keep)
        if json {
            print(
                try JSONOutput.text(
                    Listing(
                        deletedTransactions: purge.deletedTransactions,
                        cutOff: purge.cutOff.map(HistoryConsumerListing.init))))
        } else {
            print("Deleted \(Grouped.text(purge.deletedTransactions, "transaction"))")
            for consumer in purge.cutOff {
                print("cut off: \(consumer.name), who had read up to \(consumer.transactionNumber)")
            }
        }
        if !purge.cutOff.isEmpty { throw ExitCode(1) }
    }

    private struct Listing: Encodable {
        var deletedTransactions: Int
        var cutOff: [HistoryConsumerListing]
    }
}
