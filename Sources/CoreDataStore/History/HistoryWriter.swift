import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Writes one transaction of a store's history, in the save's transaction.
///
///     INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, …) VALUES (?, 16002, ?, …)
///     INSERT INTO ACHANGE (Z_PK, …, ZENTITYPK, …) SELECT ZITEM.Z_PK + ?, … FROM ZITEM WHERE ZITEM.Z_PK BETWEEN ? AND ?
///
/// Deletions are written before their rows are deleted, insertions and updates after their rows are written.
final class HistoryWriter {
    let tables: HistoryTables
    private let connection: any SQLConnection
    /// The transaction's number.
    let transaction: Int64
    private var nextChange: Int64
    /// The number of changes written; deletions of missing rows do not count.
    private(set) var written = 0
    private let members: [RowKey: IndexMask]

    init(
        _ tables: HistoryTables, _ connection: any SQLConnection, transaction: Int64, firstChange: Int64,
        members: [RowKey: IndexMask]
    ) {
        self.tables = tables
        self.connection = connection
        self.transaction = transaction
        nextChange = firstChange
        self.members = members
    }

    // MARK: Changes of a save

    func note(_ step: SavePlan.Insertions) throws {
        try note(.insertion, step.table, step.rows.count) { step.rows[$0].row.primaryKey }
    }

    func note(_ step: SavePlan.Deletions) throws {
        try note(.deletion, step.table, step.rows.count) { step.rows[$0].key.primaryKey }
    }

    func note(_ step: SavePlan.Updates) throws {
        guard let layout = tables.layout(of: step.form.table.entity) else { return }
        func note(_ rows: [Int], _ members: IndexMask) throws {
            let bits = layout.bits(columns: step.form.mask, members: members)
            try self.note(.update, step.form.table, rows.count, bits: bits) { step.rows[rows[$0]].new.primaryKey }
        }
        guard !members.isEmpty else { return try note(Array(step.rows.indices), IndexMask()) }
        // Grouped by the to-manys that changed: usually there are none, or the same.
        var groups: [(members: IndexMask, rows: [Int])] = []
        for index in step.rows.indices {
            let mask = members[step.rows[index].new.key] ?? IndexMask()
            if let place = groups.firstIndex(where: { $0.members.isSame(as: mask) }) {
                groups[place].rows.append(index)
            } else {
                groups.append((mask, [index]))
            }
        }
        for group in groups { try note(group.rows, group.members) }
    }

    // MARK: Changes

    /// The minimum number of rows with consecutive keys for a statement of their own.
    private static let shortestRange = 4
    private static let rowsPerStatement = 32

    func note(
        _ kind: HistoryKind, _ table: SaveTables.Table, _ count: Int, bits: Data? = nil, key: (Int) -> Int64
    ) throws {
        guard count > 0 else { return }
        if count == 1 { return try write(kind, table, bits, [key(0)]) }
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        var isSorted = true
        for index in 0..<count {
            let key = key(index)
            if let last = keys.last, last > key { isSorted = false }
            keys.append(key)
        }
        if !isSorted { keys.sort() }
        var scattered: [Int64] = []
        var first = 0
        for index in 1...count {
            if index < count, keys[index] == keys[index - 1] + 1 { continue }
            if index - first >= Self.shortestRange {
                try writeRange(kind, table, bits, keys[first], keys[index - 1])
            } else {
                scattered += keys[first..<index]
            }
            first = index
        }
        if !scattered.isEmpty { try write(kind, table, bits, scattered) }
    }

    private func writeRange(
        _ kind: HistoryKind, _ table: SaveTables.Table, _ bits: Data?, _ first: Int64, _ last: Int64
    ) throws {
        let statement = try connection.statement(tables.insertion(kind, of: table, .range))
        defer { statement.reset() }
        try statement.bind(nextChange - first, at: 0)
        let place = try bindShared(statement, table, bits, at: 1)
        try statement.bind(first, at: place)
        try statement.bind(last, at: place + 1)
        written += try statement.run()
        nextChange += last - first + 1
    }

    private func write(_ kind: HistoryKind, _ table: SaveTables.Table, _ bits: Data?, _ keys: [Int64]) throws {
        var first = 0
        let several = Self.rowsPerStatement
        if keys.count >= several {
            let statement = try connection.statement(tables.insertion(kind, of: table, .several(several)))
            defer { statement.reset() }
            let place = try bindShared(statement, table, bits, at: 0)
            while first + several <= keys.count {
                for row in 0..<several {
                    try statement.bind(nextChange + Int64(row), at: place + 2 * row)
                    try statement.bind(keys[first + row], at: place + 2 * row + 1)
                }
                written += try statement.run()
                nextChange += Int64(several)
                first += several
            }
        }
        guard first < keys.count else { return }
        let statement = try connection.statement(tables.insertion(kind, of: table, .several(1)))
        defer { statement.reset() }
        let place = try bindShared(statement, table, bits, at: 0)
        while first < keys.count {
            try statement.bind(nextChange, at: place)
            try statement.bind(keys[first], at: place + 1)
            if connection.pipelines {
                written += 1
                try statement.runLater(expecting: 1) { [self] in written -= 1 }
            } else {
                written += try statement.run()
            }
            nextChange += 1
            first += 1
        }
    }

    private func bindShared(
        _ statement: any SQLStatement, _ table: SaveTables.Table, _ bits: Data?, at first: Int
    ) throws -> Int {
        try statement.bind(table.number, at: first)
        try statement.bind(transaction, at: first + 1)
        guard let bits else { return first + 2 }
        try statement.bind([.blob(bits)], at: first + 2)
        return first + 3
    }

    // MARK: The transaction

    /// Deletes the transaction's row if it has no changes; called after the connection has completed the queued
    /// statements.
    ///
    /// - Parameter writtenBefore: the number of changes that other writers wrote in the transaction.
    /// - Returns: the transaction's number, if it has changes.
    func end(writtenBefore: Int) throws -> Int64? {
        guard written + writtenBefore == 0 else { return transaction }
        try connection.run(
            DeleteStatement(
                from: BookkeepingSchema.transactionTable,
                where: .comparison(.equal, .column(nil, "Z_PK"), .bind(.integer(transaction)))))
        return nil
    }

    /// Writes the transaction's own row.
    func begin(_ origin: ChangeOrigin, at time: Double, key: (String) throws -> Int64) throws {
        let statement = try connection.statement(tables.transactionInsertion)
        defer { statement.reset() }
        try statement.bind(transaction, at: 0)
        let names = [origin.author, origin.bundleIdentifier, origin.contextName, origin.processName]
        let values = try names.map { name -> SQLValue in
            guard let name else { return .null }
            return tables.hasStrings ? .integer(try key(name)) : .text(name)
        }
        try statement.bind(values + [.real(time)], at: 1)
        try statement.runLater(expecting: nil, otherwise: {})
    }
}
