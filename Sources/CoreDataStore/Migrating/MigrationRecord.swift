import CoreDataModel
import CoreDataSQL

/// The counters and names of a store's history, as a migration finds them.
struct HistoryCounters: Sendable {
    /// The keys of names, by name.
    var names: [String: Int64] = [:]
    /// The highest key of a name, and of a transaction.
    var lastName: Int64
    var lastTransaction: Int64

    /// Reads them; `nil` for a store without transactions, or one from before names had a table of their own.
    static func read(_ connection: any SQLConnection, _ catalog: StoreCatalog) throws -> HistoryCounters? {
        guard catalog.hasHistory, catalog.table(BookkeepingSchema.transactionStringTable) != nil,
            catalog.table(BookkeepingSchema.transactionTable)?.column("ZAUTHORTS") != nil
        else { return nil }
        var maxima: [Int64: Int64] = [:]
        let numbers = SelectStatement(
            [.init(.column(nil, "Z_ENT")), .init(.column(nil, "Z_MAX"))],
            from: .init(BookkeepingSchema.primaryKeyTable))
        for row in try connection.rows(numbers) {
            if case .integer(let number) = row[0], case .integer(let maximum) = row[1] { maxima[number] = maximum }
        }
        guard let lastName = maxima[BookkeepingSchema.transactionStringNumber],
            let lastTransaction = maxima[BookkeepingSchema.transactionNumber]
        else { return nil }
        var counters = HistoryCounters(lastName: lastName, lastTransaction: lastTransaction)
        let names = SelectStatement(
            [.init(.column(nil, "Z_PK")), .init(.column(nil, "ZNAME"))],
            from: .init(BookkeepingSchema.transactionStringTable))
        for row in try connection.rows(names) {
            if case .integer(let key) = row[0], case .text(let name) = row[1] { counters.names[name] = key }
        }
        return counters
    }
}

extension MigrationPlanner {
    /// The author of a migration's transaction begins with this, as in Apple's stores.
    static let recordAuthor = "com.apple.coredata.schemamigrator"

    /// Records the migration as a transaction without changes, as Apple's stores have it: readers of the history learn
    /// by its author that the entities are others from there on.
    ///
    ///     // INSERT INTO ATRANSACTION (Z_PK, Z_ENT, ZAUTHORTS, ZBUNDLEIDTS, ZPROCESSIDTS, ZTIMESTAMP) VALUES (7, 16002, 4, 1, 2, ?)
    func recordSteps() -> [MigrationStep] {
        guard let counters = source.history, let time else { return [] }
        var last = counters.lastName
        var known = counters.names
        var new: [[SQLExpression]] = []
        func key(of name: String) -> SQLExpression {
            if let key = known[name] { return .integer(key) }
            last += 1
            known[name] = last
            new.append([
                .integer(last), .integer(BookkeepingSchema.transactionStringNumber), .bind(.text(name)),
            ])
            return .integer(last)
        }
        let digest = CompiledModel.versionHashesDigest(entities: source.entities.map { oldModel.entities[$0] })
        let origin = ChangeOrigin(
            author: "\(Self.recordAuthor): lightweight migration from model with digest { \(digest) }")
        let names = [
            ("ZAUTHORTS", origin.author), ("ZBUNDLEIDTS", origin.bundleIdentifier),
            ("ZPROCESSIDTS", origin.processName),
        ]
        let transaction = counters.lastTransaction + 1
        var columns = ["Z_PK", "Z_ENT"]
        var row: [SQLExpression] = [.integer(transaction), .integer(BookkeepingSchema.transactionNumber)]
        for case (let column, let name?) in names {
            columns.append(column)
            row.append(key(of: name))
        }
        columns.append("ZTIMESTAMP")
        row.append(.bind(.real(time)))
        var steps: [MigrationStep] = []
        if !new.isEmpty {
            steps.append(
                MigrationStep(
                    .insert(
                        InsertStatement(
                            into: BookkeepingSchema.transactionStringTable, columns: ["Z_PK", "Z_ENT", "ZNAME"],
                            rows: new)), "keep the names of the migration's transaction"))
            steps.append(count(last, BookkeepingSchema.transactionStringNumber))
        }
        steps.append(
            MigrationStep(
                .insert(InsertStatement(into: BookkeepingSchema.transactionTable, columns: columns, rows: [row])),
                "record the migration in the history"))
        steps.append(count(transaction, BookkeepingSchema.transactionNumber))
        return steps
    }

    private func count(_ last: Int64, _ number: Int64) -> MigrationStep {
        MigrationStep(
            .update(
                UpdateStatement(
                    BookkeepingSchema.primaryKeyTable, set: [.init("Z_MAX", .integer(last))],
                    where: .comparison(.equal, .column(nil, "Z_ENT"), .integer(number)))),
            "count the rows of the history")
    }
}
