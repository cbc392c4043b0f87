import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Finds out, after a save was rolled back, which of its rows stood in its way: all of them, not only the first.
///
/// Most saves succeed, so nothing is asked of the database before one has failed.
struct SaveInquest {
    let engine: StoreEngine
    let connection: any SQLConnection

    private var tables: SaveTables { engine.saveTables }

    /// What to tell: outdated rows, else unique values that are taken; `nil` when the store shows neither.
    func failure(of changes: ChangeSet) throws -> SaveFailure? {
        let conflicts = try conflicts(changes)
        if !conflicts.isEmpty { return .conflicts(conflicts) }
        let violations = try violations(changes)
        return violations.isEmpty ? nil : .constraints(violations)
    }

    // MARK: Outdated rows

    private func conflicts(_ changes: ChangeSet) throws -> [SaveFailure.Conflict] {
        // A row to be deleted that is gone is as it shall be.
        let deletions = try changes.deletions.filter { try version(of: $0.key) != nil }
        let expected =
            changes.updates.map { (key: $0.old.key, version: $0.old.version) }
            + deletions.map { (key: $0.key, version: $0.version) }
            + changes.checks.map { (key: $0.key, version: $0.version) }
        return try expected.compactMap { key, version in
            guard try self.version(of: key) != Int64(version) else { return nil }
            // On this thread the engine reads by the same connection, so the row is of the same state.
            let persisted = try engine.row(key.primaryKey, root: engine.model.entities[key.entity].root)
            return SaveFailure.Conflict(key: key, expectedVersion: version, persisted: persisted)
        }
    }

    private func version(of key: RowKey) throws -> Int64? {
        var select = SelectStatement([.init(SaveTables.version())], from: try source(key.entity))
        select.condition = Self.hasKey
        let statement = try connection.statement(select)
        defer { statement.reset() }
        try statement.bind(key.primaryKey, at: 0)
        return try statement.step() ? statement.integer(0) : nil
    }

    // MARK: Unique values

    private struct Claim: Hashable {
        var constraint: ConstraintKey
        var values: [SQLValue]
    }

    private struct ConstraintKey: Hashable {
        var table: String
        var columnNames: [String]
    }

    /// Compares every changed row with the store as it would be without the rows that the save deletes or changes.
    private func violations(_ changes: ChangeSet) throws -> [SaveFailure.ConstraintViolation] {
        var gone: [String: Set<Int64>] = [:]
        for deletion in changes.deletions {
            gone[try tables.table(of: deletion.key.entity).name, default: []].insert(deletion.key.primaryKey)
        }
        // Updated rows are judged by what they become.
        for update in changes.updates {
            gone[try tables.table(of: update.new.entity).name, default: []].insert(update.new.primaryKey)
        }
        var claims: [Claim: RowKey] = [:]
        var violations: [SaveFailure.ConstraintViolation] = []
        // What has the values longest is the row that exists: updates that keep them, others, inserts.
        let updates =
            changes.updates.filter { !Self.changesUniqueValue($0, tables) }
            + changes.updates.filter { Self.changesUniqueValue($0, tables) }
        for row in updates.map(\.new) + changes.insertions.map(\.row) {
            let table = try tables.table(of: row.entity)
            for constraint in table.constraints {
                guard let values = row.values(constraint.columns, table.kinds) else { continue }
                let key = ConstraintKey(table: table.name, columnNames: constraint.columnNames)
                let claim = Claim(constraint: key, values: values)
                let stored = try storedRow(with: values, constraint, table, besides: gone[table.name] ?? [])
                guard let existing = stored ?? claims[claim] else {
                    claims[claim] = row.key
                    continue
                }
                violations.append(
                    .init(
                        entity: constraint.entity, slots: constraint.slots, changed: row.key, existing: existing))
            }
        }
        return violations
    }

    private static func changesUniqueValue(_ update: ChangeSet.Update, _ tables: SaveTables) -> Bool {
        guard let table = try? tables.table(of: update.new.entity) else { return false }
        return table.constraints.contains { constraint in
            constraint.columns.contains {
                !update.old.isEqual(to: update.new, at: $0, kind: table.kinds[$0])
            }
        }
    }

    private func storedRow(
        with values: [SQLValue], _ constraint: SaveTables.Constraint, _ table: SaveTables.Table,
        besides gone: Set<Int64>
    ) throws -> RowKey? {
        var select = SelectStatement(
            ["Z_PK", "Z_ENT"].map { .init(.column(nil, $0)) }, from: try source(table.entity))
        select.condition = .and(
            zip(constraint.columnNames, values).map { .comparison(.equal, .column(nil, $0), .bind($1)) })
        let statement = try connection.statement(select)
        defer { statement.reset() }
        while try statement.step() {
            let key = statement.integer(0)
            guard !gone.contains(key) else { continue }
            let entity = tables.layout.ordinalByNumber[statement.integer(1)] ?? table.entity
            return RowKey(entity: entity, primaryKey: key)
        }
        return nil
    }

    // MARK: Statements

    private static let hasKey = SQLExpression.comparison(.equal, .column(nil, "Z_PK"), .parameter)

    private func source(_ entity: Int) throws -> SelectStatement.Source {
        let name = try tables.table(of: entity).name
        return .init(name, as: name)
    }
}
