import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// The action of a batch insert for a row whose unique values another row has.
package enum BatchConflict: Sendable {
    /// The request fails, and nothing is inserted.
    case fail
    /// The existing row gets the given values.
    case update
    /// The existing row is unchanged.
    case keep
}

/// The row with a unique value belongs to another entity of the hierarchy, which lacks some of the given properties.
package struct MissingPlaces: EngineFailure {
    package var entity: String
    package var survivor: String
    package var properties: [String]
}

extension RowLayout.Role {
    fileprivate func slot(in entity: CompiledEntity) -> String {
        switch self {
        case .attribute(let slot), .destinationKey(let slot), .destinationEntity(let slot), .order(let slot),
            .ownerKey(_, let slot), .ownerOrder(_, let slot):
            entity.properties[slot].name
        }
    }
}

extension BatchWriter {
    /// Inserts a portion of rows of an entity, and assigns their keys.
    ///
    ///     // INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, …) VALUES (?, ?, ?, …), (?, ?, ?, …), …
    ///
    /// - Parameters:
    ///   - rows: rows that no other code uses.
    ///   - given: the columns of each row that were given a value; called only if a unique value may exist already.
    ///   - mandatory: the required values of new rows; an existing row may lack them, unless it is given nil.
    ///   - first: the number of the portion's first row.
    /// - Returns: the number of inserted or updated rows, and their keys if requested.
    package func insert(
        entity: Int, _ rows: [ChangeSet.Insertion], given: [IndexMask], _ mandatory: MandatoryColumns, first: Int,
        _ conflict: BatchConflict, wantsKeys: Bool
    ) throws -> (count: Int, keys: [RowKey]) {
        guard !rows.isEmpty else { return (0, []) }
        try checkDestinations(rows, of: entity)
        var new = ChangeSet()
        new.insertions = rows
        try engine.roundDates(new)
        let root = engine.model.entities[entity].root
        let table = try engine.saveTables.table(of: entity)
        guard conflict != .fail, !table.constraints.isEmpty else {
            if !mandatory.columns.isEmpty {
                for index in rows.indices { try mandatory.check(rows[index].row, number: first + index) }
            }
            let keys = try engine.takeKeys(root: root, count: rows.count, connection)
            for (index, key) in keys.enumerated() { rows[index].row.assign(primaryKey: key) }
            try writeBothSides(new)
            return (rows.count, wantsKeys ? keys.map { RowKey(entity: entity, primaryKey: $0) } : [])
        }
        let keys = try upsert(zip(rows, given).map { ($0.row, $1) }, table, root, mandatory, first, conflict)
        return (keys.count, wantsKeys ? keys : [])
    }

    // MARK: Existing rows

    private struct Claim: Hashable {
        var constraint: SaveTables.Constraint
        var values: [SQLValue]
    }

    private func upsert(
        _ rows: [(row: RowSnapshot, given: IndexMask)], _ table: SaveTables.Table, _ root: Int,
        _ mandatory: MandatoryColumns, _ first: Int, _ conflict: BatchConflict
    ) throws -> [RowKey] {
        let stored = try storedRows(rows.map(\.row), table)
        let known = Dictionary(
            try self.rows(Array(Set(stored.values)), root: root).map { ($0.primaryKey, $0) },
            uniquingKeysWith: { first, _ in first })
        var updates: [(old: RowSnapshot, new: RowSnapshot)] = []
        var updateOfKey: [Int64: Int] = [:]
        var new: [RowSnapshot] = []
        /// The original row number of each row.
        var numbers: [Int] = []
        var newOfClaim: [Claim: Int] = [:]
        for (number, (row, given)) in zip(first..., rows) {
            let claims = claims(of: row, table)
            if let key = claims.lazy.compactMap({ stored[$0] }).first, let old = known[key] {
                guard conflict == .update else { continue }
                try mandatory.check(row, number: number, given: given)
                let place = updateOfKey[key] ?? updates.count
                if place == updates.count {
                    updateOfKey[key] = place
                    updates.append((old, old))
                }
                updates[place].new =
                    old.entity == row.entity
                    ? merged(updates[place].new, row, given, table, key: key, version: old.version &+ 1)
                    : try merged(updates[place].new, row, given, of: row.entity, version: old.version &+ 1)
            } else if let index = claims.lazy.compactMap({ newOfClaim[$0] }).first {
                guard conflict == .update else { continue }
                try mandatory.check(row, number: number, given: given)
                new[index] = merged(new[index], row, given, table, key: 0, version: 1)
            } else {
                for claim in claims { newOfClaim[claim] = new.count }
                new.append(row)
                numbers.append(number)
            }
        }
        for (row, number) in zip(new, numbers) { try mandatory.check(row, number: number) }
        var changes = ChangeSet()
        changes.updates = updates.map { ChangeSet.Update(old: $0.old, new: $0.new) }
        if !new.isEmpty {
            let keys = try engine.takeKeys(root: root, count: new.count, connection)
            changes.insertions = zip(new, keys).map { row, key in
                .init(row: merged(row, row, IndexMask(), table, key: key, version: 1))
            }
        }
        try writeBothSides(changes)
        return changes.updates.map(\.new.key) + changes.insertions.map(\.row.key)
    }

