/// A position in a text or file; lines and columns count from 1.
package struct SourceLocation: Hashable, Codable, Sendable {
    /// The path as the user gave it; `nil` for text that is not in a file, such as a predicate's format.
    package var file: String?
    package var line: Int
    package var column: Int

    package init(file: String? = nil, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// A problem with a model, a predicate or a file, described so that its author can correct it.
package struct Diagnostic: Hashable, Sendable {
    package enum Severity: String, Sendable {
        case error
        case warning
        /// Useful information; no correction is necessary.
        case note
    }

    package var severity: Severity
    package var message: String
    /// The identifier of the rule that the problem breaks, if it has one: `missing-inverse`.
    package var rule: String?
    /// The item that has the problem, as ``Diagnostic/message`` names it: `Book` or `Book.author`.
    package var subject: String?
    package var location: SourceLocation?
    /// The text of the line that `location` points into.
    package var sourceLine: String?
    /// How to correct the problem.
    package var hint: String?

    package init(
        _ severity: Severity = .error, _ message: String, at location: SourceLocation? = nil,
        sourceLine: String? = nil, hint: String? = nil, rule: String? = nil, subject: String? = nil
    ) {
        self.severity = severity
        self.message = message
        self.rule = rule
        self.subject = subject
        self.location = location
        self.sourceLine = sourceLine
        self.hint = hint
    }

    /// The problem as compilers print it, with a caret under the column.
    ///
    ///     Model.xcdatamodel/contents:4:9: error: relationship 'unit' has no destination
    ///         <relationship name="unit" optional="YES"/>
    ///         ^
    ///     hint: set destinationEntity
    package var rendered: String {
        var text = ""
        if let location {
            text += location.file.map { $0 + ":" } ?? ""
            text += "\(location.line):\(location.column): "
        }
        text += "\(severity.rawValue): \(message)"
        if let sourceLine, let location {
            text += "\n    \(sourceLine)\n    "
            text += String(sourceLine.prefix(max(0, location.column - 1)).map { $0 == "\t" ? "\t" : " " })
            text += "^"
        }
        if let hint { text += "\nhint: \(hint)" }
        return text
    }
}

extension Diagnostic {
    /// The problem as a sentence for an error message. The code that prints the error adds the word "error".
    ///
    ///     keypath pags not found in entity Book; did you mean 'pages'?
    ///
    /// A problem with a position in a text or file keeps the format of compilers.
    package var sentence: String {
        if location != nil { return rendered }
        return hint.map { "\(message); \($0)" } ?? message
    }
}

extension [Diagnostic] {
    package var hasErrors: Bool { contains { $0.severity == .error } }

    package var rendered: String { map(\.rendered).joined(separator: "\n") }
}
