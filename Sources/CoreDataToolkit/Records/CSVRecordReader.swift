/// Reads the records of a CSV table (RFC 4180): the first row contains the field names; blank lines are ignored.
///
///     name,quantity
///     "Milk, whole",2
struct CSVRecordReader: RecordReader {
    private var cursor: ByteCursor
    private let delimiter: UInt8
    private var keepsEmpty: Bool
    private var header: [String] = []
    private var number = 0

    init(_ bytes: FileBytes, delimiter: UInt8, keepsEmpty: Bool) throws {
        cursor = ByteCursor(bytes)
        self.delimiter = delimiter
        self.keepsEmpty = keepsEmpty
        guard let row = try row() else {
            throw ToolkitError("\(bytes.name) is empty; its first row must name the fields.")
        }
        header = row.map { field in
            guard case .text(let name) = field else { return "" }
            return name.drop(while: \.isWhitespace).description
        }
        // Records that were exported with their ID are exact: an empty field is an empty text.
        if header.contains(Record.idField) { self.keepsEmpty = true }
        if let twice = Dictionary(grouping: header, by: { $0 }).first(where: { $0.value.count > 1 })?.key {
            throw cursor.failure("the field '\(twice)' is in the first row more than once", line: 1)
        }
    }

    var fractionRead: Double { cursor.fractionRead }

    mutating func next() throws -> Record? {
        while cursor.skip("\n") || cursor.skip("\r\n") {}
        guard !cursor.isAtEnd else { return nil }
        number += 1
        let line = cursor.line
        do {
            guard let row = try row() else { return nil }
            guard row.count == header.count else {
                throw RecordFailure(
                    file: cursor.bytes.name, line: line, number: number,
                    message: "the row has \(row.count) fields, the first row of the file has \(header.count)")
            }
            return Record(fields: Array(zip(header, row)), number: number, line: line)
        } catch var failure as RecordFailure {
            failure.number = number
            throw failure
        }
    }

    /// Returns the fields of the current row, and moves past its end.
    private mutating func row() throws -> [FieldValue]? {
        guard !cursor.isAtEnd else { return nil }
        var fields: [FieldValue] = []
        while true {
            fields.append(try field())
            if cursor.peek() == delimiter {
                cursor.advance()
            } else if cursor.isAtEnd || cursor.skip("\r\n") || cursor.skip("\n") || cursor.skip("\r") {
                return fields
            } else {
                throw cursor.failure("a quoted field must be followed by the next field or the end of the row")
            }
        }
    }

    private mutating func field() throws -> FieldValue {
        guard cursor.skip("\"") else {
            let text = try cursor.text { [delimiter] in
                $0 == delimiter || $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r")
            }
            return keepsEmpty && text.isEmpty ? .null : .text(text)
        }
        let line = cursor.line
        var text = ""
        while true {
            text += try cursor.text { $0 == UInt8(ascii: "\"") }
            guard cursor.skip("\"") else {
                throw cursor.failure("a quoted field that starts here has no end", line: line)
            }
            guard cursor.skip("\"") else { return .text(text) }
            text += "\""
        }
    }
}
