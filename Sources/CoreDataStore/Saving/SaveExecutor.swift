import CoreDataPrimitives
import CoreDataSQL

/// Runs a ``SavePlan`` on a connection that is in a transaction; files of external data aside, the only part of a
/// save that does I/O.
struct SaveExecutor {
    /// A row that another writer has changed or deleted since it was read.
    struct RowIsOutdated: Error {}

    let connection: any SQLConnection
    let identifier: String
    let externalData: ExternalDataWriter

    /// - Throws: ``RowIsOutdated`` at the first such row; what to tell about it is found out after the rollback.
    func run(_ plan: SavePlan) throws {
        for step in plan.steps {
            switch step {
            case .removeLinks(let links), .insertLinks(let links): try write(links)
            case .delete(let deletions): try delete(deletions)
            case .park(let parking): try park(parking)
            case .update(let updates): try update(updates)
            case .insert(let insertions): try insert(insertions)
            case .metadata(let metadata): try write(metadata)
            }
        }
    }

    private func insert(_ step: SavePlan.Insertions) throws {
        let statement = try connection.statement(step.sql)
        defer { statement.reset() }
        let table = step.table
        try statement.bind(table.number, at: 1)
        let (columns, kinds, rows) = (table.columns, table.kinds, step.rows)
        let areInline = table.externalColumns.isEmpty
        // By index: to take an element in hand would count its references.
        for index in rows.indices {
            try statement.bind(rows[index].row.primaryKey, at: 0)
            try statement.bind(Int64(rows[index].row.version), at: 2)
            if areInline {
                try statement.bind(rows[index].row, columns: columns, kinds: kinds, at: 3)
            } else {
                let stored = try externalData.encoded(rows[index].row, table.externalColumns, kinds: kinds)
                try statement.bind(stored, columns: columns, kinds: kinds, at: 3)
            }
            try statement.run()
        }
    }

    private func update(_ step: SavePlan.Updates) throws {
        let table = step.table
        if !step.externalColumns.isEmpty {
            try noteFiles(table, step.externalColumns, step.rows.map(\.old.primaryKey))
        }
        let statement = try connection.statement(step.sql)
        defer { statement.reset() }
        let (columns, kinds, rows) = (step.columns, table.kinds, step.rows)
        let areInline = step.externalColumns.isEmpty
        for index in rows.indices {
            try statement.bind(Int64(rows[index].new.version), at: 0)
            if areInline {
                try statement.bind(rows[index].new, columns: columns, kinds: kinds, at: 1)
            } else {
                let stored = try externalData.encoded(rows[index].new, step.externalColumns, kinds: kinds)
                try statement.bind(stored, columns: columns, kinds: kinds, at: 1)
            }
            try statement.bind(rows[index].old.primaryKey, at: columns.count + 1)
            try statement.bind(Int64(rows[index].old.version), at: columns.count + 2)
            guard try statement.run() > 0 else { throw RowIsOutdated() }
        }
    }

    private func delete(_ step: SavePlan.Deletions) throws {
        if !step.table.externalColumns.isEmpty {
            try noteFiles(step.table, step.table.externalColumns, step.rows.map(\.key.primaryKey))
        }
        let statement = try connection.statement(step.sql)
        defer { statement.reset() }
        for deletion in step.rows {
            try statement.bind(deletion.key.primaryKey, at: 0)
            try statement.bind(Int64(deletion.version), at: 1)
            guard try statement.run() > 0 else { throw RowIsOutdated() }
        }
    }

    private func park(_ step: SavePlan.Parking) throws {
        let statement = try connection.statement(step.sql)
        defer { statement.reset() }
        for key in step.keys {
            try statement.bind(key, at: 0)
            try statement.run()
        }
    }

    private func write(_ step: SavePlan.Links) throws {
        let statement = try connection.statement(step.sql)
        defer { statement.reset() }
        for row in step.rows {
            try statement.bind(row.owner, at: 0)
            try statement.bind(row.destination, at: 1)
            for (index, order) in row.orders.enumerated() {
                if let order {
                    try statement.bind(order, at: 2 + index)
                } else {
                    try statement.bind([.null], at: 2 + index)
                }
            }
            try statement.run()
        }
    }

    private func write(_ metadata: StoreMetadata) throws {
        let plist = SQLExpression.bind(.blob(metadata.propertyList))
        let update = UpdateStatement(BookkeepingSchema.metadataTable, set: [.init("Z_PLIST", plist)])
        guard try connection.run(update.text) == 0 else { return }
        try connection.run(
            InsertStatement(
                into: BookkeepingSchema.metadataTable, columns: ["Z_VERSION", "Z_UUID", "Z_PLIST"],
                rows: [[.integer(1), .bind(.text(identifier)), plist]]
            ).text)
    }

    /// Notes the files that the rows name now.
    private func noteFiles(_ table: SaveTables.Table, _ columns: [Int], _ keys: [Int64]) throws {
        // An envelope that names a file has 38 bytes; there is no need to read more of one that holds its bytes.
        let results = columns.compactMap { table.nameOfColumn[$0] }.map { name in
            let column = SQLExpression.column(nil, name)
            let namesFile = SQLExpression.comparison(.equal, .function("length", [column]), .integer(38))
            return SelectStatement.ResultColumn(.caseWhen([.init(namesFile, column)], otherwise: .null))
        }
        var select = SelectStatement(results, from: .init(table.name, as: table.name))
        select.condition = .comparison(.equal, .column(nil, "Z_PK"), .parameter)
        let statement = try connection.statement(select.text.sql)
        defer { statement.reset() }
        for key in keys {
            try statement.bind(key, at: 0)
            while try statement.step() {
                for column in results.indices {
                    if case .blob(let stored) = statement.value(column) {
                        stored.withUnsafeBytes(externalData.replace)
                    }
                }
            }
            statement.reset()
        }
    }
}
