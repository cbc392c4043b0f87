import ArgumentParser

/// The command group `coredata history`.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Shows, follows and purges what a store recorded of its changes.",
        subcommands: [
            HistoryListCommand.self, HistoryWatchCommand.self, HistoryPurgeCommand.self, HistoryConsumersCommand.self,
        ])
}
