import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata history list`.
struct HistoryListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the transactions of a store's history, oldest first.",
        usage: "coredata history list [<options>] <store>",
        discussion: """
            A transaction is one save: its number, when it was made, by whom, and what it inserted, updated and \
            deleted. Opens the store for reading only, and leaves nothing beside it. What follows a number can only be \
            listed as long as nothing of it was purged.

            A predicate may ask for author, contextName, bundleID, processID, timestamp, transactionNumber and changes.

            EXAMPLES
              coredata history list Shop.sqlite
              coredata history list Shop.sqlite --after 120 --changes
              coredata history list Shop.sqlite --where 'author == "import"' --json
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @OptionGroup var modelOptions: ReadingModelOptions

    @Option(help: ArgumentHelp("Only transactions with greater numbers.", valueName: "number"))
    var after: Int64?

    @Option(
        name: .customLong("where"), help: ArgumentHelp("Only transactions that this selects.", valueName: "predicate"))
    var predicate: String?

    @Option(help: "Print at most so many, the newest.")
    var limit: Int?

    @OptionGroup var form: HistoryFormOptions

    func validate() throws {
        if let after, after < 0 { throw ValidationError("--after takes a number from 0.") }
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    }

    func run() throws {
        let opened = try OpenStore(reading: store, model: modelOptions)
        let request = NSPersistentHistoryChangeRequest.fetchHistory(
            after: after.flatMap { HistoryFormOptions.token(after: $0, in: opened.coordinator) })
        if let predicate, let selection = NSPersistentHistoryTransaction.fetchRequest {
            selection.predicate = try NSPredicate(validating: predicate)
            request.fetchRequest = selection
        }
        let context = opened.makeContext()
        let found = try context.performAndWait {
            (try context.execute(request) as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction]
        }
        let transactions = found.map { limit.map($0.suffix) ?? $0[...] } ?? []
        let output = try TextOutput()
        let printer = form.printer
        for transaction in transactions { try output.write(printer.text(transaction)) }
        if !form.json { try output.write(Grouped.text(transactions.count, "transaction") + "\n") }
        try output.finish()
    }
}
