import CoreDataSQL

extension StoreEngine {
    /// Takes primary keys of a root entity for good, in a transaction of its own: for objects that need a permanent
    /// ID before they are saved.
    ///
    /// Keys are never given out twice, not even those that end up unused.
    package func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64> {
        if database.dialect.writesTogether {
            let taken = try retrying { try takeReservedKeys([root: count]) }
            guard let keys = taken[root] else { preconditionFailure("no keys") }
            return keys
        }
        return try write { try takeKeys(root: root, count: count, $0) }
    }

    /// So many keys are reserved at once where others write at the same time.
    private static let reservedKeyCount = 256

    /// Takes keys of those that are reserved for this engine, and reserves more in a transaction of its own where they do not
    /// suffice: a save that moved a counter would have everybody wait who inserts, until it has ended.
    ///
    /// What is reserved and never used is lost, not given out again.
    func takeReservedKeys(_ counts: [Int: Int]) throws -> [Int: ClosedRange<Int64>] {
        var taken: [Int: ClosedRange<Int64>] = [:]
        func take() -> [Int: Int] {
            reservedKeys.withLock { reserved in
                var missing: [Int: Int] = [:]
                for (root, count) in counts where count > 0 && taken[root] == nil {
                    guard let keys = reserved[root], keys.count >= count else {
                        missing[root] = count
                        continue
                    }
                    let last = keys.lowerBound + Int64(count - 1)
                    taken[root] = keys.lowerBound...last
                    reserved[root] = last == keys.upperBound ? nil : (last + 1)...keys.upperBound
                }
                return missing
            }
        }
        while case let missing = take(), !missing.isEmpty {
            let made = try writeBesideOthers { connection in
                try missing.sorted { $0.key < $1.key }.map { root, count in
                    do {
                        return (root, try takeKeys(root: root, count: max(count, Self.reservedKeyCount), connection))
                    } catch is StoreFailure {
                        // There may be as few left as are asked for.
                        return (root, try takeKeys(root: root, count: count, connection))
                    }
                }
            }
            reservedKeys.withLock { reserved in
                for (root, keys) in made { reserved[root] = keys }
            }
        }
        return taken
    }

    /// Gives up what is reserved where somebody has taken a key of it that nobody gave him.
    func forgetReservedKeys(upTo insertions: [ChangeSet.Insertion]) {
        reservedKeys.withLock { reserved in
            guard !reserved.isEmpty else { return }
            for insertion in insertions {
                let root = model.entities[insertion.row.entity].root
                guard let keys = reserved[root], keys.contains(insertion.row.primaryKey) else { continue }
                reserved[root] = nil
            }
        }
    }

    /// The highest key that was given out in each hierarchy, by root entity.
    package func highestKeys() throws -> [Int: Int64] {
        try database.read { connection in
            var keys: [Int: Int64] = [:]
            for root in model.entities.indices where model.entities[root].root == root && includes(entity: root) {
                let table = try saveTables.table(of: root)
                let query = try connection.statement(SaveTables.Table.keyQuery(table.name, locks: false))
                defer { query.reset() }
                try query.bind(table.number, at: 0)
                if try query.step() { keys[root] = query.integer(0) }
            }
            return keys
        }
    }

    /// Moves the counters of keys on to the highest keys that there are, or that somebody else has given out.
    func raiseKeyCounters(to others: [Int: Int64]) throws {
        let own = try highestKeys()
        try write { connection in
            for (root, key) in own.sorted(by: { $0.key < $1.key }) {
                let update = try connection.statement(saveTables.keyUpdate)
                defer { update.reset() }
                try update.bind(max(key, others[root] ?? 0), at: 0)
                try update.bind(try saveTables.table(of: root).number, at: 1)
                try update.run()
            }
        }
        keyCounters.withLock { $0.removeAll() }
    }

    /// Moves the root's counter on, within the caller's transaction.
    func takeKeys(root: Int, count: Int, _ connection: any SQLConnection) throws -> ClosedRange<Int64> {
        let table = try saveTables.table(of: root)
        let counter = KeyCounter(
            index: root, number: table.number, name: model.entities[root].name, query: table.keyQuery)
        return try takeKeys(of: counter, count: count, connection)
    }

