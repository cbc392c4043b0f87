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
        return try conflicts(insertedAgain: changes)
            + expected.compactMap { key, version in
                guard try self.version(of: key) != Int64(version) else { return nil }
                // On this thread the engine reads by the same connection, so the row is of the same state.
                let persisted = try engine.row(key.primaryKey, root: engine.model.entities[key.entity].root)
                return SaveFailure.Conflict(key: key, expectedVersion: version, persisted: persisted)
            }
    }

    /// Rows that were deleted and are to be there again, where somebody else was faster to insert them again.
    private func conflicts(insertedAgain changes: ChangeSet) throws -> [SaveFailure.Conflict] {
        try changes.insertions.filter { $0.row.version != 1 }.compactMap { insertion in
            let key = insertion.row.key
            return try engine.row(key.primaryKey, root: engine.model.entities[key.entity].root).map {
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
        /// The place of its constraint in a list of them.
        var constraint: Int
        var values: [SQLValue]
    }

    /// Who has the values of a claim.
    private enum Holder {
        case stored(RowKey)
        /// Which of the wishes.
        case wish(Int)
    }

    private struct ConstraintKey: Hashable {
        var table: String
        var columnNames: [String]
    }

    /// A row and the values of a constraint that it would have.
    private struct Wish {
        var row: RowKey
        /// Which of the insertions it is.
        var insertion: Int?
        var constraint: SaveTables.Constraint
        var claim: Claim
        /// Whether the store has to be asked: a row that keeps its values has them by right.
        var isNew: Bool
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
        var constraints: [ConstraintKey] = []
        let wishes = try wishes(changes, &constraints)
        var holders = try storedRows(wishes, constraints, besides: gone)
        var violations: [SaveFailure.ConstraintViolation] = []
        for (index, wish) in wishes.enumerated() {
            let holder = holders[wish.claim]
            var violation = SaveFailure.ConstraintViolation(
                entity: wish.constraint.entity, slots: wish.constraint.slots, changed: wish.row, existing: wish.row)
            switch holder {
            case .stored(let row) where wish.isNew:
                violation.existing = row
                violation.isExistingStored = true
            case .wish(let other):
                violation.existing = wishes[other].row
                violation.existingInsertion = wishes[other].insertion
            case .stored, nil:
                holders[wish.claim] = .wish(index)
                continue
            }
            violation.changedInsertion = wish.insertion
            violations.append(violation)
        }
        return violations
    }

    /// What has the values longest comes first, as the row that exists: updates that keep them, others, inserts.
    private func wishes(_ changes: ChangeSet, _ constraints: inout [ConstraintKey]) throws -> [Wish] {
        var wishes: [Wish] = []
        wishes.reserveCapacity(changes.insertions.count)
        // Rows of one entity come in runs.
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
                wishes.append(
                    Wish(
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
        return wishes
    }

    private static func changesUniqueValue(_ update: ChangeSet.Update, _ tables: SaveTables) -> Bool {
        guard let table = try? tables.table(of: update.new.entity) else { return false }
        return table.constraints.contains { constraint in
            constraint.columns.contains {
                !update.old.isEqual(to: update.new, at: $0, kind: table.kinds[$0])
            }
        }
    }

    /// The rows of the store that have the values which somebody wishes, but those that the save changes.
    private func storedRows(
        _ wishes: [Wish], _ constraints: [ConstraintKey], besides gone: [String: Set<Int64>]
    ) throws -> [Claim: Holder] {
        var found: [Claim: Holder] = [:]
        found.reserveCapacity(wishes.count)
        for (place, key) in constraints.enumerated() {
            let wanted = wishes.filter { $0.isNew && $0.claim.constraint == place }
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

    /// Whether the database makes a number of the text, which is not read back as it was written.
    private func isDecimal(_ column: Int, _ entity: Int) -> Bool {
        let compiled = engine.model.entities[entity]
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
