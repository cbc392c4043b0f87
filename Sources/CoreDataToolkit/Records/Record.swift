/// One record of a file: its fields in order, and where it stands.
package struct Record {
    package var fields: [(name: String, value: FieldValue)]
    /// Counts from 1.
    package var number: Int
    /// Where the record starts, counting from 1.
    package var line: Int
    /// What the file calls records of its kind, where it has several kinds: the name of an entity.
    package var entity: String?

    /// The field that has an object's ID.
    package static let idField = "objectID"
    /// The field that lists attributes without a value, in formats that have no other way to write that.
    package static let nothingField = "nil"

    package init(fields: [(name: String, value: FieldValue)], number: Int, line: Int, entity: String? = nil) {
        self.fields = fields
        self.number = number
        self.line = line
        self.entity = entity
    }
}

/// A value as a file writes it; what it means is up to the attribute that it is for.
package enum FieldValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    /// The digits as written, so that no precision is lost on the way to a decimal.
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

/// Reads the records of a file one after another; only the one at hand is in memory.
package protocol RecordReader {
    /// The next record; `nil` at the end of the file.
    ///
    /// - Throws: ``RecordFailure``. Where it is recoverable, the next call reads the record after it.
    mutating func next() throws -> Record?

    /// How much of the file has been read, from 0 to 1.
    var fractionRead: Double { get }
}
