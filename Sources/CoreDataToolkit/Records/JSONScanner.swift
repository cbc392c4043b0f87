/// Parses JSON values (RFC 8259) from a file; numbers keep their digits.
package struct JSONScanner {
    package var cursor: ByteCursor
    /// The maximum depth; a deeper file is an attack or a mistake.
    private static let deepest = 256

    package init(_ cursor: ByteCursor) { self.cursor = cursor }

    package mutating func value(depth: Int = 0) throws -> FieldValue {
        guard depth < Self.deepest else { throw cursor.failure("the JSON is nested more than \(Self.deepest) deep") }
        cursor.skipWhitespace()
        switch cursor.peek() {
        case UInt8(ascii: "{"): return .object(try object(depth: depth))
        case UInt8(ascii: "["):
            var elements: [FieldValue] = []
            try list { scanner in elements.append(try scanner.value(depth: depth + 1)) }
            return .list(elements)
        case UInt8(ascii: "\""): return .text(try string())
        case let byte? where byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte): return .number(try number())
        default:
            if cursor.skip("true") { return .boolean(true) }
            if cursor.skip("false") { return .boolean(false) }
            if cursor.skip("null") { return .null }
            throw unexpected("a value")
        }
    }

    /// Reads an array; `element` reads each element.
    package mutating func list(_ element: (inout JSONScanner) throws -> Void) throws {
        try expect("[", "an array")
        cursor.skipWhitespace()
        if cursor.skip("]") { return }
        repeat { try element(&self) } while try continues("]")
    }

    /// Reads an object. `member` is called at each value, and must read it.
    package mutating func object(_ member: (inout JSONScanner, _ name: String) throws -> Void) throws {
        try expect("{", "an object")
        cursor.skipWhitespace()
        if cursor.skip("}") { return }
        repeat {
            let name = try memberName()
            try member(&self, name)
        } while try continues("}")
    }

    /// Reads the name of an object's next member, and moves to its value.
    package mutating func memberName() throws -> String {
        cursor.skipWhitespace()
        let name = try string()
        try expect(":", "':' after \"\(name)\"")
        return name
    }

    /// Returns whether another element follows, after reading the comma or the end.
    package mutating func continues(_ end: StaticString) throws -> Bool {
        cursor.skipWhitespace()
        if cursor.skip(",") { return true }
        if cursor.skip(end) { return false }
        throw unexpected("',' or '\(end)'")
    }

    private mutating func object(depth: Int) throws -> [FieldValue.Field] {
        var fields: [FieldValue.Field] = []
        try object { scanner, name in
            fields.append(FieldValue.Field(name: name, value: try scanner.value(depth: depth + 1)))
        }
        return fields
    }

    private mutating func expect(_ token: StaticString, _ what: String) throws {
        cursor.skipWhitespace()
        guard cursor.skip(token) else { throw unexpected(what) }
    }

    private mutating func number() throws -> String {
        let start = cursor.index
        func isDigit(_ byte: UInt8?) -> Bool { byte.map { $0 >= 0x30 && $0 <= 0x39 } ?? false }
        func digits(_ cursor: inout ByteCursor) -> Bool {
            guard isDigit(cursor.peek()) else { return false }
            while isDigit(cursor.peek()) { cursor.advance() }
            return true
        }
        _ = cursor.skip("-")
        let hasLeadingZero = cursor.peek() == UInt8(ascii: "0") && isDigit(cursor.peek(1))
        guard !hasLeadingZero, digits(&cursor) else { throw unexpected("a number") }
        if cursor.skip(".") {
            guard digits(&cursor) else { throw unexpected("a digit after the point") }
        }
        if cursor.skip("e") || cursor.skip("E") {
            _ = cursor.skip("+") || cursor.skip("-")
            guard digits(&cursor) else { throw unexpected("a digit in the exponent") }
        }
        return try cursor.text(from: start, line: cursor.line)
    }

    private mutating func string() throws -> String {
        let line = cursor.line
        guard cursor.skip("\"") else { throw unexpected("a text in quotes") }
        var result = ""
        while true {
            result += try cursor.text { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") || $0 < 0x20 }
            if cursor.skip("\"") { return result }
            guard cursor.skip("\\") else {
                throw cursor.isAtEnd
                    ? cursor.failure("a text that starts here has no end", line: line)
                    : cursor.failure("a text has a line break or control character in it; JSON writes \\n or \\u0000")
            }
            result.unicodeScalars.append(try escaped())
        }
    }

    private mutating func escaped() throws -> Unicode.Scalar {
        guard let byte = cursor.peek() else { throw cursor.failure("the file ends inside a text") }
        cursor.advance()
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = try hexadecimal()
            if let scalar = Unicode.Scalar(unit) { return scalar }
            // A surrogate: its second half must follow.
            guard unit < 0xDC00, cursor.skip("\\u") else { throw cursor.failure("half a character: \\u\(unit)") }
            let second = try hexadecimal()
            guard (0xDC00..<0xE000).contains(second),
                let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
            else { throw cursor.failure("half a character in a text") }
            return scalar
        default: throw cursor.failure("no such escape in JSON: \\\(Unicode.Scalar(byte))")
        }
    }

    private mutating func hexadecimal() throws -> UInt32 {
        let start = cursor.index
        cursor.advance(4)
        let digits = try cursor.text(from: start, line: cursor.line)
        guard digits.count == 4, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
            throw cursor.failure("'\\u' takes four hexadecimal digits")
        }
        return value
    }

    package func unexpected(_ wanted: String) -> RecordFailure {
        guard cursor.peek() != nil else { return cursor.failure("the file ends where \(wanted) should be") }
        var rest = cursor
        let found = (try? rest.text { $0 < 0x21 || $0 == UInt8(ascii: ",") }) ?? ""
        return cursor.failure("\(wanted) should be here instead of '\(found.prefix(20))'")
    }
}