    func takeKeys(of counter: KeyCounter, count: Int, _ connection: any SQLConnection) throws -> ClosedRange<Int64> {
        precondition(count > 0, "allocate at least one key")
        if let keys = try takeKeys(afterKnown: counter, count: count, connection) { return keys }
        let query = try connection.statement(counter.query(in: database.dialect))
        defer { query.reset() }
        try query.bind(counter.number, at: 0)
        var isThere = try query.step()
        if !isThere, counter.isOfHistory {
            query.reset()
            // As in Apple's stores, the rows of the history come with its first transaction.
            try StoreCreation.numberHistory(in: connection)
            try query.bind(counter.number, at: 0)
            isThere = try query.step()
        }
        guard isThere else {
            throw StoreFailure(
                .incompleteSchema,
                "\(dialect.stored("Z_PRIMARYKEY")) has no row for entity '\(counter.name)' (number \(counter.number)).",
                entity: counter.name)
        }
        let last = query.integer(0)
        query.reset()
        let (end, isTooMuch) = last.addingReportingOverflow(Int64(count))
        guard !isTooMuch else {
            throw StoreFailure(
                .incompleteSchema, "The primary keys of entity '\(counter.name)' are used up.", entity: counter.name)
        }
        let update = try connection.statement(saveTables.keyUpdate)
        defer { update.reset() }
        try update.bind(end, at: 0)
        try update.bind(counter.number, at: 1)
        try update.run()
        keyCounters.withLock { $0[counter.index] = end }
        return (last + 1)...end
    }

    /// The same in one statement, where the file's counter is still as this engine left it; `nil` where somebody else has
    /// moved it, or a transaction that did was rolled back.
    private func takeKeys(
        afterKnown counter: KeyCounter, count: Int, _ connection: any SQLConnection
    ) throws -> ClosedRange<Int64>? {
        guard let last = keyCounters.withLock({ $0[counter.index] }) else { return nil }
        let (end, isTooMuch) = last.addingReportingOverflow(Int64(count))
        if isTooMuch { return nil }
        let update = try connection.statement(saveTables.keyAdvance)
        defer { update.reset() }
        try update.bind(end, at: 0)
        try update.bind(counter.number, at: 1)
        try update.bind(last, at: 2)
        if connection.commitsAtOnce {
            try update.runLater(expecting: 1, otherwise: {})
        } else if try update.run() != 1 {
            return nil
        }
        keyCounters.withLock { $0[counter.index] = end }
        return (last + 1)...end
    }
}

/// A row of `Z_PRIMARYKEY` that counts the keys of a table.
struct KeyCounter {
    /// Tells it from others: a root entity's ordinal, or a negative number.
    var index: Int
    /// `Z_ENT`.
    var number: Int64
    var name: String
    private var query: String
    private var table: String?

    init(index: Int, number: Int64, name: String, query: String) {
        (self.index, self.number, self.name, self.query) = (index, number, name, query)
    }

    private init(ofHistory number: Int64, _ name: String, table: String) {
        self.init(index: -Int(number), number: number, name: name, query: "")
        self.table = table
    }

    /// Whether it counts rows of the history, not of the model.
    var isOfHistory: Bool { table != nil }

    static let changes = KeyCounter(
        ofHistory: BookkeepingSchema.changeNumber, "CHANGE", table: BookkeepingSchema.changeTable)
    static let transactions = KeyCounter(
        ofHistory: BookkeepingSchema.transactionNumber, "TRANSACTION", table: BookkeepingSchema.transactionTable)
    static let transactionStrings = KeyCounter(
        ofHistory: BookkeepingSchema.transactionStringNumber, "TRANSACTIONSTRING",
        table: BookkeepingSchema.transactionStringTable)

    /// Selects the highest key in use; bound: the number.
    ///
    /// - Parameter locks: whether others who ask wait until the transaction ends, where several write at once: not for who only reads.
    func query(in dialect: SQLDialect, locks: Bool = true) -> String {
        table.map { SaveTables.Table.keyQuery($0, locks: locks && dialect.writesTogether).text(in: dialect).sql }
            ?? query
    }
}

extension SaveTables.Table {
    /// The highest key in use. Migrated stores can have counters behind their tables.
    ///
    /// - Parameter locks: Whether others who ask wait until the transaction ends.
    static func keyQuery(_ table: String, locks: Bool) -> SelectStatement {
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
        if locks { select.lock = .update }
        return select
    }
}
