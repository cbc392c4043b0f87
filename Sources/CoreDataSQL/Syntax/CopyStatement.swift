/// A COPY of rows that the program sends into a table.
///
///     CopyStatement(into: "Unit", columns: ["Z_PK", "name"])
///     // COPY "Unit" ("_id", "name") FROM STDIN (FORMAT binary)
package struct CopyStatement: Hashable, Sendable {
    package var table: String
    package var columns: [String]

    package init(into table: String, columns: [String]) {
        self.table = table
        self.columns = columns
    }

    /// A SELECT that returns the types of the columns; its rows are not read.
    package var description: SelectStatement {
        SelectStatement(columns.map { .init(.column(nil, $0)) }, from: .init(table))
    }
}

extension CopyStatement: SQLRenderable {
    package func render(with renderer: inout SQLRenderer) {
        renderer.text.append("COPY ")
        renderer.text.append(identifier: table)
        renderer.text.append(" (")
        renderer.text.append(identifiers: columns)
        renderer.text.append(") FROM STDIN (FORMAT binary)")
    }
}
