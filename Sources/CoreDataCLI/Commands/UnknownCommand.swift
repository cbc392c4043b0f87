import ArgumentParser
import CoreDataToolkit

/// A word in the position of a command that is not the name of one.
///
///     coredata qurey Shop.sqlite      // There is no command 'qurey'. Did you mean 'coredata query'?
///     coredata lint Shop.momd         // There is no command 'lint'. Did you mean 'coredata model lint'?
struct UnknownCommand {
    /// The command names before the word: `store` of `store inof`.
    private let path: [String]
    /// The word as the user typed it.
    private let word: String
    /// The valid command names in this position.
    private let names: [String]

    /// Finds the first word of a command line that should be a command name and is not; `nil` if there is none.
    init?(in arguments: [String]) {
        var path: [String] = []
        var children = Self.children(of: Tool.self)
        for argument in arguments {
            // No command group has an option with a value.
            if argument.hasPrefix("-") { continue }
            guard !children.isEmpty else { return nil }
            // The names after `help` are those of a command.
            if path.isEmpty, argument == "help" { continue }
            guard let child = children.first(where: { $0.name == argument }) else {
                self.path = path
                word = argument
                names = children.map(\.name) + (path.isEmpty ? ["help"] : [])
                return
            }
            path.append(argument)
            children = Self.children(of: child.type)
        }
        return nil
    }

    /// The error message, with suggested commands.
    var message: String {
        let sentence = "There is no command '\((path + [word]).joined(separator: " "))'. "
        let suggestions = suggestions.map { "'coredata \($0.joined(separator: " "))'" }
        guard !suggestions.isEmpty else {
            return sentence + "The commands are: \(names.sorted().joined(separator: ", "))."
        }
        return sentence + "Did you mean \(suggestions.joined(separator: " or "))?"
    }

    /// The suggestions: a command with this name in another group, else the most similar name here, else the most
    /// similar anywhere.
    private var suggestions: [[String]] {
        let leaves = Self.leaves(of: Tool.self, at: [])
        let same = leaves.filter { $0.last == word }
        if !same.isEmpty { return same }
        if let near = Suggestion.nearest(to: word, among: names) { return [path + [near]] }
        guard let near = Suggestion.nearest(to: word, among: leaves.compactMap(\.last)) else { return [] }
        return leaves.filter { $0.last == near }
    }

    private static func children(
        of command: any ParsableCommand.Type
    ) -> [(name: String, type: any ParsableCommand.Type)] {
        command.configuration.subcommands.map { ($0._commandName, $0) }
    }

    /// Returns the commands without subcommands below a command, each with all its names.
    private static func leaves(of command: any ParsableCommand.Type, at path: [String]) -> [[String]] {
        let children = children(of: command)
        return children.isEmpty ? [path] : children.flatMap { leaves(of: $0.type, at: path + [$0.name]) }
    }
}
