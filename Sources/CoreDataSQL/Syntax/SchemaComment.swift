/// A comment on a table or a column, for people and tools that read the schema of a database.
///
///     SchemaComment(on: "Book", "title", "Book.title")     // COMMENT ON COLUMN "Book"."title" IS 'Book.title'
package struct SchemaComment: Hashable, Sendable {
    package var table: String
    /// `nil` for a comment on the table.
    package var column: String?
    package var words: String

    package init(on table: String, _ words: String) { (self.table, self.words) = (table, words) }

    package init(on table: String, _ column: String, _ words: String) {
        self.table = table
        self.column = column
        self.words = words
    }
}
