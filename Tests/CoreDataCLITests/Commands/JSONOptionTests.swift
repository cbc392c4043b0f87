import ArgumentParser
import Testing

@testable import CoreDataCLI

/// Programs read what a command tells in one way, whatever the command.
@Suite struct JSONOptionTests {
    /// What these print is a document, in a form of its own.
    private static let documents: Set<String> = ["export", "model convert", "model doc", "model graph", "studio"]

    private static func leaves(
        of command: any ParsableCommand.Type, at path: [String] = []
    ) -> [(name: String, type: any ParsableCommand.Type)] {
        let children = command.configuration.subcommands
        guard !children.isEmpty else { return [(path.joined(separator: " "), command)] }
        return children.flatMap { leaves(of: $0, at: path + [$0._commandName]) }
    }

    @Test func everyCommandThatPrintsDataPrintsJSON() {
        let leaves = Self.leaves(of: Tool.self)
        #expect(leaves.count > 30)
        for (name, type) in leaves {
            let hasOption = type.helpMessage(columns: 100).contains("--json")
            #expect(hasOption == !Self.documents.contains(name), "\(name)")
        }
        #expect(Self.documents.subtracting(leaves.map(\.name)) == [])
    }
}
