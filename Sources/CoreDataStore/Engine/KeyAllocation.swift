import CoreDataSQL

extension StoreEngine {
    /// Allocates primary keys of a root entity permanently, in a separate transaction: for objects that need a
    /// permanent ID before they are saved.
    ///
    /// Keys are never assigned twice, even if they remain unused.
    package func allocateKeys(root: Int, count: Int) throws -> ClosedRange<Int64> {
        if database.dialect.writesTogether {
            let taken = try retrying { try takeReservedKeys([root: count]) }
            guard let keys = taken[root] else { preconditionFailure("no keys") }
            return keys
        }
        return try write { try takeKeys(root: root, count: count, $0) }
    }

    /// The number of keys to reserve at once if writers run concurrently.
    private static let reservedKeyCount = 256

    /// Takes keys from this engine's reservation, and reserves more in a separate transaction if necessary. If a save
    /// incremented a counter itself, all other inserting saves would wait for its end.
    ///
    /// Reserved keys that are never used are lost; they are not assigned again.
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
                        // Fewer keys may be left than requested.
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

    /// Discards the reservation if another client has used one of its keys.
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

    /// Returns the highest assigned key of each hierarchy, by root entity.
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

    /// Raises the key counters to the highest existing keys, or to those that another store assigned.
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

    /// Increments the root's counter, within the caller's transaction.
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
            // As in Apple's stores, the rows of the history are added with its first transaction.
            try BookkeepingCreation.numberHistory(in: connection)
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

    /// Increments the counter in a single statement, if it still has the value that this engine set; `nil` if another
    /// client changed it, or the transaction that did rolled back.
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
