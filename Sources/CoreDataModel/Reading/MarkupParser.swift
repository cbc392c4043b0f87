import CoreDataPrimitives
import CoreDataXML
import Foundation

/// Parses XML to a tree of elements with locations.
package enum MarkupParser {
    /// Returns the root element, or throws the error in the text.
    package static func parse(_ data: Data, file: String?) throws(ModelFailure) -> MarkupElement {
        let utf8: Data
        do {
            utf8 = try XMLText.utf8(data)
        } catch {
            throw ModelFailure(diagnostics: [diagnostic(error, in: MarkupSource(bytes: Array(data), file: file))])
        }
        var events: [XMLEvent] = []
        do {
            let reader = try XMLReader(utf8, isUTF8: true)
            while let event = try reader.next() { events.append(event) }
        } catch {
            throw ModelFailure(diagnostics: [diagnostic(error, in: MarkupSource(bytes: Array(utf8), file: file))])
        }
        let comments = events.compactMap { event in
            if case .comment(let offset) = event { offset } else { nil }
        }
        guard let root = tree(of: events, in: MarkupSource(bytes: Array(utf8), file: file, comments: comments)) else {
            throw ModelFailure(
                diagnostics: [
                    Diagnostic(.error, "no XML in the file", at: SourceLocation(file: file, line: 1, column: 1))
                ])
        }
        return root
    }

    private static func tree(of events: [XMLEvent], in source: MarkupSource) -> MarkupElement? {
        var open: [MarkupElement] = []
        for event in events {
            switch event {
            case .start(let tag):
                let attributes = Dictionary(
                    tag.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
                let location = SourceLocation(file: source.file, line: tag.line, column: tag.column)
                open.append(
                    MarkupElement(
                        name: tag.name, attributes: attributes, location: location, offset: tag.offset, source: source))
            case .text(let text):
                if !open.isEmpty { open[open.count - 1].text += text }
            case .end:
                guard let element = open.popLast() else { return nil }
                if open.isEmpty { return element }
                open[open.count - 1].children.append(element)
            case .comment: break
            }
        }
        return nil
    }

    private static func diagnostic(_ failure: XMLFailure, in source: MarkupSource) -> Diagnostic {
        Diagnostic(
            .error, failure.message,
            at: SourceLocation(file: source.file, line: failure.line, column: failure.column),
            sourceLine: source.line(failure.line), hint: failure.hint)
    }
}
