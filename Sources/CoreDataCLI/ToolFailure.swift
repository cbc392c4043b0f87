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

    /// What is wrong with the command line, headed as every other error.
    static func usage(_ message: String) -> String {
        message.hasPrefix("Error: ") ? "error: " + message.dropFirst("Error: ".count) : message
    }

    /// The message of the error, and of every error inside it on a line of its own.
    static func describe(_ error: any Error) -> String {
        if let failure = error as? ModelFailure { return failure.diagnostics.map(\.rendered).joined(separator: "\n") }
        return ErrorMessage.text(of: error)
    }
}
