import Foundation

/// Why a record of a file cannot be read or imported: where it stands, which entity and attribute, and what is wrong.
///
///     Items.csv:12: record 11: Item.quantity: 'many' is not a number
public struct RecordFailure: LocalizedError, CustomStringConvertible, Sendable {
    /// The file as it was named.
    public var file: String
    /// Counts from 1.
    public var line: Int
    /// Counts from 1; `nil` where only the line is known.
    public var column: Int?
    /// The record's number, counting from 1; `nil` for what belongs to no record, such as the end of the file.
    public var number: Int?
    /// What is wrong, with entity and attribute where it is about one.
    public var message: String
    /// What to do about it.
    public var hint: String?
    /// Whether the records after this one can still be read.
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

    /// `Items.csv:12: record 11: Item.quantity: …`
    public var description: String {
        "\(file):\(line):" + (column.map { "\($0):" } ?? "") + " " + (number.map { "record \($0): " } ?? "") + message
            + (hint.map { "\nhint: \($0)" } ?? "")
    }

    /// The same, as `localizedDescription` tells it.
    public var errorDescription: String? { description }
}
