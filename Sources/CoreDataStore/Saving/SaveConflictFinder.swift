import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Finds all conflicting rows of a save, after it rolled back, not only the first.
///
/// Most saves succeed, so the database is queried only after a failure.
struct SaveConflictFinder {
    let tables: SaveTables
    let connection: any SQLConnection
    /// Returns the stored row with a key, read on the same connection; `nil` if there is none.
    let storedRow: (RowKey) throws -> RowSnapshot?

    /// Returns the failure: stale rows, else violations of unique constraints; `nil` if the store shows neither.
    func failure(of changes: ChangeSet) throws -> SaveFailure? {
        let conflicts = try conflicts(changes)
        if !conflicts.isEmpty { return .conflicts(conflicts) }
        let violations = try violations(changes)
        return violations.isEmpty ? nil : .constraints(violations)
    }

    // MARK: Stale rows

    private func conflicts(_ changes: ChangeSet) throws -> [SaveFailure.Conflict] {
        // A row to delete that is already missing is no conflict.
        let deletions = try changes.deletions.filter { try version(of: $0.key) != nil }
        let expected =
            changes.updates.map { (key: $0.old.key, version: $0.old.version) }
            + deletions.map { (key: $0.key, version: $0.version) }
            + changes.checks.map { (key: $0.key, version: $0.version) }
        return try conflicts(insertedAgain: changes)
            + expected.compactMap { key, version in
                guard try self.version(of: key) != Int64(version) else { return nil }
                return SaveFailure.Conflict(key: key, expectedVersion: version, persisted: try storedRow(key))
            }
    }

