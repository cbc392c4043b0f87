import CoreDataPrimitives
import CoreDataSQL

/// The keys of a save's new objects, by root entity.
package struct SaveKeys {
    package var ranges: [Int: ClosedRange<Int64>]
    /// Who takes the first new rows while others are still made; `nil` where nobody does.
    package var ahead: InsertionsAhead?

    package init(_ ranges: [Int: ClosedRange<Int64>], ahead: InsertionsAhead? = nil) {
        (self.ranges, self.ahead) = (ranges, ahead)
    }

    package subscript(root: Int) -> ClosedRange<Int64>? { ranges[root] }
}

/// Copies new rows to a server while the rest of a change set is made, so that both are at work at once.
///
/// ```
///  objects ──▶ rows 1 … 4096 ──▶ rows … 8192 ──▶ updates, links ──▶ plan of the rest ──▶ commit
///                   └──▶ COPY ────────┴──▶ COPY ───────┴──▶ end of COPY
/// ```
///
/// Only rows that may come before all else of the save: of one entity, into a table without constraints of its model's, in a save that deletes nothing. What
/// goes wrong is thrown by ``finish(_:)``, since whoever makes the change set is to finish it: the next attempt writes it as a whole.
package final class InsertionsAhead {
    /// So many rows are given at once.
    package static let portion = SaveExecutor.fewestCopied

    private enum State {
        case notBegun
        case open(InsertionCopy, entity: Int)
        /// Others go with the rest of the save.
        case ended
        case failed(any Error)
    }

    private let engine: StoreEngine
    private let connection: any SQLConnection
    private var state = State.notBegun
    /// How many of the change set's insertions were taken.
    private(set) var count = 0

    init(_ engine: StoreEngine, _ connection: any SQLConnection) {
        (self.engine, self.connection) = (engine, connection)
    }

    /// Takes those that have come since the last time, as far as it can; `insertions` are all that there are so far.
    package func take(_ insertions: [ChangeSet.Insertion]) {
        do {
            if case .notBegun = state { try begin(insertions) }
            guard case .open(let copy, let entity) = state else { return }
            while count < insertions.count {
                guard insertions[count].row.entity == entity else { return try end(copy) }
                try engine.roundDates(insertions[count].row)
                try copy.append(insertions[count].row)
                count += 1
            }
        } catch { fail(error) }
    }

    private func begin(_ insertions: [ChangeSet.Insertion]) throws {
        state = .ended
        guard let entity = insertions.first?.row.entity, insertions.allSatisfy({ $0.row.entity == entity }) else {
            return
        }
        let table = try engine.saveTables.table(of: entity)
        guard table.constraints.isEmpty, table.externalColumns.isEmpty,
            let copy = try InsertionCopy(into: table, connection)
        else { return }
        state = .open(copy, entity: entity)
    }

    /// Takes what it can of the rest, and has the table take all.
    ///
    /// - Throws: the first thing that went wrong; the transaction can only be rolled back then.
    func finish(_ insertions: [ChangeSet.Insertion]) throws {
        if case .open = state { take(insertions) }
        if case .open(let copy, _) = state {
            do { try end(copy) } catch { fail(error) }
        }
        if case .failed(let error) = state { throw error }
    }

    /// Where the change set does not come.
    func giveUp() {
        if case .open(let copy, _) = state { copy.giveUp() }
        state = .ended
    }

    private func end(_ copy: InsertionCopy) throws {
        try copy.end()
        state = .ended
    }

    private func fail(_ error: any Error) {
        if case .open(let copy, _) = state { copy.giveUp() }
        state = .failed(error)
    }
}

/// New rows of a table that go there by `COPY "Item" ("_id", "_entity", "_version", "name") FROM STDIN (FORMAT binary)`.
struct InsertionCopy {
    private let copy: any SQLRowCopy
    private let table: SaveTables.Table

    /// - Returns: `nil` where the database does not take such rows so; nothing is done then.
    init?(into table: SaveTables.Table, _ connection: any SQLConnection) throws {
        let statement = CopyStatement(into: table.name, columns: ["Z_PK", "Z_ENT", "Z_OPT"] + table.columnNames)
        guard let copy = try connection.copy(statement) else { return nil }
        (self.copy, self.table) = (copy, table)
    }

    func append(_ row: RowSnapshot) throws {
        try copy.beginRow()
        try copy.append(row.primaryKey)
        try copy.append(table.number)
        try copy.append(Int64(row.version))
        try copy.append(row, columns: table.columns, kinds: table.kinds)
    }

    func end() throws { try copy.end() }

    func giveUp() { copy.giveUp() }
}
