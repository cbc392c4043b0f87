/// Reads the tags and texts of an XML file one after another, and checks that tags match.
///
/// Knows what data files are written in: elements, attributes, text, character references, CDATA; it skips comments,
/// processing instructions and a document type without entities of its own.
struct XMLScanner {
    enum Event {
        case start(name: String, attributes: [(name: String, value: String)], line: Int)
        case end(name: String)
        case text(String)
    }

    private(set) var cursor: ByteCursor
    /// The elements that are open, outermost first.
    private(set) var open: [String] = []
    private var hasRoot = false
    /// The end of an element that was written as `<a/>`.
    private var pendingEnd: String?

    /// UTF-16 has become UTF-8 when the file was read.
    private static let encodings: Set<String> = ["utf-8", "utf8", "us-ascii", "utf-16"]

    init(_ bytes: FileBytes) throws {
        cursor = ByteCursor(bytes)
        if cursor.skip("<?xml") {
            let declaration = try cursor.text { $0 == UInt8(ascii: ">") }
            if let encoding = Self.encoding(in: declaration), !Self.encodings.contains(encoding) {
                throw cursor.failure("the encoding '\(encoding)' is not supported; convert the file to UTF-8 first")
            }
            cursor.advance()
        }
    }

    /// The next event; `nil` after the end of the root element.
    mutating func next() throws -> Event? {
        if let name = pendingEnd {
            pendingEnd = nil
            open.removeLast()
            return .end(name: name)
        }
        while !cursor.isAtEnd {
            if cursor.skip("<!--") {
                try skip(past: "-->", what: "comment")
            } else if cursor.skip("<![CDATA[") {
                let line = cursor.line
                let start = cursor.index
                try skip(past: "]]>", what: "CDATA section")
                let text = try cursor.text(from: start, line: line)
                return .text(String(text.dropLast(3)))
            } else if cursor.skip("<?") {
                try skip(past: "?>", what: "processing instruction")
            } else if cursor.skip("<!DOCTYPE") {
                try skipDocumentType()
            } else if cursor.skip("</") {
                return try endTag()
            } else if cursor.peek() == UInt8(ascii: "<") {
                return try startTag()
            } else {
                let line = cursor.line
                let text = try unescaped(cursor.text { $0 == UInt8(ascii: "<") }, line: line)
                if !open.isEmpty { return .text(text) }
                guard text.allSatisfy(\.isWhitespace) else {
                    throw cursor.failure("there is text outside the root element; is it XML?", line: line)
                }
            }
        }
        if let name = open.last { throw cursor.failure("the file ends, but <\(name)> is still open") }
        if !hasRoot { throw cursor.failure("there is no element in the file; is it XML?") }
        return nil
    }

    private mutating func startTag() throws -> Event {
        let line = cursor.line
        cursor.advance()
        if open.isEmpty, hasRoot { throw cursor.failure("there is a second root element", line: line) }
        let name = try self.name("an element")
        var attributes: [(name: String, value: String)] = []
        while true {
            cursor.skipWhitespace()
            if cursor.skip("/>") {
                pendingEnd = name
                break
            }
            if cursor.skip(">") { break }
            let attribute = try self.name("an attribute of <\(name)>")
            guard !attributes.contains(where: { $0.name == attribute }) else {
                throw cursor.failure("<\(name)> has the attribute '\(attribute)' more than once")
            }
            attributes.append((attribute, try attributeValue(attribute, of: name)))
        }
        hasRoot = true
        open.append(name)
        return .start(name: name, attributes: attributes, line: line)
    }

    private mutating func attributeValue(_ attribute: String, of element: String) throws -> String {
        cursor.skipWhitespace()
        guard cursor.skip("=") else {
            throw cursor.failure("the attribute '\(attribute)' of <\(element)> has no value")
        }
        cursor.skipWhitespace()
        guard let quote = cursor.peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw cursor.failure("the value of the attribute '\(attribute)' of <\(element)> must stand in quotes")
        }
        cursor.advance()
        let line = cursor.line
        let text = try cursor.text { $0 == quote || $0 == UInt8(ascii: "<") }
        guard cursor.peek() == quote else {
            throw cursor.failure("the value of the attribute '\(attribute)' of <\(element)> has no end", line: line)
        }
        cursor.advance()
        // Line breaks and tabs in a value are spaces, unless they are written as references (XML 1.0, 3.3.3).
        var value = ""
        for scalar in text.replacing("\r\n", with: " ").unicodeScalars {
            value.unicodeScalars.append(scalar == "\n" || scalar == "\r" || scalar == "\t" ? " " : scalar)
        }
        return try unescaped(value, line: line)
    }

    private mutating func endTag() throws -> Event {
        let line = cursor.line
        let name = try self.name("an element")
        cursor.skipWhitespace()
        guard cursor.skip(">") else { throw cursor.failure("</\(name) has no '>'") }
        guard let expected = open.popLast() else { throw cursor.failure("</\(name)> has no start", line: line) }
        guard name == expected else {
            throw cursor.failure("</\(name)> ends <\(expected)>, which is still open", line: line)
        }
        return .end(name: name)
    }

    private mutating func name(_ what: String) throws -> String {
        let line = cursor.line
        let name = try cursor.text { byte in
            byte <= 0x20 || [UInt8(ascii: "="), UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "<")].contains(byte)
        }
        guard let first = name.unicodeScalars.first, first.properties.isXIDStart || "_:".unicodeScalars.contains(first)
        else { throw cursor.failure("the name of \(what) should be here instead of '\(name.prefix(20))'", line: line) }
        return name
    }

    private mutating func skip(past end: StaticString, what: String) throws {
        let line = cursor.line
        while !cursor.isAtEnd {
            if cursor.skip(end) { return }
            cursor.advance()
        }
        throw cursor.failure("a \(what) that starts here has no end", line: line)
    }

    private mutating func skipDocumentType() throws {
        let line = cursor.line
        var brackets = 0
        while let byte = cursor.peek() {
            cursor.advance()
            if byte == UInt8(ascii: "[") { brackets += 1 }
            if byte == UInt8(ascii: "]") { brackets -= 1 }
            if byte == UInt8(ascii: ">"), brackets == 0 { return }
        }
        throw cursor.failure("the document type that starts here has no end", line: line)
    }

    /// Puts characters in place of `&amp;`, `&#10;` and the like.
    private func unescaped(_ text: String, line: Int) throws -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = Substring(text)
        while let start = rest.firstIndex(of: "&") {
            result += rest[..<start]
            guard let end = rest[start...].firstIndex(of: ";") else {
                throw cursor.failure("'&' must be written as '&amp;'", line: line)
            }
            let name = rest[rest.index(after: start)..<end]
            guard let scalar = Self.character(name) else {
                throw cursor.failure("'&\(name.prefix(20));' is not known; '&' must be written as '&amp;'", line: line)
            }
            result.unicodeScalars.append(scalar)
            rest = rest[rest.index(after: end)...]
        }
        return result + rest
    }

    private static func character(_ name: Substring) -> Unicode.Scalar? {
        switch name {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard name.hasPrefix("#") else { return nil }
            let digits = name.dropFirst()
            let value = digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return value.flatMap { Unicode.Scalar($0) }
        }
    }

    private static func encoding(in declaration: String) -> String? {
        guard let start = declaration.range(of: "encoding")?.upperBound else { return nil }
        let quoted = declaration[start...].split(whereSeparator: { "=\"' \t\r\n?".contains($0) })
        return quoted.first?.lowercased()
    }
}
