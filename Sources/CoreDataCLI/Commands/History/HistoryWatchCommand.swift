import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataSync
import Foundation

/// The command `coredata history watch`.
struct HistoryWatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Prints transactions as they are made, by whatever program.",
        usage: "coredata history watch [<options>] <store>",
        discussion: """
            Waits for the store's file to be written, without asking again and again, until it is interrupted or has \
            printed as many as --count says.

            EXAMPLES
              coredata history watch Shop.sqlite --changes
              coredata history watch Shop.sqlite --after 0 --count 10 --json
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(
        help: ArgumentHelp(
            "Begin behind the transaction of that number. Without it only what is still to come is printed.",
            valueName: "number"))
    var after: Int64?

    @Option(help: "End when so many have been printed.")
    var count: Int?

    @OptionGroup var form: HistoryFormOptions

    func validate() throws {
        if let after, after < 0 { throw ValidationError("--after takes a number from 0.") }
        if let count, count < 1 { throw ValidationError("--count takes a number from 1.") }
    }

    func run() throws {
        let opened = try OpenStore(withHistory: store, model: modelOptions)
        let sequence = opened.makeContext().history(after: try start(in: opened.coordinator))
        let printer = form.printer
        let count = count
        try WaitedTask.run {
            var printed = 0
            for try await transaction in sequence {
                let output = try TextOutput()
                try output.write(printer.text(transaction))
                try output.finish()
                printed += 1
                if printed == count { break }
            }
        }
    }

    private func start(in coordinator: NSPersistentStoreCoordinator) throws -> NSPersistentHistoryToken? {
        guard let after else { return coordinator.currentPersistentHistoryToken(fromStores: nil) }
        return HistoryFormOptions.token(after: after, in: coordinator)
    }
}
