import CoreDataPrimitives
import Foundation
import FoundationXML

/// Reads XML into a tree that knows where everything stands. The only user of `FoundationXML`.
package enum MarkupParser {
    /// The root element, or what is wrong with the text.
    package static func parse(_ data: Data, file: String?) throws(ModelFailure) -> MarkupElement {
        let source = MarkupSource(bytes: Array(data), file: file)
        let builder = TreeBuilder(source: source)
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = builder
        // What parse() returns is not to be relied on: it is true for a file that ends in the middle.
        _ = parser.parse()
        let endsEarly = builder.problems.isEmpty || builder.problemIsTheEnd
        if endsEarly, let open = builder.open.last {
            throw ModelFailure(diagnostics: [builder.diagnostic("<\(open.name)> is never closed", at: open.location)])
        }
        if let problem = builder.problems.first { throw ModelFailure(diagnostics: [problem]) }
        guard let root = builder.root else {
            throw ModelFailure(
                diagnostics: [
                    Diagnostic(.error, "no XML in the file", at: SourceLocation(file: file, line: 1, column: 1))
                ]
            )
        }
        return root
    }
}

private final class TreeBuilder: NSObject, XMLParserDelegate {
    let source: MarkupSource
    var open: [MarkupElement] = []
    var root: MarkupElement?
    var problems: [Diagnostic] = []
    /// Whether the first problem is that the text ended, or did not end, where it should.
    private(set) var problemIsTheEnd = false
    private var tagCount = 0

    init(source: MarkupSource) { self.source = source }

    func diagnostic(_ message: String, at location: SourceLocation) -> Diagnostic {
        let text = String(decoding: source.bytes, as: UTF8.self)
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        let line = lines.indices.contains(location.line - 1) ? String(lines[location.line - 1]) : nil
        return Diagnostic(.error, message, at: location, sourceLine: line)
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        // The parser's own position is the end of the tag, so the nth element gets the place of the nth tag.
        var location = SourceLocation(file: source.file, line: parser.lineNumber, column: parser.columnNumber)
        var offset = 0
        if source.tags.indices.contains(tagCount), source.tags[tagCount].name == name {
            offset = source.tags[tagCount].offset
            location = source.location(offset)
        }
        tagCount += 1
        open.append(
            MarkupElement(name: name, attributes: attributes, location: location, offset: offset, source: source))
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            if root == nil { root = element }
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if !open.isEmpty { open[open.count - 1].text += string }
    }

    func parser(_ parser: XMLParser, foundCDATA block: Data) {
        if !open.isEmpty { open[open.count - 1].text += String(decoding: block, as: UTF8.self) }
    }

    func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
        let code = (error as NSError).code
        if problems.isEmpty { problemIsTheEnd = code == 5 || code == 77 }
        let message =
            Self.messages[code].map { $0 + (code == 76 ? open.last.map { " <\($0.name)>" } ?? "" : "") }
            ?? "the XML is malformed (libxml2 error \(code))"
        problems.append(
            diagnostic(
                message,
                at: SourceLocation(
                    file: source.file, line: max(1, parser.lineNumber), column: max(1, parser.columnNumber))))
    }

    /// What libxml2's most frequent error codes mean.
    private static let messages = [
        4: "no XML in the file", 5: "something follows the end of the root element",
        9: "a character that XML does not allow", 26: "an unknown entity",
        38: "a '<' inside an attribute's value", 39: "an attribute's value is not in quotes",
        40: "an attribute's value is never closed", 41: "an attribute has no value", 42: "an attribute is given twice",
        65: "a space is missing between attributes", 68: "a name is missing",
        73: "a tag is not closed with '>'", 76: "an end tag does not match", 77: "the file ends inside an element",
    ]
}
