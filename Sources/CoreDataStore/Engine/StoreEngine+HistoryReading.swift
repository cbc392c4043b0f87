import CoreDataPrimitives
import CoreDataSQL
import Foundation

extension StoreEngine: HistorySource {
    package var history: (any HistorySource)? { self }

    package func hasHistory() throws -> Bool {
        tracksHistory ? true : try database.read { try StoreCatalog.read($0).hasHistory }
    }

    package func historyExtent() throws -> HistoryExtent {
        try database.read { try historyExtent($0) }
    }

    func historyExtent(_ connection: any SQLConnection) throws -> HistoryExtent {
        let key = SQLExpression.column(nil, "Z_PK")
        let table = SelectStatement.Source(BookkeepingSchema.transactionTable)
        let query = SelectStatement([.init(.aggregate(.minimum, key, distinct: false))], from: table)
        var extent = HistoryExtent(first: nil, last: 0)
        if case .integer(let first)? = try connection.rows(query).first?.first { extent.first = first }
        let counter = try connection.statement(KeyCounter.transactions.query(in: database.dialect, locks: false))
        defer { counter.reset() }
        try counter.bind(KeyCounter.transactions.number, at: 0)
        if try counter.step() { extent.last = counter.integer(0) }
        return extent
    }

    package func historyTransactions(
        after number: Int64, time: Double?, limit: Int?
    ) throws -> [HistoryTransactionRecord] {
        try database.read { connection in
            let tables = try historyTables(connection)
            let names = ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"]
            let columns = ["Z_PK", "ZTIMESTAMP"] + names + (tables.hasStrings ? names.map { $0 + "TS" } : [])
            var query = SelectStatement(
                columns.map { .init(.column(nil, $0)) }, from: .init(BookkeepingSchema.transactionTable))
            var conditions = [
                SQLExpression.comparison(.greater, .column(nil, "Z_PK"), .bind(.integer(number)))
            ]
            if let time {
                conditions.append(.comparison(.greater, .column(nil, "ZTIMESTAMP"), .bind(.real(time))))
            }
            query.condition = .and(conditions)
            query.orders = [.init(.column(nil, "Z_PK"))]
            query.limit = limit
            let strings = tables.hasStrings ? try transactionStrings(connection) : [:]
            return try connection.rows(query).compactMap { row in
                guard case .integer(let number) = row[0] else { return nil }
                func name(_ index: Int) -> String? {
                    // Older versions wrote the name itself.
                    if case .text(let name) = row[2 + index] { return name }
                    guard tables.hasStrings, case .integer(let key) = row[6 + index] else { return nil }
                    return strings[key]
                }
                let origin = ChangeOrigin(
                    author: name(0), contextName: name(2), bundleIdentifier: name(1), processName: name(3))
                return HistoryTransactionRecord(number: number, time: row[1].number, origin: origin)
            }
        }
    }

    private func transactionStrings(_ connection: any SQLConnection) throws -> [Int64: String] {
        let query = SelectStatement(
            ["Z_PK", "ZNAME"].map { .init(.column(nil, $0)) }, from: .init(BookkeepingSchema.transactionStringTable))
        var strings: [Int64: String] = [:]
        for row in try connection.rows(query) {
            if case .integer(let key) = row[0], case .text(let name) = row[1] { strings[key] = name }
        }
        return strings
    }