    /// Returns a row with the given columns of another one.
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

    /// Returns a row of an entity with the given values of a row of another entity of its hierarchy.
    private func merged(
        _ row: RowSnapshot, _ other: RowSnapshot, _ given: IndexMask, of entity: Int, version: Int32
    ) throws -> RowSnapshot {
        let (target, source) = (engine.model.entities[row.entity], engine.model.entities[entity])
        let kinds = target.rowLayout.kinds
        let builder = RowBuilder(columnCount: kinds.count)
        var missing: [String] = []
        for (column, kind) in kinds.enumerated() { builder.copy(column, kind: kind, from: row) }
        for column in given {
            guard let place = place(of: source.rowLayout.columns[column].role, of: source, in: target) else {
                if !other.isNull(column) { missing.append(source.rowLayout.columns[column].role.slot(in: source)) }
                continue
            }
            switch kinds[place] {
            case _ where other.isNull(column): builder.setNull(at: place)
            case .integer: builder.setInteger(other.integer(column), at: place)
            case .real: builder.setReal(other.real(column), at: place)
            case .text, .blob: other.withBytes(column) { builder.setBytes($0, at: place) }
            }
        }
        guard missing.isEmpty else {
            throw MissingPlaces(entity: source.name, survivor: target.name, properties: missing.sorted())
        }
        return builder.finish(primaryKey: row.primaryKey, version: version, entity: row.entity)
    }

    /// Returns the column that another entity of the hierarchy has for the same property.
    private func place(of role: RowLayout.Role, of source: CompiledEntity, in target: CompiledEntity) -> Int? {
        func slot(_ slot: Int) -> Int? {
            target.properties.first { $0.name == source.properties[slot].name }?.slot
        }
        let wanted: RowLayout.Role
        switch role {
        case .attribute(let place): if let same = slot(place) { wanted = .attribute(slot: same) } else { return nil }
        case .destinationKey(let place):
            if let same = slot(place) { wanted = .destinationKey(slot: same) } else { return nil }
        case .destinationEntity(let place):
            if let same = slot(place) { wanted = .destinationEntity(slot: same) } else { return nil }
        case .order(let place): if let same = slot(place) { wanted = .order(slot: same) } else { return nil }
        case .ownerKey, .ownerOrder: return nil
        }
        return target.rowLayout.columns.firstIndex { $0.role == wanted }
    }

    private func claims(of row: RowSnapshot, _ table: SaveTables.Table) -> [Claim] {
        table.constraints.compactMap { constraint in
            row.values(constraint.columns, table.kinds).map { Claim(constraint: constraint, values: $0) }
        }
    }

    /// Returns the keys of the rows that already have the values.
    private func storedRows(_ rows: [RowSnapshot], _ table: SaveTables.Table) throws -> [Claim: Int64] {
        var stored: [Claim: Int64] = [:]
        for constraint in table.constraints {
            let wanted = rows.compactMap { $0.values(constraint.columns, table.kinds) }
            // Look up each value separately: a decimal may be read differently than it was written.
            try ConstraintLookup(
                connection: connection, table: table.name, columns: constraint.columnNames, rowsPerStatement: 1
            ).find(wanted) { values, key, _ in stored[Claim(constraint: constraint, values: values)] = key }
        }
        return stored
    }
}
