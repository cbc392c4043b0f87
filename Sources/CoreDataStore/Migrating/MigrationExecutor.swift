import CoreDataModel
import CoreDataSQL
import Foundation

/// Runs the steps of a migration, in the caller's transaction. Row values stay in the database, except a value that is
/// moved from an external file to its row.
struct MigrationExecutor {
    let connection: any SQLConnection
    let external: ExternalData
    /// Called before each step with the number of completed steps and the total; an error that it throws ends the
    /// migration.
    let progress: (Int, Int) throws -> Void

    func run(_ plan: MigrationPlan) throws -> MigrationLoss {
        let schema = try connection.schemaVersion()
        var loss = MigrationLoss()
        for removal in plan.removals {
            guard case .integer(let count)? = try connection.rows(removal.count).first?.first, count > 0 else {
                continue
            }
            loss.objects.append((removal.entity, Int(count)))
        }
        loss.files = try plan.lostFiles.flatMap { query in
            try connection.rows(query).compactMap { row -> String? in
                guard case .blob(let stored)? = row.first else { return nil }
                return stored.withUnsafeBytes(ExternalData.fileName)
            }
        }
        for (index, step) in plan.steps.enumerated() {
            try tell(index, plan)
            do { try run(step) } catch let failure as SQLFailure { throw self.failure(of: step, failure) }
        }
        try tell(plan.steps.count, plan)
        // Programs with the open store check its model again before they write.
        guard try connection.schemaVersion() == schema else { return loss }
        do { try connection.changeSchemaVersion(rowsOf: plan.changedTables) } catch let failure as SQLFailure {
            throw Self.failure("have others look at the model again", failure)
        }
        return loss
    }

    private func tell(_ index: Int, _ plan: MigrationPlan) throws {
        do { try progress(index, plan.steps.count) } catch { throw MigrationFailure.cancelled(by: error) }
    }

    private func run(_ step: MigrationStep) throws {
        switch step.action {
        case .create(let statement): try connection.make(statement)
        case .change(let change): try connection.execute(change.text(in: connection.dialect).sql)
        case .insert(let statement): try connection.run(statement)
        // Derived values use the functions of the schema.
        case .update(let statement): try connection.run(statement.text(in: connection.dialect.inSchemas))
        case .delete(let statement): try connection.run(statement)
        case .refuse(let query, let reason):
            if try !connection.rows(query).isEmpty { throw Self.refusal(reason, step, count: try count(query)) }
        case .unwrap(let table, let column):
            try ExternalDataUnwrapping(table: table, column: column).run(connection, external)
        case .moveHistoryBits(let entity, let bits): try move(bits, of: entity)
        }
    }

    private func move(_ bits: HistoryBits, of entity: Int64) throws {
        let values = try connection.rows(bits.query(of: entity)).compactMap { row -> Data? in
            if case .blob(let data)? = row.first { data } else { nil }
        }
        // New values of one part must not equal old ones of the next part, so there is only one part unless there are
        // very many values.
        let limit = max(1, (connection.dialect.maximumBindings - 1) / 3)
        guard values.count > limit else {
            if !values.isEmpty { try connection.run(bits.update(of: entity, values)) }
            return
        }
        try moveMany(bits, of: entity)
    }

    /// Moves the bits row by row, if there are more values than a statement supports.
    private func moveMany(_ bits: HistoryBits, of entity: Int64) throws {
        let key = SQLExpression.column(nil, "Z_PK")
        var last = Int64.min
        while true {
            var query = SelectStatement(
                [.init(key), .init(.column(nil, "ZCOLUMNS"))], from: .init(BookkeepingSchema.changeTable))
            query.condition = .and([
                .comparison(.greater, key, .bind(.integer(last))),
                .comparison(.equal, .column(nil, "ZENTITY"), .integer(entity)),
            ])
            query.orders = [.init(key)]
            query.limit = 1000
            let rows = try connection.rows(query)
            for row in rows {
                guard case .integer(let number) = row[0] else { continue }
                last = number
                guard case .blob(let data) = row[1] else { continue }
                try connection.run(
                    UpdateStatement(
                        BookkeepingSchema.changeTable, set: [.init("ZCOLUMNS", .bind(.blob(bits.moved(data))))],
                        where: .comparison(.equal, key, .bind(.integer(number)))))
            }
            if rows.count < 1000 { return }
        }
    }

    // MARK: Failures

    private static func refusal(_ reason: String, _ step: MigrationStep, count: Int) -> MigrationFailure {
        let parts = (step.subject ?? "").split(separator: ".", maxSplits: 1).map(String.init)
        var failure = MigrationFailure(
            .refused, "\(reason) There \(count == 1 ? "is 1" : "are \(count)").", entity: parts.first,
            property: parts.count > 1 ? parts[1] : nil)
        failure.rowCount = count
        return failure
    }

    /// Returns the number of rows that conflict.
    private func count(_ query: SelectStatement) throws -> Int {
        var all = query
        all.limit = nil
        return try connection.rows(all).count
    }

    private func failure(of step: MigrationStep, _ failure: SQLFailure) -> MigrationFailure {
        let parts = (step.subject ?? "").split(separator: ".", maxSplits: 1).map(String.init)
        if let constraint = step.constraint, failure.kind == .constraint, let entity = parts.first {
            return .duplicates(of: constraint, entity: entity, cause: failure)
        }
        var told = Self.failure(step.words, failure)
        (told.entity, told.property) = (parts.first, parts.count > 1 ? parts[1] : nil)
        return told
    }

    private static func failure(_ words: String, _ failure: SQLFailure) -> MigrationFailure {
        MigrationFailure(
            .database, "The migration failed (\(words)): \(failure.message). The store is as it was.", cause: failure)
    }
}
