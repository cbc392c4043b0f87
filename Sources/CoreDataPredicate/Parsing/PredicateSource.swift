import CoreDataPrimitives

/// A format string and its positions.
struct PredicateSource {
    let text: String
    let scalars: [Unicode.Scalar]

    init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
    }

    /// Returns an error at `position`, with the line and a caret.
    func failure(_ message: String, at position: Int, hint: String? = nil) -> PredicateFailure {
        let position = min(position, scalars.count)
        var lineStart = 0
        var line = 1
        for index in 0..<position where scalars[index] == "\n" {
            lineStart = index + 1
            line += 1
        }
        let lineEnd = scalars[lineStart...].firstIndex(of: "\n") ?? scalars.count
        let location = SourceLocation(line: line, column: string(lineStart..<position).count + 1)
        let diagnostic = Diagnostic(
            .error, message, at: location, sourceLine: string(lineStart..<lineEnd), hint: hint)
        return PredicateFailure(.syntax, diagnostic, subexpression: text)
    }

    func string(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }
}
