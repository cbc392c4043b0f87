import ArgumentParser
import CoreData
import CoreDataStoreTools
import Foundation

/// The command `coredata migrate plan`.
struct MigratePlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Tells what a migration would do, and changes nothing.",
        usage: "coredata migrate plan [<options>] <store> --model <model>",
        discussion: """
            With --sql the plan of a store on a server is a script that psql runs there, in one transaction, with the role that owns the \
            tables. It refuses a store whose version or metadata have changed since.

            EXAMPLES
              coredata migrate plan Library.sqlite --model Library.xcdatamodeld
              coredata migrate plan Library.sqlite --model Library.xcdatamodeld \\
                --to 'Library 3' --sql
              coredata migrate plan Library.sqlite --model Library.xcdatamodeld \\
                --progressive --mapping Library1to2.cdm

              # on a server: read the script, then run it
              coredata migrate plan 'postgresql://db.example.com/shop' \\
                --model Shop.xcdatamodeld --sql > migration.sql
              psql -v ON_ERROR_STOP=1 -f migration.sql 'postgresql://owner@db/shop'
            """)

    @OptionGroup var input: MigrationInput

    @Flag(help: "Print the statements too, ? standing for a value; of a store on a server, a script that psql runs.")
    var sql = false

    @Flag(help: "Print the plan as JSON.")
    var json = false

    func validate() throws {
        if sql, input.progressive {
            throw ValidationError("--sql is not for --progressive: statements follow from what a step finds.")
        }
    }

    func run() throws {
        if let migration = try input.progressiveMigration() { return try show(migration.plan(of: input.url)) }
        let migration = try input.migration()
        let plan = try migration.plan(of: input.url)
        let losses = MigrationLosses(
            plan?.losses ?? [], ofStoreAt: input.url, migration.sourceModel(ofStoreAt: input.url),
            configuration: input.configuration
        ).entries
        if json {
            return print(
                try JSONOutput.text(
                    Listing(
                        isNeeded: plan != nil, entities: plan?.entities ?? [], losses: losses,
                        steps: (plan?.steps ?? []).map { .init(words: $0.words, statements: $0.statements) })))
        }
        guard let plan else { return print("\(StoreFile.shown(input.store)) is of that model already") }
        if sql, StoreFile.isOnServer(input.store), let script = try migration.script(of: input.url) {
            let notes = plan.entities + losses.map { "drops \($0.line)" }
            for note in notes { print("-- \(note.split(whereSeparator: \.isNewline).joined(separator: " "))") }
            return print("\n" + script, terminator: "")
        }
        for line in plan.entities { print(line) }
        for entry in losses { print("drops \(entry.line)") }
        if !plan.entities.isEmpty { print() }
        for (number, step) in plan.steps.enumerated() {
            print("\(number + 1). \(step.words)")
            if sql { for statement in step.statements { print("      \(statement)") } }
        }
    }

    private func show(_ steps: [ProgressiveMigration.Step]?) throws {
        if json {
            return print(
                try JSONOutput.text(
                    (steps ?? []).map {
                        PlanStep(
                            from: $0.from, to: $0.to, mapping: $0.mapping, entities: $0.entities,
                            losses: $0.losses.map(\.name))
                    }))
        }
        guard let steps else { return print("\(StoreFile.shown(input.store)) is of that model already") }
        for (number, step) in steps.enumerated() {
            print("\(number + 1). \(step.from) → \(step.to): \(step.mapping.map { "by \($0)" } ?? "inferred")")
            for line in step.entities { print("   \(line)") }
            for loss in step.losses { print("   drops \(loss.text)") }
        }
    }

    private struct PlanStep: Encodable {
        var from: String
        var to: String
        var mapping: String?
        var entities: [String]
        /// The losses, with the names in the store's version.
        var losses: [String]
    }

    private struct Listing: Encodable {
        struct Step: Encodable {
            var words: String
            var statements: [String]
        }

        var isNeeded: Bool
        var entities: [String]
        var losses: [MigrationLosses.Entry]
        var steps: [Step]
    }
}
