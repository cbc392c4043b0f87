import CoreDataModel
import CoreDataSQL
import Foundation

/// Copies the history of a store to a copy of its rows with the same model, in a database of the same kind.
///
///     ATRANSACTIONSTRING, ATRANSACTION, ACHANGE     // row by row, with their keys: tokens stay valid
///
/// If the store was migrated, entities have other numbers in the copy; the changes get those. Only one portion is in
/// memory at a time.
struct HistoryCopy {
    let source: StoreEngine
    let target: StoreEngine

    private static let portion = 1024

    /// Copies the history, if it exists, in one transaction.
    func run() throws {
        guard source.database.dialect.isRemote, target.database.dialect.isRemote,
            try source.database.read({ try StoreCatalog.read($0).hasHistory })
        else { return }
        let tombstones = StoreCreation.tombstoneCount(model: target.model, entities: target.entities)
        try target.database.write { connection in
            if try !TableNames.read(connection).haveHistory {
                try BookkeepingCreation.createHistory(tombstones: tombstones, in: connection)
            }
            let numbers = try newNumbers(connection)
            for table in [
                BookkeepingSchema.transactionStringTable, BookkeepingSchema.transactionTable,
                BookkeepingSchema.changeTable,
            ] { try copy(table, numbers, connection) }
            try copyCounters(connection)
        }
    }

    /// Returns the target's entity number for each of the source's.
    private func newNumbers(_ connection: any SQLConnection) throws -> [Int64: Int64] {
        let new = Dictionary(
            try EntityNumber.all(in: connection).map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
        let old = try source.database.read { try EntityNumber.all(in: $0) }
        return old.reduce(into: [:]) { numbers, entity in numbers[entity.number] = new[entity.name] }
    }

    /// Copies the columns that both tables have.
    private func copy(_ table: String, _ numbers: [Int64: Int64], _ connection: any SQLConnection) throws {
        let there = try StoreCatalog.read(connection).table(table)
        guard let found = try source.database.read({ try StoreCatalog.read($0).table(table) }), let there else {
            return
        }
        let columns = ["Z_PK"] + found.columns.filter { $0.uppercased() != "Z_PK" && there.column($0) != nil }
        let entity = columns.firstIndex { $0.uppercased() == "ZENTITY" }
        let insertion = InsertStatement(
            into: table, columns: columns, rows: [columns.map { _ in SQLExpression.parameter }]
        ).text(in: connection.dialect).sql
        var last = Int64.min
        while true {
            var query = SelectStatement(columns.map { .init(.column(nil, $0)) }, from: .init(table))
            query.condition = .comparison(.greater, .column(nil, "Z_PK"), .bind(.integer(last)))
            query.orders = [.init(.column(nil, "Z_PK"))]
            query.limit = Self.portion
            let portion = query
            let rows = try source.database.read { try $0.rows(portion) }
            for row in rows {
                guard case .integer(let key)? = row.first else { return }
                last = key
                var values = row
                if let entity, case .integer(let number) = row[entity] {
                    values[entity] = .integer(numbers[number] ?? number)
                }
                let statement = try connection.statement(insertion)
                defer { statement.reset() }
                try statement.bind(values, at: 0)
                try statement.run()
            }
            if rows.count < Self.portion { return }
        }
    }

    /// Copies the highest assigned keys of the history, so that no transaction number is assigned again.
    private func copyCounters(_ connection: any SQLConnection) throws {
        let number = SQLExpression.column(nil, "Z_ENT")
        var query = SelectStatement(
            [.init(number), .init(.column(nil, "Z_MAX"))], from: .init(BookkeepingSchema.primaryKeyTable))
        query.condition = .inList(number, BookkeepingSchema.historyEntities.map { .integer($0.number) })
        let counters = query
        for row in try source.database.read({ try $0.rows(counters) }) {
            guard case .integer(let entity) = row[0], case .integer(let highest) = row[1] else { continue }
            try connection.run(
                UpdateStatement(
                    BookkeepingSchema.primaryKeyTable, set: [.init("Z_MAX", .bind(.integer(highest)))],
                    where: .comparison(.equal, number, .integer(entity))))
        }
    }
}
