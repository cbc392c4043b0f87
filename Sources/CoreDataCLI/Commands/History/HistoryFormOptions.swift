import ArgumentParser

/// How `coredata history` prints transactions.
struct HistoryFormOptions: ParsableArguments {
    @Flag(help: "Print each change: the object, and the properties or the tombstone.")
    var changes = false

    @Flag(help: "Print a JSON object on a line for each transaction.")
    var json = false

    var printer: HistoryPrinter { HistoryPrinter(showsChanges: changes, asJSON: json) }
}
