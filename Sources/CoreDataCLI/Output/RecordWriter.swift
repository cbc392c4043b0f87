import CoreDataPrimitives
import CoreDataStoreTools
import CoreDataToolkit

/// Writes records in one of the formats that a ``RecordReader`` reads.
///
/// A nested value, such as the name of an item's unit, is a field with a dot in its name: `unit.name`. Only JSON can
/// write lists.
protocol RecordWriter {
    /// Starts the records of an entity.
    mutating func begin(_ entity: String, columns: [String]) throws
    mutating func write(_ values: [CellValue]) throws
    /// Ends the output.
    mutating func end() throws
}

extension RecordFormat {
    /// - Parameter isOneOfSeveral: whether records of several entities will be written.
    func makeWriter(_ output: TextOutput, isOneOfSeveral: Bool = false) -> any RecordWriter {
        switch self {
        case .json: JSONRecordWriter(output, isKeyedByEntity: isOneOfSeveral)
        case .ndjson: NDJSONRecordWriter(output)
        case .csv: CSVRecordWriter(output)
        case .xml: XMLRecordWriter(output)
        }
    }
}

/// Writes an array of objects; for several entities, an object with an array for each.
struct JSONRecordWriter: RecordWriter {
    private let output: TextOutput
    private let isKeyedByEntity: Bool
    private var columns: [String] = []
    private var entityCount = 0
    private var recordCount = 0

    init(_ output: TextOutput, isKeyedByEntity: Bool) {
        self.output = output
        self.isKeyedByEntity = isKeyedByEntity
    }

    mutating func begin(_ entity: String, columns: [String]) throws {
        if isKeyedByEntity {
            if entityCount > 0 { try output.write(recordCount == 0 ? "],\n" : "\n],\n") }
            try output.write((entityCount == 0 ? "{\n" : "") + JSONText.quoted(entity) + ": [")
        } else {
            try output.write("[")
        }
        self.columns = columns.map(JSONText.quoted)
        entityCount += 1
        recordCount = 0
    }

    mutating func write(_ values: [CellValue]) throws {
        try output.write(recordCount == 0 ? "\n" : ",\n")
        try output.write("  " + JSONRecordWriter.object(columns, values))
        recordCount += 1
    }

    mutating func end() throws {
        guard entityCount > 0 else { return try output.write(isKeyedByEntity ? "{}\n" : "[]\n") }
        try output.write((recordCount == 0 ? "]" : "\n]") + (isKeyedByEntity ? "\n}\n" : "\n"))
    }

    /// - Parameter names: the names in quotes.
    static func object(_ names: [String], _ values: [CellValue]) -> String {
        "{" + zip(names, values).map { "\($0): \($1.json)" }.joined(separator: ", ") + "}"
    }
}

/// Writes one object per line.
struct NDJSONRecordWriter: RecordWriter {
    private let output: TextOutput
    private var columns: [String] = []

    init(_ output: TextOutput) { self.output = output }

    mutating func begin(_ entity: String, columns: [String]) throws { self.columns = columns.map(JSONText.quoted) }

    mutating func write(_ values: [CellValue]) throws {
        try output.write(JSONRecordWriter.object(columns, values) + "\n")
    }

    mutating func end() throws {}
}

/// Writes a row of names, then one row per record; an empty text is `""`, nil is an empty field.
struct CSVRecordWriter: RecordWriter {
    private let output: TextOutput

    init(_ output: TextOutput) { self.output = output }

    mutating func begin(_ entity: String, columns: [String]) throws {
        try output.write(columns.map(Self.field).joined(separator: ",") + "\n")
    }

    mutating func write(_ values: [CellValue]) throws {
        // A row with one empty field would be a blank line, which readers ignore.
        let row = values.map { $0.text.map(Self.field) ?? "" }.joined(separator: ",")
        try output.write((row.isEmpty ? "\"\"" : row) + "\n")
    }

    mutating func end() throws {}

    private static func field(_ text: String) -> String {
        let needsQuotes = text.isEmpty || text.unicodeScalars.contains { ",\"\n\r".unicodeScalars.contains($0) }
        return needsQuotes ? "\"" + text.replacing("\"", with: "\"\"") + "\"" : text
    }
}

/// Writes one element per record, named after its entity, with an attribute for each value; nil has no attribute.
struct XMLRecordWriter: RecordWriter {
    private let output: TextOutput
    private var entity = ""
    private var columns: [String] = []
    private var isStarted = false

    init(_ output: TextOutput) { self.output = output }

    mutating func begin(_ entity: String, columns: [String]) throws {
        if !isStarted { try start() }
        self.entity = entity
        self.columns = columns
    }

    mutating func write(_ values: [CellValue]) throws {
        var line = "    <\(entity)"
        for (column, value) in zip(columns, values) {
            guard let text = value.text else { continue }
            line += " \(column)=\"\(try escaped(text, column))\""
        }
        try output.write(line + "/>\n")
    }

    mutating func end() throws {
        if !isStarted { try start() }
        try output.write("</records>\n")
    }

    private mutating func start() throws {
        try output.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<records>\n")
        isStarted = true
    }

    private func escaped(_ text: String, _ column: String) throws -> String {
        try TextEscapes.replacing(in: text) { scalar throws(ToolFailure) in
            if let reference = TextEscapes.attribute(scalar) { return reference }
            guard scalar.value >= 0x20, scalar.value != 0xFFFE, scalar.value != 0xFFFF else {
                throw ToolFailure(
                    "\(entity).\(column) has a control character, which XML cannot hold; export as JSON or CSV.")
            }
            return nil
        }
    }
}
