import ArgumentParser
import CoreDataSync
import Foundation

/// `coredata sync status`
struct SyncStatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Says how far a store is synchronised; needs no model.",
        usage: "coredata sync status [<options>] <store>",
        discussion: """
            Reads the file beside the store, <store>-sync, and the store's history. Neither is changed, and the place is not \
            needed.

            EXAMPLES
              coredata sync status Shop.sqlite
              coredata sync status Shop.sqlite --json | jq .unsent
            """)

    @Argument(help: "The store's file.", completion: .file())
    var store: String

    @Flag(help: "Print it as JSON.")
    var json = false

    func run() throws {
        let sidecar = try SidecarFile.open(beside: store)
        let report = try SyncStatusReport(of: store, sidecar, now: SyncTime.milliseconds(Date()))
        if json { return print(try JSONOutput.text(report)) }
        print(report.lines(width: Terminal.width).joined(separator: "\n"))
    }
}
