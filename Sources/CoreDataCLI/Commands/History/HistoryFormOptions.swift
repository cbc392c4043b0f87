import ArgumentParser
import CoreData

/// The options for printing transactions in `coredata history`.
struct HistoryFormOptions: ParsableArguments {
    @Flag(help: "Print each change: the object, and the properties or the tombstone.")
    var changes = false

    @Flag(help: "Print a JSON object on a line for each transaction.")
    var json = false

    var printer: HistoryPrinter { HistoryPrinter(showsChanges: changes, asJSON: json) }

    /// Returns the token directly after the transaction with the number in the only store; error 134301 if the
    /// following ones were purged.
    static func token(
        after number: Int64, in coordinator: NSPersistentStoreCoordinator
    ) -> NSPersistentHistoryToken? {
        coordinator.persistentStores.first?.identifier.map { NSPersistentHistoryToken([$0: number]) }
    }
}
