import CoreDataModel
import CoreDataSQL

/// R-trees of a file: made with a schema, and found when a store is opened.
enum RTrees {
    /// The R-trees of the layout that the file has, each with all its triggers: these find every row in a range.
    ///
    /// None where the catalog cannot be read: fetches do without them.
    static func found(_ schema: SchemaLayout, in database: any SQLDatabase) throws -> [CreateRTree] {
        let wanted = try schema.rTrees()
        guard !wanted.isEmpty else { return [] }
        do {
            return try database.read { try found(wanted, MigrationSource.parts($0), in: database.dialect) }
        } catch is SQLFailure {
            return []
        }
    }

    static func found(
        _ wanted: [CreateRTree], _ parts: [MigrationSource.Part], in dialect: SQLDialect
    ) throws -> [CreateRTree] {
        let texts = Dictionary(parts.map { ($0.name, $0.text) }, uniquingKeysWith: { first, _ in first })
        return try wanted.filter { tree in
            try tree.partNames.map { texts[$0] ?? nil } == SchemaRenderer.texts(of: .rTree(tree), in: dialect)
        }
    }
}

extension SQLConnection {
    /// Makes a part of a schema. An ordinary index takes the place of an R-tree where SQLite was built without these.
    func make(_ statement: SchemaStatement) throws {
        do {
            for text in try SchemaRenderer.texts(of: statement, in: dialect) { try execute(text) }
        } catch let failure as SQLFailure where failure.isMissingModule {
            guard case .rTree(let tree) = statement else { throw failure }
            try make(.index(tree.substitute))
        }
    }
}
