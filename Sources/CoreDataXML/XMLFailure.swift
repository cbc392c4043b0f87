/// Why a text is not XML that can be read, told so that its author can mend it.
package struct XMLFailure: Error, Hashable, Sendable {
    package var message: String
    /// Counting from 1.
    package var line: Int
    /// Counts characters from 1.
    package var column: Int
    /// The byte of the document that the place is at.
    package var offset: Int
    /// What to do about it.
    package var hint: String?

    package init(_ message: String, line: Int = 1, column: Int = 1, offset: Int = 0, hint: String? = nil) {
        self.message = message
        self.line = line
        self.column = column
        self.offset = offset
        self.hint = hint
    }
}
