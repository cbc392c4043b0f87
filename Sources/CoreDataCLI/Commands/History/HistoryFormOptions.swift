import ArgumentParser
import CoreData

/// How `coredata history` prints transactions.
struct HistoryFormOptions: ParsableArguments {
    @Flag(help: "Print each change: the object, and the properties or the tombstone.")
    var changes = false

    @Flag(help: "Print a JSON object on a line for each transaction.")
    var json = false

    var printer: HistoryPrinter { HistoryPrinter(showsChanges: changes, asJSON: json) }

    /// Right behind the transaction of that number in the only store: error 134301 where what follows was purged.
    static func token(
        after number: Int64, in coordinator: NSPersistentStoreCoordinator
    ) -> NSPersistentHistoryToken? {
        coordinator.persistentStores.first?.identifier.map { NSPersistentHistoryToken([$0: number]) }
    }
}
