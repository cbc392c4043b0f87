/// Reads the objects of a JSON array.
///
///     [{"name": "Milk", "unit": {"name": "L"}}, …]
///     {"Item": […], "Unit": […]}                      // the export of several entities
struct JSONRecordReader: RecordReader {
    private var scanner: JSONScanner
    private var number = 0
    /// The scanner's position.
    private var place = Place.beforeArray
    /// The current entity, in a file with an array per entity that is read completely.
    private var section: String?
    /// Whether arrays of other entities may follow.
    private var hasSections = false

    private enum Place {
        case beforeSection
        case beforeArray
        case inArray
        case atEnd
    }

    /// - Parameter entity: the entity whose array to read, in a file with several; `nil` for all.
    init(_ bytes: FileBytes, entity: String?) throws {
        scanner = JSONScanner(ByteCursor(bytes))
        scanner.cursor.skipWhitespace()
        guard scanner.cursor.peek() == UInt8(ascii: "{") else { return }
        if let entity {
            try goTo(entity)
        } else {
            scanner.cursor.advance()
            hasSections = true
            scanner.cursor.skipWhitespace()
            place = scanner.cursor.skip("}") ? .atEnd : .beforeSection
        }
    }

    var fractionRead: Double { scanner.cursor.fractionRead }

    mutating func next() throws -> Record? {
        while true {
            switch place {
            case .atEnd: return nil
            case .beforeSection:
                section = try scanner.memberName()
                place = .beforeArray
            case .beforeArray:
                scanner.cursor.skipWhitespace()
                guard scanner.cursor.skip("[") else { throw scanner.unexpected("an array of objects") }
                scanner.cursor.skipWhitespace()
                if scanner.cursor.skip("]") {
                    try endArray()
                } else {
                    place = .inArray
                    return try record()
                }
            case .inArray:
                if try scanner.continues("]") { return try record() }
                try endArray()
            }
        }
    }

    private mutating func endArray() throws {
        place = hasSections ? (try scanner.continues("}") ? .beforeSection : .atEnd) : .atEnd
    }

    private mutating func record() throws -> Record {
        scanner.cursor.skipWhitespace()
        number += 1
        let line = scanner.cursor.line
        do {
            guard case .object(let fields) = try scanner.value() else {
                throw scanner.cursor.failure("the elements of the array must be objects", line: line)
            }
            return Record(fields: fields.map { ($0.name, $0.value) }, number: number, line: line, entity: section)
        } catch var failure as RecordFailure {
            failure.number = number
            throw failure
        }
    }

    /// Moves the scanner to the array of the entity.
    private mutating func goTo(_ entity: String) throws {
        var names: [String] = []
        var found: JSONScanner?
        var scan = scanner
        try scan.object { scanner, name in
            if found == nil, name.lowercased() == entity.lowercased() { found = scanner }
            names.append(name)
            _ = try scanner.value()
        }
        guard let found else {
            throw ToolkitError(
                """
                \(scanner.cursor.bytes.name) is one JSON object without '\(entity)'; give an array of objects, or an \
                object with an array for each entity\(Suggestion.text(for: entity, among: names))
                """)
        }
        scanner = found
    }
}

/// Reads one JSON object per line; blank lines are ignored.
struct NDJSONRecordReader: RecordReader {
    private var cursor: ByteCursor
    private var number = 0

    init(_ bytes: FileBytes) { cursor = ByteCursor(bytes) }

    var fractionRead: Double { cursor.fractionRead }

    mutating func next() throws -> Record? {
        cursor.skipWhitespace()
        guard !cursor.isAtEnd else { return nil }
        number += 1
        let line = cursor.line
        var scanner = JSONScanner(ByteCursor(restOfLine: cursor))
        // The next record is on the next line, even if this one is invalid.
        cursor.advance(scanner.cursor.remaining)
        do {
            guard case .object(let fields) = try scanner.value() else {
                throw scanner.cursor.failure("the line is no JSON object")
            }
            scanner.cursor.skipWhitespace()
            guard scanner.cursor.isAtEnd else {
                throw scanner.cursor.failure("something follows the object on its line")
            }
            return Record(fields: fields.map { ($0.name, $0.value) }, number: number, line: line)
        } catch var failure as RecordFailure {
            failure.number = number
            failure.isRecoverable = true
            throw failure
        }
    }
}
