/// One record of a file: its fields in order, and its location.
package struct Record {
    package var fields: [(name: String, value: FieldValue)]
    /// The record's number, counted from 1.
    package var number: Int
    /// The line where the record starts, counted from 1.
    package var line: Int
    /// The entity's name in the file, if it has records of several entities.
    package var entity: String?

    /// The field that contains an object's ID.
    package static let idField = "objectID"
    /// The field that lists attributes without a value, in formats without another notation.
    package static let nothingField = "nil"

    package init(fields: [(name: String, value: FieldValue)], number: Int, line: Int, entity: String? = nil) {
        self.fields = fields
        self.number = number
        self.line = line
        self.entity = entity
    }
}

/// A value in a file; the attribute that it is for determines its meaning.
package enum FieldValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    /// The digits as written, so that a decimal keeps its precision.
    case number(String)
    case text(String)
    case list([FieldValue])
    case object([Field])

    package struct Field: Equatable, Sendable {
        package var name: String
        package var value: FieldValue

        package init(name: String, value: FieldValue) {
            self.name = name
            self.value = value
        }
    }
}

/// Reads the records of a file one at a time; only the current one is in memory.
package protocol RecordReader {
    /// Returns the next record; `nil` at the end of the file.
    ///
    /// - Throws: a ``RecordFailure``. If it is recoverable, the next call reads the following record.
    mutating func next() throws -> Record?

    /// The fraction of the file that was read, from 0 to 1.
    var fractionRead: Double { get }
}
