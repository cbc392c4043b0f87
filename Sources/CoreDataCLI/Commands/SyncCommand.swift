import ArgumentParser

/// `coredata sync …`
struct SyncCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sync",
        abstract: "Synchronises a store with other devices, and shows how far it is.",
        subcommands: [
            SyncStatusCommand.self, SyncDevicesCommand.self, SyncConflictsCommand.self, SyncVerifyCommand.self,
            SyncNowCommand.self, SyncSimulateCommand.self,
        ])
}
