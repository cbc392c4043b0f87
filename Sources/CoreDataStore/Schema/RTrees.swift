import CoreDataModel
import CoreDataSQL

/// Finds and creates the R-trees of a file.
enum RTrees {
    /// Returns the R-trees of the layout that the file has with all their triggers: these find every row in a range.
    ///
    /// The result is empty if the catalog cannot be read: fetches work without R-trees.
    static func found(_ schema: SchemaLayout, in database: any SQLDatabase) throws -> [CreateRTree] {
        let wanted = try schema.rTrees()
        guard !wanted.isEmpty else { return [] }
        do {
            return try database.read { try found(wanted, CatalogPart.all(in: $0), in: database.dialect) }
        } catch is SQLFailure {
            return []
        }
    }

    static func found(
        _ wanted: [CreateRTree], _ parts: [CatalogPart], in dialect: SQLDialect
    ) throws -> [CreateRTree] {
        let texts = Dictionary(parts.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
        return try wanted.filter { tree in
            try tree.partNames.map { texts[$0] ?? nil } == SchemaRenderer.texts(of: .rTree(tree), in: dialect)
        }
    }
}

extension SQLConnection {
    /// Creates a part of a schema. If SQLite was built without R-trees, an ordinary index replaces one.
    func make(_ statement: SchemaStatement) throws {
        do {
            for text in try SchemaRenderer.texts(of: statement, in: dialect) { try execute(text) }
        } catch let failure as SQLFailure where failure.isMissingModule {
            guard case .rTree(let tree) = statement else { throw failure }
            try make(.index(tree.substitute))
        }
    }
}

extension SQLFailure {
    /// Whether SQLite was built without the module of a virtual table.
    var isMissingModule: Bool {
        message.contains("no such module") || message.contains("no such tokenizer")
    }
}
