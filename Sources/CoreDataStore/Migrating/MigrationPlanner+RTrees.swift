import CoreDataSQL

// Keeps an R-tree with its table if the newer model has the same one. All others are dropped before rows move and
// rebuilt at the end: their triggers would be dropped with their table, and their content would be stale.
extension MigrationPlanner {
    /// - Parameter tables: the tables that remain.
    func rTreeRemovals(keeping tables: Set<String>) throws -> [MigrationStep] {
        let kept = Set(try keptTrees(tables).map(\.name))
        return source.parts.filter(\.isRTree).filter { !kept.contains($0.name) }.flatMap { tree in
            source.parts.filter { $0.kind == .trigger && $0.mentions(tree.name) }.map {
                MigrationStep(.change(.dropTrigger($0.name, on: $0.table)), "stop keeping the R-tree \(tree.name)")
            } + [MigrationStep(.change(.dropTable(tree.name)), "drop the old R-tree \(tree.name)")]
        }
    }

    /// Returns the steps that build the R-trees of the newer model that the store no longer has.
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

extension CatalogPart {
    /// Whether it is an R-tree of this library or of Apple's.
    fileprivate var isRTree: Bool {
        kind == .table && name.hasPrefix(CreateRTree.prefix) && text?.uppercased().contains("USING RTREE") == true
    }

    /// Returns whether the statement reads or writes the table.
    fileprivate func mentions(_ table: String) -> Bool {
        guard let text else { return false }
        return text.contains("\(table) ") || text.contains(SQLIdentifier.quoted(table))
    }
}
