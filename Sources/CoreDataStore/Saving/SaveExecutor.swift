import CoreDataPrimitives
import CoreDataSQL

/// Executes a ``SavePlan`` in a connection's transaction. Besides external data files, it is the only part of a save
/// that does I/O.
struct SaveExecutor {
    /// A row that another writer has changed or deleted since it was read.
    struct RowIsOutdated: EngineFailure {}

    let connection: any SQLConnection
    let identifier: String
    let externalData: ExternalDataWriter
    /// The participants' parts in the transaction.
    let participations: [any SaveParticipation]

    /// - Throws: ``RowIsOutdated`` at the first such row, possibly only after the queued statements are complete; the
    ///   details are determined after the rollback.
    /// - Returns: the insertions that existing rows absorbed, ascending.
    @discardableResult
    func run(_ plan: SavePlan, of changes: ChangeSet) throws -> [Int] {
        let portion = participations.isEmpty ? nil : SavePortion(changes: changes, plan: plan)
        func tell(_ hook: (any SaveParticipation, SavePortion) throws -> Void) throws {
            guard let portion else { return }
            for participation in participations { try hook(participation, portion) }
        }
        try tell { try $0.willWrite($1) }
        connection.runsInAnyOrder = plan.runsInAnyOrder
        for step in plan.checks { try check(step) }
        for step in plan.removedLinks { try write(step) }
        try tell { try $0.willDelete($1) }
        for step in plan.deletions { try delete(step) }
        for step in plan.parkings { try park(step) }
        for step in plan.updates { try update(step) }
        for step in plan.insertions { try insert(step) }
        connection.runsInAnyOrder = false
        var absorbed: [Int] = []
        for step in plan.absorptions { absorbed += try absorb(step) }
        for step in plan.insertedLinks { try write(step) }
        try tell { try $0.didWrite($1) }
        if let metadata = plan.metadata { try write(metadata) }
        return plan.absorptions.count > 1 ? absorbed.sorted() : absorbed
    }

    /// Runs a statement that must only succeed.
    @inline(__always)
    private func run(_ statement: any SQLStatement) throws {
        if connection.pipelines { return try statement.runLater(expecting: nil, otherwise: {}) }
        try statement.run()
    }

    private func check(_ step: SavePlan.Checks) throws {
        let statement = try connection.statement(step.sql)
        defer { statement.reset() }
        for row in step.rows {
            try statement.bind(row.key.primaryKey, at: 0)
            try statement.bind(Int64(row.version), at: 1)
            if connection.pipelines {
                try statement.runLater(expecting: 1) { throw RowIsOutdated() }
            } else {
                guard try statement.step() else { throw RowIsOutdated() }
                statement.reset()
            }
        }
    }

    // MARK: Insertions

    func insert(_ step: SavePlan.Insertions) throws {
        if let arrays = step.arrays { return try insert(step, arrays) }
        let first = try runSeveral(step.several, of: step.rows.count) { statement, index, place in
            try bind(step, index, to: statement, at: place)
        } run: { statement, _ in
            try run(statement)
            return true
        }
        guard first < step.rows.count else { return }
        let statement = try connection.statement(step.single)
        defer { statement.reset() }
        for index in first..<step.rows.count {
            try bind(step, index, to: statement, at: 0)
            try run(statement)
        }
    }

    /// Binds key, entity number, version, columns.
    private func bind(_ step: SavePlan.Insertions, _ index: Int, to statement: any SQLStatement, at first: Int) throws {
        let table = step.table
        // Access by index: copying the element would count its references.
        try statement.bind(step.rows[index].row.primaryKey, at: first)
        try statement.bind(table.number, at: first + 1)
        try statement.bind(Int64(step.rows[index].row.version), at: first + 2)
        try bind(step.rows[index].row, table.columns, table.externalColumns, table, to: statement, at: first + 3)
    }

    // MARK: Updates

