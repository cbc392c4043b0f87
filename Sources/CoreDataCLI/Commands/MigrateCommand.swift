import ArgumentParser

/// The command group `coredata migrate`.
struct MigrateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings stores to another version of their model.",
        discussion: """
            A lightweight migration: what becomes of entities and properties is told by their names and renaming \
            identifiers. It runs inside the store's file, in one transaction: a store is migrated whole or not at all.

            EXAMPLES
              coredata migrate plan Library.sqlite --model Library.xcdatamodeld
              coredata migrate run Library.sqlite --model Library.xcdatamodeld
              coredata migrate rollback Library.sqlite
              coredata migrate check Library.xcdatamodeld
            """,
        subcommands: [
            MigratePlanCommand.self, MigrateRunCommand.self, MigrateRollbackCommand.self, MigrateCheckCommand.self,
        ])
}
