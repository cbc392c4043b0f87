import CoreDataModel
import CoreDataToolkit
import Foundation

/// What stops a command: one message for people, printed to standard error; the tool then exits with 2. What the toolkit throws
/// is told as it is.
typealias ToolFailure = ToolkitError

/// Errors of others as the one message that a user reads.
enum ErrorText {
    /// The message as it is printed: it says once that it is an error.
    static func headed(_ error: any Error) -> String {
        let text = describe(error)
        // `Library.xcdatamodel/contents:3:5: error: …` is told with its place.
        let isHeaded = text.hasPrefix("error: ") || text.prefixMatch(of: #/[^\n]*:\d+(:\d+)?: error: /#) != nil
        return isHeaded ? text : "error: \(text)"
    }

    /// What is wrong with the command line, headed as every other error, with what may have been meant.
    ///
    /// - Parameter arguments: the command line, without the program's name.
    static func usage(_ message: String, of arguments: [String] = []) -> String {
        guard message.hasPrefix("Error: ") else { return message }
        let text = message.dropFirst("Error: ".count)
        let line = text.prefix { $0 != "\n" }
        return "error: " + corrected(line, of: arguments) + text[line.endIndex...]
    }

    /// The parser's sentence, with a suggestion where it makes none.
    private static func corrected(_ line: Substring, of arguments: [String]) -> String {
        let option = line.prefixMatch(of: #/Unknown option '(--[^']+)'/#)?.1
        guard option != nil || line.contains(#/^(Unexpected argument|\d+ unexpected arguments)/#) else {
            return String(line)
        }
        // An option is unknown also where the command is.
        if let unknown = UnknownCommand(in: arguments) { return unknown.message }
        guard let option, !line.contains("Did you mean") else { return String(line) }
        // Those that the parser knows by itself, and that the tool does.
        let names = ["--help"] + (arguments.first.map { $0 == option } ?? false ? ["--version"] : [])
        let near = Suggestion.nearest(to: String(option), among: names)
        return line + (near.map { ". Did you mean '\($0)'?" } ?? "")
    }

    /// The message of the error, and of every error inside it on a line of its own.
    static func describe(_ error: any Error) -> String {
        if let failure = error as? ModelFailure { return failure.diagnostics.map(\.rendered).joined(separator: "\n") }
        return ErrorMessage.text(of: error)
    }
}