    private func update(_ step: SavePlan.Updates) throws {
        let form = step.form
        if !form.externalColumns.isEmpty {
            try noteFiles(form.table, form.externalColumns, step.rows.map(\.old.primaryKey))
        }
        if let arrays = step.arrays { return try update(step, arrays) }
        let first = try runSeveral(step.several, of: step.rows.count) { statement, index, place in
            try bind(step, index, to: statement, at: place)
        } run: { statement, count in
            do {
                guard try statement.runUpdating() == count else { throw RowIsOutdated() }
                return true
            } catch let failure as SQLFailure where failure.kind == .constraint {
                // A table with constraints of another program may refuse the row that would be inserted, or the order
                // of the changes; the statement has then no effect. One by one, the rows are updated, or report their
                // own failure.
                return false
            }
        }
        guard first < step.rows.count else { return }
        let statement = try connection.statement(form.sql)
        defer { statement.reset() }
        for index in first..<step.rows.count {
            try bind(step, index, to: statement, at: 0)
            try statement.bind(Int64(step.rows[index].old.version), at: form.columns.count + 2)
            if connection.pipelines {
                try statement.runLater(expecting: 1) { throw RowIsOutdated() }
            } else if try statement.run() != 1 {
                throw RowIsOutdated()
            }
        }
    }

    /// Binds new version, columns, key.
    private func bind(_ step: SavePlan.Updates, _ index: Int, to statement: any SQLStatement, at first: Int) throws {
        let form = step.form
        try statement.bind(Int64(step.rows[index].new.version), at: first)
        if !form.columns.isEmpty {
            try bind(
                step.rows[index].new, form.columns, form.externalColumns, form.table, to: statement, at: first + 1)
        }
        try statement.bind(step.rows[index].old.primaryKey, at: first + 1 + form.columns.count)
    }

    // MARK: Insertions and updates

    /// Writes as many of `count` rows as fill complete statements, and returns the first remaining one.
    ///
    /// `bind` receives a row and its first parameter; `run` receives the number of bound rows, and returns whether to
    /// continue.
    @inline(__always)
    private func runSeveral(
        _ several: SavePlan.Several?, of count: Int,
        bind: (_ statement: any SQLStatement, _ row: Int, _ place: Int) throws -> Void,
        run: (_ statement: any SQLStatement, _ count: Int) throws -> Bool
    ) throws -> Int {
        guard let several else { return 0 }
        let statement = try connection.statement(several.sql)
        defer { statement.reset() }
        var first = 0
        while first + several.rows <= count {
            for row in 0..<several.rows { try bind(statement, first + row, row * several.values) }
            guard try run(statement, several.rows) else { break }
            first += several.rows
        }
        return first
    }

    private func bind(
        _ row: RowSnapshot, _ columns: [Int], _ externalColumns: [Int], _ table: SaveTables.Table,
        to statement: any SQLStatement, at first: Int
    ) throws {
        if externalColumns.isEmpty {
            try statement.bind(row, columns: columns, kinds: table.kinds, at: first)
        } else {
            let stored = try externalData.encoded(row, externalColumns, kinds: table.kinds)
            try statement.bind(stored, columns: columns, kinds: table.kinds, at: first)
        }
    }

    // MARK: Deletions

    private func delete(_ step: SavePlan.Deletions) throws {
        if !step.table.externalColumns.isEmpty {
            try noteFiles(step.table, step.table.externalColumns, step.rows.map(\.key.primaryKey))
        }
        guard let consecutive = step.consecutive else { return try delete(step, step.rows.indices) }
        var first = 0
        for range in consecutive.ranges {
            try delete(step, first..<range.lowerBound)
            let statement = try connection.statement(consecutive.sql)
            defer { statement.reset() }
            try statement.bind(step.rows[range.lowerBound].key.primaryKey, at: 0)
            try statement.bind(step.rows[range.upperBound - 1].key.primaryKey, at: 1)
            try statement.bind(Int64(step.rows[range.lowerBound].version), at: 2)
            if connection.pipelines {
                try statement.runLater(expecting: range.count) { try checkGone(step, range) }
            } else if try statement.run() != range.count {
                try checkGone(step, range)
            }
            first = range.upperBound
        }
        try delete(step, first..<step.rows.count)
    }

