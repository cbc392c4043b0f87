import ArgumentParser
import CoreData
import Foundation

/// `coredata migrate plan`
struct MigratePlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Tells what a migration would do, and changes nothing.",
        usage: "coredata migrate plan [<options>] <store> --model <model>",
        discussion: """
            EXAMPLES
              coredata migrate plan Library.sqlite --model Library.xcdatamodeld
              coredata migrate plan Library.sqlite --model Library.xcdatamodeld \\
                --to 'Library 3' --sql
            """)

    @OptionGroup var input: MigrationInput

    @Flag(help: "Print the statements too; question marks stand for values.")
    var sql = false

    @Flag(help: "Print the plan as JSON.")
    var json = false

    func run() throws {
        let plan = try input.migration().plan(of: input.url)
        if json {
            return print(
                try JSONOutput.text(
                    Listing(
                        isNeeded: plan != nil, entities: plan?.entities ?? [],
                        steps: (plan?.steps ?? []).map { .init(words: $0.words, statements: $0.statements) })))
        }
        guard let plan else { return print("\(input.store) is of that model already") }
        for line in plan.entities { print(line) }
        if !plan.entities.isEmpty { print() }
        for (number, step) in plan.steps.enumerated() {
            print("\(number + 1). \(step.words)")
            if sql { for statement in step.statements { print("      \(statement)") } }
        }
    }

    private struct Listing: Encodable {
        struct Step: Encodable {
            var words: String
            var statements: [String]
        }

        var isNeeded: Bool
        var entities: [String]
        var steps: [Step]
    }
}
