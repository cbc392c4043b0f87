import Foundation

/// An error in reading or importing a record: its location, the entity and attribute, and the cause.
///
///     Items.csv:12: record 11: Item.quantity: 'many' is not a number
public struct RecordFailure: LocalizedError, CustomStringConvertible, Sendable {
    /// The file's name as the caller gave it.
    public var file: String
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1; `nil` if only the line is known.
    public var column: Int?
    /// The record's number, counted from 1; `nil` for an error outside records, such as the end of the file.
    public var number: Int?
    /// The error, with entity and attribute if it concerns one.
    public var message: String
    /// How to correct the error.
    public var hint: String?
    /// Whether the following records can still be read.
    public var isRecoverable = true

    package init(
        file: String, line: Int, column: Int? = nil, number: Int? = nil, message: String, hint: String? = nil,
        isRecoverable: Bool = true
    ) {
        self.file = file
        self.line = line
        self.column = column
        self.number = number
        self.message = message
        self.hint = hint
        self.isRecoverable = isRecoverable
    }

    /// The location and the error: `Items.csv:12: record 11: Item.quantity: …`
    public var description: String {
        "\(file):\(line):" + (column.map { "\($0):" } ?? "") + " " + (number.map { "record \($0): " } ?? "") + message
            + (hint.map { "\nhint: \($0)" } ?? "")
    }

    /// The same text, for `localizedDescription`.
    public var errorDescription: String? { description }
}
