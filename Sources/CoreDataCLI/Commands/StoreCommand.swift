import ArgumentParser

/// The command group `coredata store`.
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Describes, makes, copies, compares, checks and recovers stores.",
        subcommands: [
            StoreInfoCommand.self, StoreCreateCommand.self, StoreCopyCommand.self, StoreVerifyCommand.self,
            StoreRecoverCommand.self, StoreDiffCommand.self,
        ])
}
