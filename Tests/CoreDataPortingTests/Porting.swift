import CoreDataPorting
import CoreDataPrimitives
import SwiftParser
import Testing

/// Ports one source.
func port(_ text: String, path: String = "Book.swift") throws -> PortedSource {
    try #require(Porter.port([PortSource(path: path, text: text)]).first)
}

/// Checks what people get of a source, that it is Swift, and that porting it again changes nothing.
///
/// A source that imports nothing gets an import of `CoreData` at its end.
func check(_ before: String, becomes after: String, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
    let end = before.contains("import ") || after.contains("import ") ? "" : "\nimport CoreData"
    let (before, after) = (before + end, after + end)
    let ported = try port(before)
    #expect(ported.written == after, sourceLocation: sourceLocation)
    #expect(ported.isChanged == (before != after), sourceLocation: sourceLocation)
    #expect(!Parser.parse(source: ported.written).hasError, sourceLocation: sourceLocation)
    let again = try port(after)
    #expect(again.written == after, "porting twice changes more", sourceLocation: sourceLocation)
    #expect(again.changes.isEmpty, sourceLocation: sourceLocation)
    checkCompiled(ported, of: before, sourceLocation: sourceLocation)
}

/// Checks that each line of a copy is where the compiler is told it is.
func checkCompiled(_ ported: PortedSource, of before: String, sourceLocation: Testing.SourceLocation) {
    #expect(!Parser.parse(source: ported.compiled).hasError, "\(ported.compiled)", sourceLocation: sourceLocation)
    let original = before.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    var line = 0
    for text in ported.compiled.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
        // What follows has no line in the original.
        if text == "#sourceLocation()" { break }
        if text.hasPrefix("#sourceLocation(") {
            line = (text.split(separator: " ").last.flatMap { Int($0.dropLast()) } ?? 0) - 1
            continue
        }
        // The line's last word has survived at its place, or the line is one that was rewritten.
        if line < original.count, text == original[line] || text.allSatisfy(\.isWhitespace) {
            line += 1
            continue
        }
        let isRewritten =
            ported.changes.contains { $0.location.line <= line + 1 || $0.kind == .movedOverride }
            || text.contains("PropertyKey<")
        #expect(isRewritten, "line \(line + 1): \(text)", sourceLocation: sourceLocation)
        line += 1
    }
}
