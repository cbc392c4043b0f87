import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Orders the writes of a save so that each is valid when it runs, and groups them by statement.
///
///     rows checked, links removed, rows deleted, values parked, rows updated, rows inserted, links inserted, metadata
///
/// Deletes come first because other rows may take their unique values; inserts follow updates for the same reason. Two
/// updates that exchange a unique value need an intermediate state: the value that another row takes is parked, that
/// is, set to NULL, which conflicts with nothing.
///
///     A.code "x" → "y", B.code "y" → "x"      // park B.code, update A, update B
///
/// The planner never accesses a database.
struct SavePlanner {
    let tables: SaveTables

    /// - Throws: ``StoreFailure`` for an entity or relationship that the store lacks.
    func plan(_ changes: ChangeSet) throws -> SavePlan {
        var plan = SavePlan()
        plan.checks = try checks(changes.checks)
        plan.deletions = try deletions(changes.deletions)
        plan.parkings = try parkings(changes.updates)
        plan.updates = try updates(changes.updates)
        if changes.absorptions.isEmpty {
            plan.insertions = try insertions(changes.insertions)
        } else {
            try addInsertions(of: changes, to: &plan)
        }
        if !changes.links.isEmpty {
            plan.removedLinks = try links(changes.links, .remove)
            plan.insertedLinks = try links(changes.links, .insert)
        }
        plan.metadata = changes.metadata
        return plan
    }

    // MARK: Rows

    private func checks(_ checks: [ChangeSet.Check]) throws -> [SavePlan.Checks] {
        try grouped(
            checks, by: { $0.key.entity },
            { SavePlan.Checks(sql: tables.check(of: try tables.table(of: $0)), rows: $1) })
    }

    private func deletions(_ deletions: [ChangeSet.Deletion]) throws -> [SavePlan.Deletions] {
        try grouped(deletions, by: { $0.key.entity }, { try deletion(from: tables.table(of: $0), $1) })
    }

    private func deletion(from table: SaveTables.Table, _ rows: [ChangeSet.Deletion]) -> SavePlan.Deletions {
        func isBefore(_ a: ChangeSet.Deletion, _ b: ChangeSet.Deletion) -> Bool {
            (a.version, a.key.primaryKey) < (b.version, b.key.primaryKey)
        }
        // Usually they are in order already.
        let isSorted = !rows.indices.dropFirst().contains { isBefore(rows[$0], rows[$0 - 1]) }
        let rows = isSorted ? rows : rows.sorted(by: isBefore)
        var ranges: [Range<Int>] = []
        var first = 0
        for index in 1...rows.count {
            if index < rows.count, rows[index].version == rows[first].version,
                rows[index].key.primaryKey == rows[index - 1].key.primaryKey + 1
            {
                continue
            }
            if index - first >= Self.shortestRange { ranges.append(first..<index) }
            first = index
        }
        return SavePlan.Deletions(
            table: table, rows: rows,
            consecutive: ranges.isEmpty ? nil : .init(sql: tables.rangeDeletion(from: table), ranges: ranges),
            several: several(of: rows.count, values: 1) { tables.deletion(from: table, rows: $0) },
            rangeCheck: tables.rangeCheck(of: table))
    }

    /// The minimum number of rows for a range statement.
    private static let shortestRange = 4

    func insertions(_ insertions: [ChangeSet.Insertion]) throws -> [SavePlan.Insertions] {
        if let entity = insertions.first?.row.entity,
            insertions.indices.allSatisfy({ insertions[$0].row.entity == entity })
        {
            return [insertion(into: try tables.table(of: entity), insertions)]
        }
        return try grouped(insertions, by: { $0.row.entity }, { insertion(into: try tables.table(of: $0), $1) })
    }

    func insertion(into table: SaveTables.Table, _ rows: [ChangeSet.Insertion]) -> SavePlan.Insertions {
        let arrays = tables.bindsRowsAsArrays(rows.count) ? tables.arrayInsertion(into: table) : nil
        return SavePlan.Insertions(
            several: arrays != nil
                ? nil
                : several(of: rows.count, values: 3 + table.columns.count) {
                    tables.insertion(into: table, rows: $0)
                }, arrays: arrays, single: table.insertion, table: table, rows: rows)
    }

    /// Returns the statement for several rows of `values` values each, if there are enough rows.
    func several(of count: Int, values: Int, _ sql: (Int) -> String) -> SavePlan.Several? {
        let rows = tables.rowsPerStatement(values: values)
        return rows > 1 && count >= rows ? SavePlan.Several(sql: sql(rows), rows: rows, values: values) : nil
    }

    private func updates(_ updates: [ChangeSet.Update]) throws -> [SavePlan.Updates] {
        if let step = try uniformUpdates(updates) { return [step] }
        if updates.count <= Self.fewRows { return try fewUpdates(updates) }
        return try grouped(
            updates, by: { try form(of: $0) }, { step($0, $1) })
    }

    /// The number of rows up to which a linear search of the groups is fastest.
    private static let fewRows = 8

