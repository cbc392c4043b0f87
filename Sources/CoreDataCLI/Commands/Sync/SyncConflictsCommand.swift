import ArgumentParser
import Foundation

/// `coredata sync conflicts`
struct SyncConflictsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "conflicts",
        abstract: "Lists the values that a device gave up, newest first.",
        usage: "coredata sync conflicts [<options>] <store>",
        discussion: """
            Two devices changed one property, each without knowing the other's value, or one changed an object that the other \
            one deleted. A program restores a value with Sync.restore(_:). Changes nothing, and needs no model.

            EXAMPLES
              coredata sync conflicts Shop.sqlite
              coredata sync conflicts Shop.sqlite --limit 20 --json
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @Option(help: "Print at most so many, the newest.")
    var limit: Int?

    @Flag(help: "Print the list as JSON.")
    var json = false

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1.") }
    }

    func run() throws {
        let conflicts = try ConflictListing.list(SidecarFile.open(beside: store), limit: limit ?? 0)
        if json { return print(try JSONOutput.text(conflicts)) }
        guard !conflicts.isEmpty else { return print("no conflicts") }
        print(ConflictListing.lines(conflicts, width: Terminal.width).joined(separator: "\n"))
    }
}
