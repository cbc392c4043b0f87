import Foundation
import TestSupport
import Testing

/// What a user without the documentation reads.
@Suite struct HelpTests {
    static let commands = [
        "", "store", "store info", "store create", "store copy", "store verify", "store recover", "store diff", "query",
        "import",
        "export", "generate-data", "port", "studio",
        "history", "history list", "history watch", "history purge", "history consumers", "sync", "sync status",
        "sync devices", "sync conflicts", "sync verify", "sync now", "sync simulate", "migrate", "migrate plan",
        "migrate run", "migrate rollback", "migrate check", "mapping", "mapping show",
        "mapping infer", "mapping compile", "model",
        "model compile", "model convert", "model decompile", "model diff", "model doc", "model fmt", "model generate",
        "model graph", "model hash", "model lint", "model new", "model add-version",
    ]

    @Test func aNewStoreHasNoModelOfItsOwn() throws {
        let text = try help("store create", columns: 200).joined(separator: "\n")
        #expect(text.contains("of which the copy of its model is taken"))
        #expect(!text.contains("Without it the model that the store keeps a copy of"))
        #expect(!text.contains("fits the store"))
    }

    private func help(_ command: String, columns: Int) throws -> [String] {
        let run = try CommandRun.run(
            CommandRun.executable(), command.split(separator: " ").map(String.init) + ["--help"],
            environment: ["COLUMNS": "\(columns)"])
        #expect(run.status == 0)
        return run.output.components(separatedBy: "\n")
    }

    /// No line is longer than the terminal, no example is broken where a shell would not go on, and no paragraph has
    /// lines that end early.
    @Test(arguments: Trials.some(of: commands))
    func helpWrapsWell(command: String) throws {
        let lines = try help(command, columns: 80)
        for line in lines { #expect(line.count <= 80, "\(command): \(line)") }
        let end = try #require(lines.firstIndex { $0.hasPrefix("USAGE:") })
        var isExamples = false
        for (line, next) in zip(lines[..<end], lines[..<end].dropFirst()) {
            if ["EXAMPLES", "EXIT CODES"].contains(line) { isExamples = true }
            guard !line.isEmpty, !next.isEmpty else { continue }
            if isExamples {
                #expect(next.hasPrefix("  "), "\(command): \(next)")
                if next.hasPrefix("    ") {
                    #expect(line.hasSuffix("\\") || line.hasSuffix("|"), "\(command): \(next)")
                }
            } else {
                let word = next.prefix { $0 != " " }
                // A line has at most 79 letters.
                #expect(line.count + 1 + word.count >= 80, "\(command): \(line)")
            }
        }
    }

    /// The commands that are tested are all that there are.
    @Test func everyCommandIsListed() throws {
        for group in ["", "store", "model", "history", "sync", "migrate", "mapping"] {
            let lines = try help(group, columns: 80)
            let start = try #require(lines.firstIndex(of: "SUBCOMMANDS:"))
            let names = lines[(start + 1)...].prefix { !$0.isEmpty }
                .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }.compactMap { $0.split(separator: " ").first }
            let known = Self.commands.filter { command in
                let parts = command.split(separator: " ")
                return group.isEmpty ? parts.count == 1 : parts.count == 2 && parts[0] == group
            }
            #expect(
                Set(names.map(String.init)) == Set(known.compactMap { $0.split(separator: " ").last.map(String.init) }))
        }
    }
}