    private func fewUpdates(_ updates: [ChangeSet.Update]) throws -> [SavePlan.Updates] {
        var steps: [SavePlan.Updates] = []
        for index in updates.indices {
            let form = try form(of: updates[index])
            if let place = steps.firstIndex(where: { $0.form === form }) {
                steps[place].rows.append(updates[index])
            } else {
                steps.append(SavePlan.Updates(several: nil, form: form, rows: [updates[index]]))
            }
        }
        return steps
    }

    private func form(of update: ChangeSet.Update) throws -> UpdateForm {
        let table = try tables.table(of: update.new.entity)
        return tables.form(of: table, Self.changedColumns(update, table))
    }

    /// Returns the single step if all rows have the same entity and changed columns, as after most loops. It copies no
    /// updates, which would count their references.
    private func uniformUpdates(_ updates: [ChangeSet.Update]) throws -> SavePlan.Updates? {
        guard let entity = updates.first?.new.entity, let columns = updates.first?.columns else { return nil }
        let table = try tables.table(of: entity)
        guard table.hasEveryColumn else { return nil }
        for index in updates.indices {
            guard updates[index].new.entity == entity, updates[index].columns?.isSame(as: columns) ?? false else {
                return nil
            }
        }
        return step(tables.form(of: table, columns), updates)
    }

    private func step(_ form: UpdateForm, _ rows: [ChangeSet.Update]) -> SavePlan.Updates {
        let table = form.table
        // For rows with unique values, SQLite would write a statement journal. External data files are written when a
        // row is bound, which must happen only once.
        let isPlain =
            tables.dialect.updatesByInserting && table.constraints.isEmpty && form.externalColumns.isEmpty
            && rows.indices.allSatisfy { rows[$0].new.version == rows[$0].old.version &+ 1 }
        return SavePlan.Updates(
            several: !isPlain
                ? nil
                : several(of: rows.count, values: 2 + form.columns.count) {
                    tables.update(of: table, form.mask, rows: $0)
                }, arrays: tables.bindsRowsAsArrays(rows.count) ? tables.arrayUpdate(of: table, form.mask) : nil,
            form: form,
            rows: rows)
    }

    private static func changedColumns(_ update: ChangeSet.Update, _ table: SaveTables.Table) -> IndexMask {
        if let known = update.columns, table.hasEveryColumn { return known }
        var mask = IndexMask()
        guard !update.old.isIdentical(to: update.new) else { return mask }
        for column in table.columns
        where !update.old.isEqual(to: update.new, at: column, kind: table.kinds[column]) {
            mask.insert(column)
        }
        return mask
    }

    // MARK: Unique values

    private struct UniqueValue: Hashable {
        var table: String
        var columnNames: [String]
        var values: [SQLValue]
    }

    private struct ParkedColumn: Hashable {
        var table: String
        var column: String
    }

    /// Returns the rows whose old unique value another updated row takes. Setting one changed column to NULL suffices.
    private func parkings(_ updates: [ChangeSet.Update]) throws -> [SavePlan.Parking] {
        guard tables.hasConstraints else { return [] }
        var taken: Set<UniqueValue> = []
        var given: [(value: UniqueValue, column: ParkedColumn, key: Int64)] = []
        for update in updates {
            let table = try tables.table(of: update.new.entity)
            for constraint in table.constraints {
                guard
                    let changed = constraint.columns.firstIndex(where: {
                        !update.old.isEqual(to: update.new, at: $0, kind: table.kinds[$0])
                    })
                else { continue }
                func value(_ row: RowSnapshot) -> UniqueValue? {
                    row.values(constraint.columns, table.kinds).map {
                        UniqueValue(table: table.name, columnNames: constraint.columnNames, values: $0)
                    }
                }
                if let new = value(update.new) { taken.insert(new) }
                if let old = value(update.old) {
                    let column = ParkedColumn(table: table.name, column: constraint.columnNames[changed])
                    given.append((old, column, update.old.primaryKey))
                }
            }
        }
        guard !taken.isEmpty else { return [] }
        return grouped(given.filter { taken.contains($0.value) }, by: \.column) { column, rows in
            let update = UpdateStatement(
                column.table, set: [.init(column.column, .null)],
                where: .comparison(.equal, .column(nil, "Z_PK"), .parameter))
            return SavePlan.Parking(sql: update.text(in: tables.dialect).sql, keys: rows.map(\.key))
        }
    }

    // MARK: Links

    private func links(_ links: [ChangeSet.Link], _ kind: ChangeSet.Link.Kind) throws -> [SavePlan.Links] {
        try grouped(
            links.filter { $0.kind == kind },
            by: { StoreLayout.Relationship(entity: $0.entity, slot: $0.slot) },
            { relationship, links in
                let table = try joinTable(relationship)
                let isReflexive = isReflexive(relationship)
                var rows: [SavePlan.Links.Row] = []
                for link in links {
                    rows.append(row(link, table, isReflexive: isReflexive))
                    guard isReflexive, link.owner != link.destination else { continue }
                    // A relationship that is its own inverse contains the pair in both directions.
                    var mirrored = link
                    (mirrored.owner, mirrored.destination) = (link.destination, link.owner)
                    (mirrored.order, mirrored.inverseOrder) = (link.inverseOrder, link.order)
                    rows.append(row(mirrored, table, isReflexive: true))
                }
                guard kind == .insert else { return SavePlan.Links(sql: removal(table), rows: rows) }
                return SavePlan.Links(
                    sql: insertion(table),
                    arrays: tables.bindsRowsAsArrays(rows.count) && canComeTogether(rows, table)
                        ? tables.arrayInsertion(into: table) : nil,
                    rows: rows)
            })
    }

