import CoreDataModel
import CoreDataSQL
import Foundation

/// Executes the deferred tasks of a lightweight migration one at a time, each in a transaction of its own.
///
///     while try engine.finishDeferredTask(document) {}
///
/// The store can be used meanwhile: tables and columns have the same names before and after.
extension StoreEngine: DeferringSource {
    /// Returns whether there are deferred tasks.
    package func hasDeferredTasks() throws -> Bool { try !metadata().metadata.deferredTasks.isEmpty }

    /// Executes the next task.
    ///
    /// - Parameter document: the store's model.
    /// - Returns: whether there was a task.
    package func finishDeferredTask(_ document: ModelDocument) throws -> Bool {
        // Check without the lock first, since usually there is no task.
        guard try hasDeferredTasks() else { return false }
        return try write { connection in
            let row = try MetadataRow.read(connection)
            var tasks = row.metadata.deferredTasks
            guard !tasks.isEmpty else { return false }
            let task = tasks.removeFirst()
            let side = ModelPairing.Side(model, document: document)
            let mapping = ModelMapping(ModelPairing(old: side, new: side))
            let planner = MigrationPlanner(
                source: try MigrationSource.read(connection, model: model, entities: entities, metadata: row),
                mapping: mapping, entities: entities, dialect: connection.dialect, encode: { _, _ in Data() })
            let steps: [MigrationStep]
            switch task {
            case .rebuild(let table): steps = try planner.rebuild(table)
            case .drop(let table):
                steps =
                    planner.isLeft(table)
                    ? [MigrationStep(.change(.dropTable(table)), "drop the old table \(table)")] : []
            }
            let searches = connection.dialect.hasSearchTables ? try SearchCatalog.read(connection) : nil
            let plan = MigrationPlan(
                mapping: mapping, steps: steps, lostFiles: [], schema: planner.target, dialect: planner.dialect)
            _ = try MigrationExecutor(connection: connection, external: externalData, progress: { _, _ in }).run(plan)
            if let searches { try SearchIndexes.restoreTriggers(of: searches, in: connection) }
            let update = UpdateStatement(
                BookkeepingSchema.metadataTable,
                set: [.init("Z_PLIST", .bind(.blob(try row.metadata.deferring(tasks).propertyList)))])
            try connection.run(update)
            return true
        }
    }
}
