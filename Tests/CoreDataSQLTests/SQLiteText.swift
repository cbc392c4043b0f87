import CoreDataSQL

// The text of a statement as SQLite's driver runs it.
extension SQLRenderable {
    var text: SQLText { text(in: .sqlite) }
}

extension SchemaRenderer {
    static func text(_ statement: SchemaStatement) throws -> String {
        try texts(of: statement, in: .sqlite).joined(separator: "; ")
    }
}
