import CoreDataPrimitives

/// Collects the problems in a file, with the lines to quote.
final class ReadingProblems {
    private(set) var diagnostics: [Diagnostic] = []
    private let sourceLines: [Substring]

    init(sourceLines: [Substring]) { self.sourceLines = sourceLines }

    func report(_ message: String, at place: SourceLocation, hint: String? = nil) {
        let line = sourceLines.indices.contains(place.line - 1) ? String(sourceLines[place.line - 1]) : nil
        diagnostics.append(Diagnostic(.error, message, at: place, sourceLine: line, hint: hint))
    }
}