    package func historyChanges(in numbers: ClosedRange<Int64>) throws -> [HistoryChangeRecord] {
        try database.read { connection in
            let tables = try historyTables(connection)
            let names =
                ["Z_PK", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]
                + (0..<tables.tombstoneCount).map { "ZTOMBSTONE\($0)" }
            var query = SelectStatement(
                names.map { .init(.column(nil, $0)) }, from: .init(BookkeepingSchema.changeTable))
            let transaction = SQLExpression.column(nil, "ZTRANSACTIONID")
            query.condition = .between(
                transaction, .bind(.integer(numbers.lowerBound)), .bind(.integer(numbers.upperBound)))
            query.orders = [.init(transaction), .init(.column(nil, "Z_PK"))]
            let statement = try connection.statement(query)
            defer { statement.reset() }
            var changes: [HistoryChangeRecord] = []
            while try statement.step() {
                guard let kind = HistoryKind(rawValue: statement.integer(1)),
                    let entity = layout.ordinalByNumber[statement.integer(2)]
                else { continue }
                var change = HistoryChangeRecord(
                    identifier: statement.integer(0), transaction: statement.integer(4), kind: kind,
                    key: RowKey(entity: entity, primaryKey: statement.integer(3)))
                if let layout = tables.layout(of: entity) {
                    switch kind {
                    case .insertion: break
                    case .update:
                        if case .blob(let bits) = statement.value(5) { change.changedSlots = layout.slots(in: bits) }
                    case .deletion: read(statement, tables, layout, into: &change)
                    }
                }
                changes.append(change)
            }
            return changes
        }
    }

    private func read(
        _ statement: any SQLStatement, _ tables: HistoryTables, _ history: HistoryLayout,
        into change: inout HistoryChangeRecord
    ) {
        change.tombstoneSlots = Array(history.tombstones.prefix(tables.tombstoneCount))
        guard !change.tombstoneSlots.isEmpty else { return }
        let entity = model.entities[change.key.entity]
        let builder = RowBuilder(columnCount: entity.rowLayout.columns.count)
        for (index, slot) in change.tombstoneSlots.enumerated() {
            let column = entity.rowLayout.columnOfSlot[slot]
            guard column >= 0 else { continue }
            var value = statement.value(6 + index)
            if case .blob(let bytes) = value { value = tables.value(ofKept: bytes, slot: slot, of: entity) }
            switch (entity.rowLayout.kinds[column], value) {
            case (.integer, .integer(let value)): builder.setInteger(value, at: column)
            case (.integer, .real(let value)): builder.setInteger(Int64(exactly: value.rounded()) ?? 0, at: column)
            case (.real, .integer), (.real, .real): builder.setReal(value.number, at: column)
            case (.text, .text(let text)): builder.setText(text, at: column)
            case (.text, .integer(let value)): builder.setText(String(value), at: column)
            case (.text, .real(let value)): builder.setText(String(value), at: column)
            case (.blob, .blob(let stored)):
                let bytes = entity.externalDataColumns.contains(column) ? plain(stored) : stored
                if let bytes { bytes.withUnsafeBytes { builder.setBytes($0, at: column) } }
            default: break
            }
        }
        change.tombstone = builder.finish(
            primaryKey: change.key.primaryKey, version: 0, entity: change.key.entity)
    }

    /// Returns the bytes of a value that may be in an external file; `nil` if the file does not exist.
    private func plain(_ stored: Data) -> Data? { try? stored.withUnsafeBytes { try bytes(ofStored: $0) } }

    package func firstHistoryTransaction(since time: Double) throws -> Int64 {
        try database.read { try firstHistoryTransaction(since: time, $0) }
    }

    func firstHistoryTransaction(since time: Double, _ connection: any SQLConnection) throws -> Int64 {
        var query = SelectStatement(
            [.init(.aggregate(.minimum, .column(nil, "Z_PK"), distinct: false))],
            from: .init(BookkeepingSchema.transactionTable))
        query.condition = .comparison(.greaterOrEqual, .column(nil, "ZTIMESTAMP"), .bind(.real(time)))
        if case .integer(let number)? = try connection.rows(query).first?.first { return number }
        return try historyExtent(connection).last + 1
    }
}

extension SQLValue {
    /// The number; 0 for other values.
    fileprivate var number: Double {
        switch self {
        case .integer(let value): Double(value)
        case .real(let value): value
        case .null, .text, .blob: 0
        }
    }
}
