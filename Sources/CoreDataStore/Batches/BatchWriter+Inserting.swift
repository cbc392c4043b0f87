import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// What a batch insert does with a row whose unique values another row has.
package enum BatchConflict: Sendable {
    /// Nothing is inserted.
    case fail
    /// The row that is there takes the values that were given.
    case update
    /// The row that is there stays as it is.
    case keep
}

extension BatchWriter {
    /// Inserts a portion of rows of an entity.
    ///
    ///     // INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, …) VALUES (?, ?, ?, …), (?, ?, ?, …), …
    ///
    /// - Parameters:
    ///   - build: makes the row with that index and key, and the columns that were given a value.
    /// - Returns: the keys of the rows that were inserted or updated.
    package func insert(
        entity: Int, count: Int, _ conflict: BatchConflict,
        build: (Int, Int64) throws -> (row: RowSnapshot, given: IndexMask)
    ) throws -> [RowKey] {
        guard count > 0 else { return [] }
        let root = engine.model.entities[entity].root
        let table = try engine.saveTables.table(of: entity)
        guard conflict != .fail, !table.constraints.isEmpty else {
            let keys = try engine.takeKeys(root: root, count: count, connection)
            var changes = ChangeSet()
            changes.insertions.reserveCapacity(count)
            for (index, key) in keys.enumerated() { changes.insertions.append(.init(row: try build(index, key).row)) }
            try write(changes)
            return keys.map { RowKey(entity: entity, primaryKey: $0) }
        }
        return try upsert(Array(try (0..<count).map { try build($0, 0) }), table, root, conflict)
    }

    // MARK: Rows that are there

    private struct Claim: Hashable {
        var constraint: SaveTables.Constraint
        var values: [SQLValue]
    }

    private func upsert(
        _ rows: [(row: RowSnapshot, given: IndexMask)], _ table: SaveTables.Table, _ root: Int,
        _ conflict: BatchConflict
    ) throws -> [RowKey] {
        let stored = try storedRows(rows.map(\.row), table)
        let known = Dictionary(
            try self.rows(Array(Set(stored.values)), root: root).map { ($0.primaryKey, $0) },
            uniquingKeysWith: { first, _ in first })
        var updates: [(old: RowSnapshot, new: RowSnapshot)] = []
        var updateOfKey: [Int64: Int] = [:]
        var new: [RowSnapshot] = []
        var newOfClaim: [Claim: Int] = [:]
        for (row, given) in rows {
            let claims = claims(of: row, table)
            if let key = claims.lazy.compactMap({ stored[$0] }).first, let old = known[key] {
                guard conflict == .update else { continue }
                guard old.entity == row.entity else { throw SaveFailure.constraints([]) }
                let place = updateOfKey[key] ?? updates.count
                if place == updates.count {
                    updateOfKey[key] = place
                    updates.append((old, old))
                }
                updates[place].new = merged(
                    updates[place].new, row, given, table, key: key, version: old.version &+ 1)
            } else if let index = claims.lazy.compactMap({ newOfClaim[$0] }).first {
                guard conflict == .update else { continue }
                new[index] = merged(new[index], row, given, table, key: 0, version: 1)
            } else {
                for claim in claims { newOfClaim[claim] = new.count }
                new.append(row)
            }
        }
        var changes = ChangeSet()
        changes.updates = updates.map { ChangeSet.Update(old: $0.old, new: $0.new) }
        if !new.isEmpty {
            let keys = try engine.takeKeys(root: root, count: new.count, connection)
            changes.insertions = zip(new, keys).map { row, key in
                .init(row: merged(row, row, IndexMask(), table, key: key, version: 1))
            }
        }
        try write(changes)
        return changes.updates.map(\.new.key) + changes.insertions.map(\.row.key)
    }

    /// A row with the given columns of another one.
    private func merged(
        _ row: RowSnapshot, _ other: RowSnapshot, _ given: IndexMask, _ table: SaveTables.Table, key: Int64,
        version: Int32
    ) -> RowSnapshot {
        let builder = RowBuilder(columnCount: table.kinds.count)
        for (column, kind) in table.kinds.enumerated() {
            builder.copy(column, kind: kind, from: given.contains(column) ? other : row)
        }
        return builder.finish(primaryKey: key, version: version, entity: row.entity)
    }

    private func claims(of row: RowSnapshot, _ table: SaveTables.Table) -> [Claim] {
        table.constraints.compactMap { constraint in
            row.values(constraint.columns, table.kinds).map { Claim(constraint: constraint, values: $0) }
        }
    }

    /// The keys of the rows that have the values already.
    private func storedRows(_ rows: [RowSnapshot], _ table: SaveTables.Table) throws -> [Claim: Int64] {
        var stored: [Claim: Int64] = [:]
        for constraint in table.constraints {
            let wanted = rows.compactMap { $0.values(constraint.columns, table.kinds) }
            // Each by itself: a decimal may be read otherwise than it was written.
            try ConstraintLookup(
                connection: connection, table: table.name, columns: constraint.columnNames, rowsPerStatement: 1
            ).find(wanted) { values, key, _ in stored[Claim(constraint: constraint, values: values)] = key }
        }
        return stored
    }
}
