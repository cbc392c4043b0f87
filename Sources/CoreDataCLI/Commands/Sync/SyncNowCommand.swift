import ArgumentParser
import CoreData
import CoreDataStoreTools
import CoreDataSync
import Foundation

/// `coredata sync now`
struct SyncNowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "now",
        abstract: "Exchanges changes with the other devices once, through a folder.",
        usage: "coredata sync now [<options>] --place <folder> <store>",
        discussion: """
            Sends what was saved since the last exchange, and saves what other devices changed. The first exchange attaches the \
            store: --seeding says what becomes of objects that both have. While a program synchronises the same store, the \
            command fails and names that program.

            EXIT CODES
              0  exchanged
              1  exchanged, but files of other devices cannot be used: see the list
              2  not exchanged: see the message

            EXAMPLES
              coredata store create Shop.sqlite --model Shop.xcdatamodeld --history
              coredata sync now Shop.sqlite --place ~/Sync/Shop --device Kitchen
              coredata sync now Old.sqlite --place ~/Sync/Shop --seeding preferRemote
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @Option(help: ArgumentHelp("The folder through which devices synchronise.", valueName: "folder"))
    var place: String

    @OptionGroup var modelOptions: ModelOptions

    @Option(
        help: ArgumentHelp(
            "The name that other devices show, of a store's first exchange. Without it the host's name.",
            valueName: "name"))
    var device: String?

    @Option(help: "What happens to objects that both have, of a store's first exchange.")
    var seeding = Seeding.merge

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the passphrase. An empty folder is sealed with it.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Flag(help: "Print what was exchanged as JSON.")
    var json = false

    func run() throws {
        try SidecarFile.checkIsFile(store)
        let folder = try PlaceFolder.open(place, passphraseFile: passphraseFile, mustExist: false)
        let container = try makeContainer()
        let sync = try Sync(container, to: folder, device: device ?? Sidecar.hostName)
        let seeding = seeding
        let summary = try WaitedTask.run { try await sync.syncNow(seeding: seeding) }
        let result = ExchangeListing(summary, sync.state)
        print(try json ? JSONOutput.text(result) : result.lines.joined(separator: "\n"))
        if !result.troubles.isEmpty { throw ExitCode(1) }
    }

    /// The store with its history, if it has one. A store without one stays so: turning it on would make the store
    /// read-only for programs that do not ask for it.
    private func makeContainer() throws -> NSPersistentContainer {
        let found = try modelOptions.resolved(for: store)
        let description = NSPersistentStoreDescription(url: StoreFile.url(store))
        description.type = StoreFile.typeOfOneFile(store) ?? NSSQLiteStoreType
        description.configuration = found.configuration
        // A migration is for the program, or for `coredata migrate`.
        description.shouldMigrateStoreAutomatically = false
        if try NSPersistentStoreCoordinator.report(onPersistentStoreAt: StoreFile.url(store)).hasHistory {
            description.setOption(NSNumber(value: true), forKey: NSPersistentHistoryTrackingKey)
        }
        let container = NSPersistentContainer(name: "sync", managedObjectModel: try found.makeModel())
        container.persistentStoreDescriptions = [description]
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        return container
    }
}

extension Seeding: ExpressibleByArgument {}

/// What an exchange did, for people and programs.
private struct ExchangeListing: Encodable {
    var captured: Int
    var sent: Int
    var received: Int
    var applied: Int
    var conflicts: Int
    var unsent: Int
    var waiting: Int
    var troubles: [String]

    init(_ summary: SyncSummary, _ state: SyncState) {
        (captured, sent, received) = (summary.captured, summary.sent, summary.received)
        (applied, conflicts) = (summary.applied, summary.conflicts)
        (unsent, waiting, troubles) = (state.unsent, state.waiting, state.troubles)
    }

    var lines: [String] {
        var lines = [
            "Read \(Grouped.text(captured, "changed object")), sent \(Grouped.text(sent, "file"))",
            "Received \(Grouped.text(received, "file")), applied \(Grouped.text(applied, "object")), found "
                + Grouped.text(conflicts, "conflict"),
        ]
        if waiting > 0 { lines.append("Waiting: \(Grouped.text(waiting, "object")); see coredata sync status") }
        return lines + troubles
    }
}
