import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata migrate rollback`.
struct MigrateRollbackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Puts back the copy that migrate run kept.",
        usage: "coredata migrate rollback [<options>] <store>",
        discussion: """
            The store is as it was when migrate run began, its history too. What was saved since is lost, and the history of \
            that. A copy whose UUID is not the store's is left where it is.

            EXAMPLES
              coredata migrate rollback Library.sqlite
            """)

    @Argument(help: "The store's file, or its postgresql:// URL.", completion: .file())
    var store: String

    @Flag(help: "Print what was done as JSON.")
    var json = false

    func run() throws {
        try StoreFile.checkReaches(store)
        let url = StoreFile.url(store)
        let copy = MigrationCopy(store: url, url: try MigrationInput.backup(of: store))
        for place in [url, copy.url] { StoreTools.removeLeavings(of: place) }
        guard try StoreTools.isTaken(copy.url) else {
            throw ToolFailure(
                "There is no copy at \(StoreFile.shown(copy.url)): migrate run keeps one of the store that it migrates."
            )
        }
        try checkIsCopy(copy)
        try StoreTools.copy(copy.url, to: url)
        // An interrupted run leaves a note in the copy's metadata.
        if MigrationCopy.metadata(url)?[MigrationCopy.targetKey] != nil {
            try MigrationCopy.change(url) { $0[MigrationCopy.targetKey] = nil }
        }
        try? copy.remove()
        if json {
            let copied = StoreFile.shown(copy.url)
            return print(try JSONOutput.text(["store": StoreFile.shown(store), "restoredFrom": copied]))
        }
        print("\(StoreFile.shown(store)) is as it was before the migration; what was saved since is gone")
    }

    /// - Throws: ``ToolFailure`` if both are valid stores with different identities. A missing or damaged store is
    ///   replaced by the copy.
    private func checkIsCopy(_ copy: MigrationCopy) throws {
        guard let own = MigrationCopy.metadata(copy.store)?[NSStoreUUIDKey] as? String,
            let copied = MigrationCopy.metadata(copy.url)?[NSStoreUUIDKey] as? String, own != copied
        else { return }
        throw ToolFailure(
            "\(StoreFile.shown(copy.url)) is a copy of another store: its UUID is \(copied), that of \(StoreFile.shown(store)) is \(own). Nothing was put back."
        )
    }
}