    /// Returns conflicts of restored rows that another client has already inserted again.
    private func conflicts(insertedAgain changes: ChangeSet) throws -> [SaveFailure.Conflict] {
        try changes.insertions.filter { $0.row.version != 1 }.compactMap { insertion in
            let key = insertion.row.key
            return try storedRow(key).map {
                SaveFailure.Conflict(key: key, expectedVersion: 0, persisted: $0)
            }
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
        /// The index of its constraint in a list.
        var constraint: Int
        var values: [SQLValue]
    }

    /// The row that has the values of a claim.
    private enum Holder {
        case stored(RowKey)
        /// A row of the change set, by its index.
        case claimant(Int)
    }

    private struct ConstraintKey: Hashable {
        var table: String
        var columnNames: [String]
    }

    /// A row and the values of a constraint that it would have.
    private struct Claimant {
        var row: RowKey
        /// The index among the insertions.
        var insertion: Int?
        var constraint: SaveTables.Constraint
        var claim: Claim
        /// Whether the store must be queried: a row that keeps its values needs no check.
        var isNew: Bool
    }

    /// Compares every changed row with the store's rows, except those that the save deletes or changes.
    private func violations(_ changes: ChangeSet) throws -> [SaveFailure.ConstraintViolation] {
        var gone: [String: Set<Int64>] = [:]
        for deletion in changes.deletions {
            gone[try tables.table(of: deletion.key.entity).name, default: []].insert(deletion.key.primaryKey)
        }
        // Updated rows are checked with their new values.
        for update in changes.updates {
            gone[try tables.table(of: update.new.entity).name, default: []].insert(update.new.primaryKey)
        }
        var constraints: [ConstraintKey] = []
        let claimants = try claimants(changes, &constraints)
        var holders = try storedRows(claimants, constraints, besides: gone)
        var violations: [SaveFailure.ConstraintViolation] = []
        for (index, claimant) in claimants.enumerated() {
            let holder = holders[claimant.claim]
            var violation = SaveFailure.ConstraintViolation(
                entity: claimant.constraint.entity, slots: claimant.constraint.slots, changed: claimant.row,
                existing: claimant.row)
            switch holder {
            case .stored(let row) where claimant.isNew:
                violation.existing = row
                violation.isExistingStored = true
            case .claimant(let other):
                violation.existing = claimants[other].row
                violation.existingInsertion = claimants[other].insertion
            case .stored, nil:
                holders[claimant.claim] = .claimant(index)
                continue
            }
            violation.changedInsertion = claimant.insertion
            violations.append(violation)
        }
        return violations
    }

    /// Returns the rows in order of precedence, the existing row first: updates that keep their values, other updates,
    /// insertions.
    private func claimants(_ changes: ChangeSet, _ constraints: inout [ConstraintKey]) throws -> [Claimant] {
        var claimants: [Claimant] = []
        claimants.reserveCapacity(changes.insertions.count)
        // Rows of one entity are adjacent.
        var run: (entity: Int, table: SaveTables.Table, places: [Int])?
        func places(_ entity: Int) throws -> (table: SaveTables.Table, places: [Int]) {
            if let run, run.entity == entity { return (run.table, run.places) }
            let table = try tables.table(of: entity)
            let places = table.constraints.map { constraint in
                let key = ConstraintKey(table: table.name, columnNames: constraint.columnNames)
                if let place = constraints.firstIndex(of: key) { return place }
                constraints.append(key)
                return constraints.count - 1
            }
            run = (entity, table, places)
            return (table, places)
        }
        func add(_ row: RowSnapshot, insertion: Int? = nil, isNew: Bool) throws {
            let (table, places) = try places(row.entity)
            for (constraint, place) in zip(table.constraints, places) {
                guard let values = row.values(constraint.columns, table.kinds) else { continue }
                claimants.append(
                    Claimant(
                        row: row.key, insertion: insertion, constraint: constraint,
                        claim: Claim(constraint: place, values: values), isNew: isNew))
            }
        }
        for update in changes.updates where !Self.changesUniqueValue(update, tables) {
            try add(update.new, isNew: false)
        }
        for update in changes.updates where Self.changesUniqueValue(update, tables) {
            try add(update.new, isNew: true)
        }
        for (index, insertion) in changes.insertions.enumerated() {
            try add(insertion.row, insertion: index, isNew: true)
        }
        return claimants
    }

    private static func changesUniqueValue(_ update: ChangeSet.Update, _ tables: SaveTables) -> Bool {
        guard let table = try? tables.table(of: update.new.entity) else { return false }
        return table.constraints.contains { constraint in
            constraint.columns.contains {
                !update.old.isEqual(to: update.new, at: $0, kind: table.kinds[$0])
            }
        }
    }

    /// Returns the stored rows with these values, except those that the save changes.
    private func storedRows(
        _ claimants: [Claimant], _ constraints: [ConstraintKey], besides gone: [String: Set<Int64>]
    ) throws -> [Claim: Holder] {
        var found: [Claim: Holder] = [:]
        found.reserveCapacity(claimants.count)
        for (place, key) in constraints.enumerated() {
            let wanted = claimants.filter { $0.isNew && $0.claim.constraint == place }
            guard let first = wanted.first else { continue }
            let table = try tables.table(of: first.row.entity)
            let isComparable = first.constraint.columns.allSatisfy {
                table.kinds[$0] == .integer || table.kinds[$0] == .blob
                    || table.kinds[$0] == .text && !isDecimal($0, table.entity)
            }
            let lookup = ConstraintLookup(
                connection: connection, table: key.table, columns: key.columnNames,
                rowsPerStatement: isComparable ? 200 : 1)
            let gone = gone[key.table] ?? []
            try lookup.find(wanted.map(\.claim.values)) { values, primaryKey, number in
                guard !gone.contains(primaryKey) else { return }
                let entity = tables.layout.ordinalByNumber[number] ?? table.entity
                found[Claim(constraint: place, values: values)] = .stored(
                    RowKey(entity: entity, primaryKey: primaryKey))
            }
        }
        return found
    }

    /// Returns whether the database converts the text to a number, so that it is read differently than it was written.
    private func isDecimal(_ column: Int, _ entity: Int) -> Bool {
        let compiled = tables.model.entities[entity]
        return compiled.properties.contains {
            compiled.rowLayout.columnOfSlot[$0.slot] == column && $0.attribute?.type == .decimal
        }
    }

    // MARK: Statements

    private static let hasKey = SQLExpression.comparison(.equal, .column(nil, "Z_PK"), .parameter)

    private func source(_ entity: Int) throws -> SelectStatement.Source {
        let name = try tables.table(of: entity).name
        return .init(name, as: name)
    }
}
