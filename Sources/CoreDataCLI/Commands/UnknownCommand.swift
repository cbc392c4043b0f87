import ArgumentParser
import CoreDataToolkit

/// A word that stands where a command belongs and names none.
///
///     coredata qurey Shop.sqlite      // There is no command 'qurey'. Did you mean 'coredata query'?
///     coredata lint Shop.momd         // There is no command 'lint'. Did you mean 'coredata model lint'?
struct UnknownCommand {
    /// The names before the word, which are commands: `store` of `store inof`.
    private let path: [String]
    /// The word as it was typed.
    private let word: String
    /// The names that the word may have been, of commands at this place.
    private let names: [String]

    /// The first word of a command line that should name a command and does not; `nil` where every such word does.
    init?(in arguments: [String]) {
        var path: [String] = []
        var children = Self.children(of: Tool.self)
        for argument in arguments {
            // No group of commands has an option that takes a value.
            if argument.hasPrefix("-") { continue }
            guard !children.isEmpty else { return nil }
            // The names behind it are those of a command.
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

    /// What to say of it, with the commands that may have been meant.
    var message: String {
        let sentence = "There is no command '\((path + [word]).joined(separator: " "))'. "
        let suggestions = suggestions.map { "'coredata \($0.joined(separator: " "))'" }
        guard !suggestions.isEmpty else {
            return sentence + "The commands are: \(names.sorted().joined(separator: ", "))."
        }
        return sentence + "Did you mean \(suggestions.joined(separator: " or "))?"
    }

    /// A command of another group that has this very name, else the nearest name here, else the nearest anywhere.
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

    /// The commands below that have no commands below them, each by all its names.
    private static func leaves(of command: any ParsableCommand.Type, at path: [String]) -> [[String]] {
        let children = children(of: command)
        return children.isEmpty ? [path] : children.flatMap { leaves(of: $0.type, at: path + [$0.name]) }
    }
}
