import CoreDataSQL

extension StoreEngine {
    /// Takes primary keys of a root entity for good, in a transaction of its own: for objects that need a permanent
    /// ID before they are saved.
    ///
    /// Keys are never given out twice, not even those that end up unused.
    package func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64> {
        try checkWritable()
        return try database.write { try takeKeys(root: root, count: count, $0) }
    }

    /// Moves the root's counter on, within the caller's transaction.
    func takeKeys(root: Int, count: Int, _ connection: any SQLConnection) throws -> ClosedRange<Int64> {
        precondition(count > 0, "allocate at least one key")
        let table = try saveTables.table(of: root)
        if let keys = try takeKeys(afterKnown: root, table, count: count, connection) { return keys }
        let query = try connection.statement(table.keyQuery)
        defer { query.reset() }
        try query.bind(table.number, at: 0)
        guard try query.step() else {
            throw StoreFailure(
                .incompleteSchema,
                "Z_PRIMARYKEY has no row for entity '\(model.entities[root].name)' (Z_ENT \(table.number)).",
                entity: model.entities[root].name)
        }
        let last = query.integer(0)
        query.reset()
        let (end, isTooMuch) = last.addingReportingOverflow(Int64(count))
        guard !isTooMuch else {
            throw StoreFailure(
                .incompleteSchema, "The primary keys of entity '\(model.entities[root].name)' are used up.",
                entity: model.entities[root].name)
        }
        let update = try connection.statement(saveTables.keyUpdate)
        defer { update.reset() }
        try update.bind(end, at: 0)
        try update.bind(table.number, at: 1)
        try update.run()
        keyCounters.withLock { $0[root] = end }
        return (last + 1)...end
    }

    /// The same in one statement, where the file's counter is still as this engine left it; `nil` where somebody else has
    /// moved it, or a transaction that did was rolled back.
    private func takeKeys(
        afterKnown root: Int, _ table: SaveTables.Table, count: Int, _ connection: any SQLConnection
    ) throws -> ClosedRange<Int64>? {
        guard let last = keyCounters.withLock({ $0[root] }) else { return nil }
        let (end, isTooMuch) = last.addingReportingOverflow(Int64(count))
        if isTooMuch { return nil }
        let update = try connection.statement(saveTables.keyAdvance)
        defer { update.reset() }
        try update.bind(end, at: 0)
        try update.bind(table.number, at: 1)
        try update.bind(last, at: 2)
        guard try update.run() == 1 else { return nil }
        keyCounters.withLock { $0[root] = end }
        return (last + 1)...end
    }

    func checkWritable() throws {
        guard isReadOnly else { return }
        throw StoreFailure(
            .readOnly,
            isReadOnlyForHistory
                ? "The store keeps a history of its changes that would not be written; it was opened for reading only."
                : "The store was opened for reading only.")
    }
}

extension SaveTables.Table {
    /// The highest key in use. Migrated stores can have counters behind their tables.
    static func keyQuery(_ table: String) -> SelectStatement {
        let highest = SelectStatement(
            [.init(.aggregate(.maximum, .column(nil, "Z_PK"), distinct: false))], from: .init(table, as: table))
        var select = SelectStatement(
            [
                .init(
                    .function(
                        .greatest,
                        [
                            .function(.ifNull, [.column(nil, "Z_MAX"), .integer(0)]),
                            .function(.ifNull, [.scalar(highest), .integer(0)]),
                        ]))
            ], from: .init(BookkeepingSchema.primaryKeyTable, as: BookkeepingSchema.primaryKeyTable))
        select.condition = .comparison(.equal, .column(nil, "Z_ENT"), .parameter)
        return select
    }
}
