/// An error in an XML text, described so that the author can correct it.
package struct XMLFailure: Error, Hashable, Sendable {
    package var message: String
    /// The line, counted from 1.
    package var line: Int
    /// The column in characters, counted from 1.
    package var column: Int
    /// The byte offset of the error in the document.
    package var offset: Int
    /// How to correct the error.
    package var hint: String?

    package init(_ message: String, line: Int = 1, column: Int = 1, offset: Int = 0, hint: String? = nil) {
        self.message = message
        self.line = line
        self.column = column
        self.offset = offset
        self.hint = hint
    }
}
