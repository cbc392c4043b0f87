import CoreDataPrimitives
import CoreDataSQL

extension StoreEngine {
    package var recordsHistory: Bool { tracksHistory }

    /// Returns the layout of the history's tables, which is read on first use.
    func historyTables(_ connection: any SQLConnection) throws -> HistoryTables {
        try madeHistoryTables.withLock { made in
            if let made { return made }
            let tables = HistoryTables(
                model: model, layout: layout, catalog: try StoreCatalog.read(connection), dialect: database.dialect)
            made = tables
            return tables
        }
    }

    /// Returns the writer of that many changes, in the transaction with the number, or in a new one.
    func historyWriter(
        _ transaction: Int64?, of count: Int, _ origin: ChangeOrigin, _ connection: any SQLConnection,
        members: [RowKey: IndexMask] = [:]
    ) throws -> HistoryWriter {
        let tables = try historyTables(connection)
        let writer = HistoryWriter(
            tables, connection,
            transaction: try transaction ?? takeKeys(of: .transactions, count: 1, connection).lowerBound,
            firstChange: try takeKeys(of: .changes, count: count, connection).lowerBound, members: members)
        if transaction == nil {
            try writer.begin(origin, at: clock.now) { try key(of: $0, tables, connection) }
        }
        return writer
    }

    /// Discards the cached keys of names that a rolled-back transaction added to the history.
    func forgetHistoryKeys() {
        keyCounters.withLock { counters in
            for counter in [KeyCounter.changes, .transactions, .transactionStrings] { counters[counter.index] = nil }
        }
        madeHistoryTables.withLock { $0 }?.strings.withLock { $0 = [:] }
    }

    /// Returns the key of a name, which is written once.
    private func key(of name: String, _ tables: HistoryTables, _ connection: any SQLConnection) throws -> Int64 {
        if let known = tables.strings.withLock({ $0[name] }) { return known }
        let table = BookkeepingSchema.transactionStringTable
        var query = SelectStatement([.init(.column(nil, "Z_PK"))], from: .init(table))
        query.condition = .comparison(.equal, .column(nil, "ZNAME"), .bind(.text(name)))
        let key: Int64
        if case .integer(let found)? = try connection.rows(query).first?.first {
            key = found
        } else {
            key = try takeKeys(of: .transactionStrings, count: 1, connection).lowerBound
            try connection.run(
                InsertStatement(
                    into: table, columns: ["Z_PK", "Z_ENT", "ZNAME"],
                    rows: [
                        [
                            .bind(.integer(key)), .integer(BookkeepingSchema.transactionStringNumber),
                            .bind(.text(name)),
                        ]
                    ]))
        }
        tables.strings.withLock { $0[name] = key }
        return key
    }
}