    /// Returns whether no pair occurs twice with orders, which one statement must not write.
    private func canComeTogether(_ rows: [SavePlan.Links.Row], _ table: StoreLayout.JoinTable) -> Bool {
        if table.orderColumn == nil, table.inverseOrderColumn == nil { return true }
        struct Pair: Hashable {
            var owner: Int64
            var destination: Int64
        }
        var known = Set<Pair>(minimumCapacity: rows.count)
        return rows.allSatisfy { known.insert(Pair(owner: $0.owner, destination: $0.destination)).inserted }
    }

    private func row(
        _ link: ChangeSet.Link, _ table: StoreLayout.JoinTable, isReflexive: Bool
    ) -> SavePlan.Links.Row {
        var row = SavePlan.Links.Row(owner: link.owner, destination: link.destination)
        guard link.kind == .insert else { return row }
        if table.orderColumn != nil { row.orders.append(link.order) }
        if table.inverseOrderColumn != nil { row.orders.append(link.inverseOrder) }
        return row
    }

    private func joinTable(_ relationship: StoreLayout.Relationship) throws -> StoreLayout.JoinTable {
        if let table = tables.layout.joinTables[relationship] { return table }
        let entity = tables.model.entities[relationship.entity]
        let property = entity.properties[relationship.slot]
        // The layout identifies the relationship by its declaring entity.
        let declared = StoreLayout.Relationship(entity: property.declaringEntity, slot: relationship.slot)
        if let table = tables.layout.joinTables[declared] { return table }
        throw StoreFailure(
            .incompleteSchema, "The store has no table for the relationship '\(entity.name).\(property.name)'.",
            entity: entity.name, property: property.name)
    }

    private func isReflexive(_ relationship: StoreLayout.Relationship) -> Bool {
        let property = tables.model.entities[relationship.entity].properties[relationship.slot]
        guard let value = property.relationship, let inverse = tables.model.inverse(of: value) else { return false }
        return inverse.slot == property.slot && inverse.declaringEntity == property.declaringEntity
    }

    /// Returns the insertion; an existing pair gets the new orders.
    private func insertion(_ table: StoreLayout.JoinTable) -> String {
        let columns = table.pairColumns
        let insert = InsertStatement(
            into: table.name, columns: columns, rows: [Array(repeating: .parameter, count: columns.count)])
        return SaveTables.ofPairs(insert, table).text(in: tables.dialect).sql
    }

    private func removal(_ table: StoreLayout.JoinTable) -> String {
        let condition = SQLExpression.and([
            .comparison(.equal, .column(nil, table.ownerColumn), .parameter),
            .comparison(.equal, .column(nil, table.destinationColumn), .parameter),
        ])
        return DeleteStatement(from: table.name, where: condition).text(in: tables.dialect).sql
    }

    // MARK: Groups

    /// Groups the elements by key, in the order of their first element. If all have the same key, the common case, they
    /// are not copied.
    func grouped<Element, Key: Hashable, Group>(
        _ elements: [Element], by key: (Element) throws -> Key, _ make: (Key, [Element]) throws -> Group
    ) rethrows -> [Group] {
        guard let first = elements.first else { return [] }
        var keys = [try key(first)]
        var index = 1
        while index < elements.count, try key(elements[index]) == keys[0] { index += 1 }
        if index == elements.count { return [try make(keys[0], elements)] }
        var groups = [Array(elements[..<index])]
        // A dictionary pays off only for many keys.
        var indexes: [Key: Int] = [:]
        var last = 0
        for element in elements[index...] {
            let key = try key(element)
            // Equal keys are usually adjacent.
            if keys[last] != key {
                last = keys.count <= 8 ? keys.firstIndex(of: key) ?? keys.count : indexes[key] ?? keys.count
                if last == keys.count {
                    keys.append(key)
                    groups.append([])
                    if keys.count == 9 {
                        for (index, key) in keys.enumerated() { indexes[key] = index }
                    } else if keys.count > 9 {
                        indexes[key] = last
                    }
                }
            }
            groups[last].append(element)
        }
        return try zip(keys, groups).map(make)
    }
}

extension RowSnapshot {
    /// Returns the columns' values; `nil` if one of them is NULL.
    func values(_ columns: [Int], _ kinds: [ColumnKind]) -> [SQLValue]? {
        var values: [SQLValue] = []
        for column in columns {
            guard !isNull(column) else { return nil }
            switch kinds[column] {
            case .integer: values.append(.integer(integer(column)))
            case .real: values.append(.real(real(column)))
            case .text: values.append(.text(text(column)))
            case .blob: values.append(.blob(withBytes(column) { .init($0) }))
            }
        }
        return values
    }
}
