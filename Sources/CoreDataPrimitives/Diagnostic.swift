/// A place in a text or file, as a person counts: lines and columns from 1.
package struct SourceLocation: Hashable, Codable, Sendable {
    /// The path as the user gave it; `nil` for text that is in no file, such as a predicate's format.
    package var file: String?
    package var line: Int
    package var column: Int

    package init(file: String? = nil, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// One problem with a model, a predicate or a file, told so that its author can mend it.
package struct Diagnostic: Hashable, Sendable {
    package enum Severity: String, Sendable {
        case error
        case warning
        /// Worth knowing, nothing to mend.
        case note
    }

    package var severity: Severity
    package var message: String
    /// The identifier of the rule that the problem breaks, where it has one: `missing-inverse`.
    package var rule: String?
    /// What the problem is in, as ``Diagnostic/message`` names it: `Book` or `Book.author`.
    package var subject: String?
    package var location: SourceLocation?
    /// The text of the line that `location` points into.
    package var sourceLine: String?
    /// What to do about it.
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
    /// The problem as a sentence inside of an error's: without the word "error", which whoever prints the error adds.
    ///
    ///     keypath pags not found in entity Book; did you mean 'pages'?
    ///
    /// One with a place in a text or file keeps the form of compilers.
    package var sentence: String {
        if location != nil { return rendered }
        return hint.map { "\(message); \($0)" } ?? message
    }
}

extension [Diagnostic] {
    package var hasErrors: Bool { contains { $0.severity == .error } }

    package var rendered: String { map(\.rendered).joined(separator: "\n") }
}
