/// One record of a file: its fields in order, and where it stands.
struct Record {
    var fields: [(name: String, value: FieldValue)]
    /// Counts from 1.
    var number: Int
    /// Where the record starts, counting from 1.
    var line: Int
    /// What the file calls records of its kind, where it has several kinds: the name of an entity.
    var entity: String?

    /// The field that has an object's ID.
    static let idField = "objectID"
    /// The field that lists attributes without a value, in formats that have no other way to write that.
    static let nothingField = "nil"
}

/// A value as a file writes it; what it means is up to the attribute that it is for.
enum FieldValue: Equatable {
    case null
    case boolean(Bool)
    /// The digits as written, so that no precision is lost on the way to a decimal.
    case number(String)
    case text(String)
    case list([FieldValue])
    case object([Field])

    struct Field: Equatable {
        var name: String
        var value: FieldValue
    }
}

/// Why a record cannot be read or imported.
struct RecordFailure: Error, CustomStringConvertible {
    var file: String
    var line: Int
    /// Counts from 1; `nil` where only the line is known.
    var column: Int?
    /// Counts from 1; `nil` for what belongs to no record, such as the end of the file.
    var number: Int?
    var message: String
    /// What to do about it.
    var hint: String?
    /// Whether the records after this one can still be read.
    var isRecoverable = true

    /// `Items.csv:12: record 11: Item.quantity: …`
    var description: String {
        "\(file):\(line):" + (column.map { "\($0):" } ?? "") + " " + (number.map { "record \($0): " } ?? "") + message
            + (hint.map { "\nhint: \($0)" } ?? "")
    }
}

/// Reads the records of a file one after another; only the one at hand is in memory.
protocol RecordReader {
    /// The next record; `nil` at the end of the file.
    ///
    /// - Throws: ``RecordFailure``. Where it is recoverable, the next call reads the record after it.
    mutating func next() throws -> Record?

    /// How much of the file has been read, from 0 to 1.
    var fractionRead: Double { get }
}
