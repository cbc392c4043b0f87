import CoreDataSQL

// An R-tree stays with its table where the newer model has the same one. Every other one goes before rows move, and is made of the rows
// in the end: the triggers that keep it would go with its table, and it would have the rows as they were.
extension MigrationPlanner {
    /// - Parameter tables: those that stay where they are.
    func rTreeRemovals(keeping tables: Set<String>) throws -> [MigrationStep] {
        let kept = Set(try keptTrees(tables).map(\.name))
        return source.parts.filter(\.isRTree).filter { !kept.contains($0.name) }.flatMap { tree in
            source.parts.filter { $0.kind == .trigger && $0.mentions(tree.name) }.map {
                MigrationStep(.change(.dropTrigger($0.name, on: $0.table)), "stop keeping the R-tree \(tree.name)")
            } + [MigrationStep(.change(.dropTable(tree.name)), "drop the old R-tree \(tree.name)")]
        }
    }

    /// Makes those that the newer model has and the store has not any more.
    func rTreeSteps(keeping tables: Set<String>) throws -> [MigrationStep] {
        let kept = try keptTrees(tables)
        return try target.rTrees().filter { !kept.contains($0) }.map { tree in
            var tree = tree
            tree.takesRows = true
            return MigrationStep(.create(.rTree(tree)), "make the R-tree \(tree.name) of the rows of \(tree.table)")
        }
    }

    private func keptTrees(_ tables: Set<String>) throws -> [CreateRTree] {
        try RTrees.found(target.rTrees().filter { tables.contains($0.table) }, source.parts, in: dialect)
    }
}

extension MigrationSource.Part {
    /// Whether it is an R-tree of this library or of Apple's.
    fileprivate var isRTree: Bool {
        kind == .table && name.hasPrefix(CreateRTree.prefix) && text?.uppercased().contains("USING RTREE") == true
    }

    /// Whether the statement reads or writes the table.
    fileprivate func mentions(_ table: String) -> Bool {
        guard let text else { return false }
        return text.contains("\(table) ") || text.contains(SQLIdentifier.quoted(table))
    }
}
