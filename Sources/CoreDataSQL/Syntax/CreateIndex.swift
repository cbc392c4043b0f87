/// A CREATE INDEX as a value.
///
///     CreateIndex("Z_Item_byName", on: "ZITEM", [.init("ZNAME", isAscending: true)])
///     // CREATE INDEX Z_Item_byName ON ZITEM (ZNAME COLLATE BINARY ASC)
package struct CreateIndex: Hashable, Sendable {
    package struct Column: Hashable, Sendable {
        package var name: String
        /// Written as `COLLATE BINARY ASC` or `DESC`; `nil` writes the name alone.
        package var isAscending: Bool?

        package init(_ name: String, isAscending: Bool? = nil) {
            self.name = name
            self.isAscending = isAscending
        }
    }

    package var name: String
    package var table: String
    package var columns: [Column]
    package var isUnique: Bool
    /// The rows of a partial index.
    package var condition: SQLExpression?

    package init(
        _ name: String, on table: String, _ columns: [Column], isUnique: Bool = false,
        where condition: SQLExpression? = nil
    ) {
        self.name = name
        self.table = table
        self.columns = columns
        self.isUnique = isUnique
        self.condition = condition
    }
}