    /// Deletes rows whose keys are not consecutive.
    private func delete(_ step: SavePlan.Deletions, _ rows: Range<Int>) throws {
        guard !rows.isEmpty else { return }
        let single = try connection.statement(step.table.deletion)
        defer { single.reset() }
        let several = step.several.flatMap { $0.rows <= rows.count ? $0 : nil }
        let statement = try several.map { try connection.statement($0.sql) }
        defer { statement?.reset() }
        var first = rows.lowerBound
        while first < rows.upperBound {
            let version = step.rows[first].version
            if let statement, let count = several?.rows, first + count <= rows.upperBound,
                step.rows[first + count - 1].version == version
            {
                for row in 0..<count { try statement.bind(step.rows[first + row].key.primaryKey, at: row) }
                try statement.bind(Int64(version), at: count)
                let rows = first..<first + count
                func checkRows() throws { try rows.forEach { try checkGone(step, $0..<$0 + 1) } }
                if connection.pipelines {
                    try statement.runLater(expecting: count, otherwise: checkRows)
                } else if try statement.run() != count {
                    try checkRows()
                }
                first += count
            } else {
                try single.bind(step.rows[first].key.primaryKey, at: 0)
                try single.bind(Int64(version), at: 1)
                let row = first..<first + 1
                if connection.pipelines {
                    try single.runLater(expecting: 1) { try checkGone(step, row) }
                } else if try single.run() != 1 {
                    try checkGone(step, row)
                }
                first += 1
            }
        }
    }

    /// Rows with consecutive keys that were not deleted are no conflict if another client deleted them.
    private func checkGone(_ step: SavePlan.Deletions, _ range: Range<Int>) throws {
        let statement = try connection.statement(step.rangeCheck)
        defer { statement.reset() }
        try statement.bind(step.rows[range.lowerBound].key.primaryKey, at: 0)
        try statement.bind(step.rows[range.upperBound - 1].key.primaryKey, at: 1)
        if try statement.step() { throw RowIsOutdated() }
    }

    // MARK: Links, values and files

    private func park(_ step: SavePlan.Parking) throws {
        let statement = try connection.statement(step.sql)
        defer { statement.reset() }
        for key in step.keys {
            try statement.bind(key, at: 0)
            try run(statement)
        }
    }

    private func write(_ step: SavePlan.Links) throws {
        if let arrays = step.arrays { return try write(step, arrays) }
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
            try run(statement)
        }
    }

    private func write(_ metadata: StoreMetadata) throws {
        let plist = SQLExpression.bind(.blob(metadata.propertyList))
        let update = UpdateStatement(BookkeepingSchema.metadataTable, set: [.init("Z_PLIST", plist)])
        guard try connection.run(update) == 0 else { return }
        try connection.run(
            MetadataRow(identifier: identifier, metadata: metadata).insertion(in: connection.dialect))
    }

    /// Records the files that the rows currently name.
    private func noteFiles(_ table: SaveTables.Table, _ columns: [Int], _ keys: [Int64]) throws {
        // An envelope with a file name has 38 bytes; more of an inline value need not be read.
        let results = columns.compactMap { table.nameOfColumn[$0] }.map { name in
            let column = SQLExpression.column(nil, name)
            let namesFile = SQLExpression.comparison(.equal, .function(.byteLength, [column]), .integer(38))
            return SelectStatement.ResultColumn(.caseWhen([.init(namesFile, column)], otherwise: .null))
        }
        var select = SelectStatement(results, from: .init(table.name, as: table.name))
        select.condition = .comparison(.equal, .column(nil, "Z_PK"), .parameter)
        let statement = try connection.statement(select)
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
