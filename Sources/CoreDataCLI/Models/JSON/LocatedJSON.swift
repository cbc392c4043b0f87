import CoreDataPrimitives
import CoreDataToolkit

/// A JSON value with its location.
struct LocatedJSON {
    enum Content {
        /// A value that is neither a list nor an object.
        case leaf(FieldValue)
        case list([LocatedJSON])
        case object([Field])
    }

    struct Field {
        var name: String
        var value: LocatedJSON
    }

    var content: Content
    var place: SourceLocation

    /// Parses the value of a file.
    static func parse(_ bytes: FileBytes) throws -> LocatedJSON {
        var scanner = JSONScanner(ByteCursor(bytes))
        let value = try LocatedJSON(&scanner, depth: 0)
        scanner.cursor.skipWhitespace()
        guard scanner.cursor.isAtEnd else { throw scanner.unexpected("the end of the file") }
        return value
    }

    private init(_ scanner: inout JSONScanner, depth: Int) throws {
        guard depth < 64 else { throw scanner.cursor.failure("the JSON is nested more than 64 deep") }
        scanner.cursor.skipWhitespace()
        place = scanner.cursor.place
        switch scanner.cursor.peek() {
        case UInt8(ascii: "{"):
            var fields: [Field] = []
            try scanner.object { scanner, name in
                fields.append(Field(name: name, value: try LocatedJSON(&scanner, depth: depth + 1)))
            }
            content = .object(fields)
        case UInt8(ascii: "["):
            var elements: [LocatedJSON] = []
            try scanner.list { elements.append(try LocatedJSON(&$0, depth: depth + 1)) }
            content = .list(elements)
        default: content = .leaf(try scanner.value())
        }
    }
}

extension ByteCursor {
    /// The cursor's location for diagnostics.
    var place: SourceLocation {
        var column = 1
        while index - column >= 0, bytes[index - column] != UInt8(ascii: "\n") { column += 1 }
        return SourceLocation(file: bytes.name, line: line, column: column)
    }
}
