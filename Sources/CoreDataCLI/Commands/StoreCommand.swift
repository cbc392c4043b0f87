import ArgumentParser

/// `coredata store …`
struct StoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Describes, makes, checks and recovers stores.",
        subcommands: [
            StoreInfoCommand.self, StoreCreateCommand.self, StoreVerifyCommand.self, StoreRecoverCommand.self,
        ])
}
