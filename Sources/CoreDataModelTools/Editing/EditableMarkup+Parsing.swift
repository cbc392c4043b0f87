import CoreDataModel
import CoreDataPrimitives
import Foundation

extension EditableMarkup {
    /// Parses a text.
    ///
    /// Throws the errors of the XML, and an error for a text that cannot be edited without loss: one that is not UTF-8,
    /// or that has a document type declaration.
    package init(_ data: Data, file: String?) throws(ModelFailure) {
        let parsed = try MarkupParser.parse(data, file: file)
        guard let text = String(validating: data, as: UTF8.self) else {
            throw Self.failure("the file is not UTF-8", file, hint: "save it as UTF-8 to edit it here")
        }
        var scanner = MarkupScanner(text)
        guard let markup = scanner.document(), markup.root.name == parsed.name, Data(markup.text.utf8) == data else {
            throw Self.failure(
                "the file has XML that this editor does not keep, for example a document type declaration", file,
                hint: "remove the declaration, or edit the file as text")
        }
        self = markup
    }

    private static func failure(_ message: String, _ file: String?, hint: String) -> ModelFailure {
        ModelFailure(
            diagnostics: [
                Diagnostic(.error, message, at: SourceLocation(file: file, line: 1, column: 1), hint: hint)
            ])
    }
}

/// Splits well-formed XML into the parts of an ``EditableMarkup``.
private struct MarkupScanner {
    /// The number of levels that a file may have. A model has five.
    private static let deepest = 200

    private let bytes: [UInt8]
    private var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the document; `nil` for a document type declaration, or if the text is nested too deeply.
    mutating func document() -> EditableMarkup? {
        while offset < bytes.count {
            if starts("<!DOCTYPE") { return nil }
            if bytes[offset] == UInt8(ascii: "<"), !starts("<?"), !starts("<!") { break }
            skipMisc()
        }
        let head = text(0, offset)
        guard let root = tree() else { return nil }
        let tail = text(offset, bytes.count)
        let lineBreak = bytes.firstIndex(of: UInt8(ascii: "\n")).map { $0 > 0 && bytes[$0 - 1] == 13 } ?? false
        return EditableMarkup(
            head: head, root: root, tail: tail, lineBreak: lineBreak ? "\r\n" : "\n",
            indentation: Self.indentation(of: root))
    }

    /// The white space before the root's first child.
    private static func indentation(of root: EditableElement) -> String {
        guard case .other(let space)? = root.content.first, root.content[0].isBlank,
            let line = space.utf8.lastIndex(of: UInt8(ascii: "\n"))
        else { return "    " }
        return String(space[space.utf8.index(after: line)...])
    }

    private mutating func tree() -> EditableElement? {
        var open: [EditableElement] = []
        while offset < bytes.count {
            if starts("</") {
                let start = offset
                skip(past: ">")
                guard var element = open.popLast() else { return nil }
                element.endTag = text(start, offset)
                if open.isEmpty { return element }
                open[open.count - 1].content.append(.element(element))
            } else if starts("<!") || starts("<?") {
                let start = offset
                guard !open.isEmpty else { return nil }
                skipMisc()
                open[open.count - 1].content.append(.other(text(start, offset)))
            } else if bytes[offset] == UInt8(ascii: "<") {
                guard let element = startTag() else { return nil }
                if element.isSelfClosing {
                    if open.isEmpty { return element }
                    open[open.count - 1].content.append(.element(element))
                } else {
                    open.append(element)
                    if open.count > Self.deepest { return nil }
                }
            } else {
                let start = offset
                while offset < bytes.count, bytes[offset] != UInt8(ascii: "<") { offset += 1 }
                guard !open.isEmpty else { return nil }
                open[open.count - 1].content.append(.other(text(start, offset)))
            }
        }
        return nil
    }

    private mutating func startTag() -> EditableElement? {
        offset += 1
        var element = EditableElement(take { !Self.isSpace($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") })
        while offset < bytes.count {
            let space = take(while: Self.isSpace)
            if starts("/>") || starts(">") {
                element.tagSpace = space
                element.isSelfClosing = starts("/>")
                offset += element.isSelfClosing ? 2 : 1
                return element
            }
            let name = take { !Self.isSpace($0) && $0 != UInt8(ascii: "=") }
            let equals = take { Self.isSpace($0) || $0 == UInt8(ascii: "=") }
            guard offset < bytes.count else { return nil }
            let quote = bytes[offset]
            offset += 1
            let raw = take { $0 != quote }
            offset += 1
            element.attributes.append(
                .init(
                    space: space, name: name, equals: equals, quote: String(UnicodeScalar(quote)), raw: raw))
        }
        return nil
    }

    /// Skips a comment, a CDATA section, a processing instruction, or a byte of white space.
    private mutating func skipMisc() {
        if starts("<!--") {
            skip(past: "-->")
        } else if starts("<![CDATA[") {
            skip(past: "]]>")
        } else if starts("<?") {
            skip(past: "?>")
        } else {
            offset += 1
        }
    }

    // MARK: Bytes

    private func starts(_ text: StaticString) -> Bool {
        bytes[offset...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func skip(past text: StaticString) {
        while offset < bytes.count, !starts(text) { offset += 1 }
        offset = min(bytes.count, offset + text.utf8CodeUnitCount)
    }

    private mutating func take(while condition: (UInt8) -> Bool) -> String {
        let start = offset
        while offset < bytes.count, condition(bytes[offset]) { offset += 1 }
        return text(start, offset)
    }

    private func text(_ start: Int, _ end: Int) -> String { String(decoding: bytes[start..<end], as: UTF8.self) }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }
}

/// Replaces the references in the text of an attribute's value.
enum MarkupReferences {
    static func decoded(_ raw: String) -> String {
        guard raw.utf8.contains(where: { $0 == UInt8(ascii: "&") || $0 < 32 }) else { return raw }
        var result = String.UnicodeScalarView()
        var rest = raw.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "&":
                guard let end = rest.firstIndex(of: ";"), let value = Self.scalar(String(rest[..<end])) else {
                    result.append(scalar)
                    continue
                }
                result.append(value)
                rest = rest[rest.index(after: end)...]
            // XML makes a space of white space in values.
            case "\r":
                if rest.first == "\n" { rest.removeFirst() }
                result.append(" ")
            case "\n", "\t": result.append(" ")
            default: result.append(scalar)
            }
        }
        return String(result)
    }

    private static func scalar(_ name: String) -> UnicodeScalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let number = name.dropFirst()
            let code = number.hasPrefix("x") ? UInt32(number.dropFirst(), radix: 16) : UInt32(number)
            return code.flatMap(UnicodeScalar.init)
        }
    }
}
