import CoreDataModel
import Foundation

/// What stops a command: one message for people, printed to standard error; the tool then exits with 2.
struct ToolFailure: Error, CustomStringConvertible {
    var message: String

    init(_ message: String) { self.message = message }

    var description: String { message }
}

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
        if let failure = error as? ToolFailure { return failure.message }
        if let failure = error as? ModelFailure { return failure.diagnostics.map(\.rendered).joined(separator: "\n") }
        if let failure = error as? RecordFailure { return failure.description }
        let error = error as NSError
        let details = error.userInfo["NSDetailedErrors"] as? [any Error] ?? []
        guard details.isEmpty else { return details.map(describe).joined(separator: "\n") }
        let message = error.userInfo[NSLocalizedDescriptionKey] as? String ?? error.localizedDescription
        return error.domain == NSCocoaErrorDomain ? "\(message) (error \(error.code))" : message
    }
}

/// Names that a user may have meant.
enum Suggestion {
    /// The end of a sentence: a name that is near, else a list of all of them.
    ///
    ///     Suggestion.text(for: "quantiy", among: ["name", "quantity"])     // "; did you mean 'quantity'?"
    ///     Suggestion.text(for: "colour", among: ["name", "quantity"])      // "; there are: name, quantity."
    static func text(for name: String, among names: [String]) -> String {
        let nearest = names.map { (name: $0, distance: distance(name.lowercased(), $0.lowercased())) }
            .min { $0.distance < $1.distance }
        if let nearest, nearest.distance <= max(1, name.count / 3) { return "; did you mean '\(nearest.name)'?" }
        return names.isEmpty ? "; there are none." : "; there are: \(names.sorted().joined(separator: ", "))."
    }

    /// How many letters to insert, delete or replace to make one of the other (Levenshtein).
    private static func distance(_ a: String, _ b: String) -> Int {
        let b = Array(b)
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let substituted = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substituted, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
