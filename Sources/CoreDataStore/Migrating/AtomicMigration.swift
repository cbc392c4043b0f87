import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A lightweight migration of a single-file store.
///
/// ```
///  read the file ──▶ rows to a database in memory ──▶ migrate like an SQLite store ──▶ rows ──▶ rewrite the file
/// ```
/// The result is the same as in SQLite, including keys and refusals. The old file is kept until the new one is
/// complete. If another client has written the file meanwhile, it is read again.
package struct AtomicMigration {
    private let format: (any AtomicFormat.Type)?
    private let storeType: String
    private let migration: StoreMigration

    package init(_ format: any AtomicFormat.Type, _ migration: StoreMigration) {
        (self.format, self.migration) = (format, migration)
        storeType = format.storeType
    }

    /// Makes a migration of rows that the caller reads and writes.
    package init(ofRowsOf storeType: String, _ migration: StoreMigration) {
        (self.storeType, self.migration) = (storeType, migration)
        format = nil
    }

    /// Returns the migrated rows of a store with the metadata, which `read` reads with the model that it receives;
    /// `nil` if the store already has the newer model.
    package func migrated(
        _ row: MetadataRow, path: String?, read: (ModelDocument) throws -> MemoryContents
    ) throws -> (contents: MemoryContents, outcome: StoreMigration.Outcome)? {
        guard let source = try migration.source(of: row, path: path, cached: { nil }) else { return nil }
        let (contents, outcome) = try migrated(try read(source.document), source)
        return (contents, outcome)
    }

    /// Migrates the store, unless it already has the newer model.
    ///
    /// - Throws: ``MigrationFailure``, ``StoreFailure``, ``AtomicFileFailure``. The file is then unchanged.
    package func run(path: String, timeout: Double?, isReadOnly: Bool) throws -> StoreMigration.Outcome {
        guard let format else { return .init() }
        guard !isReadOnly else { throw MigrationFailure.readOnly(path) }
        try format.check(migration.model, entities: migration.entities)
        var file = AtomicFile(path: path)
        if let timeout { file.timeout = timeout }
        while true {
            let (data, stamp) = try file.read()
            let row = try format.metadata(in: data, path: path)
            guard let source = try migration.source(of: row, path: path, cached: { nil }) else { return .init() }
            let old = try format.contents(
                in: data, model: source.model, entities: source.entities, path: path)
            let (new, outcome) = try migrated(old, source)
            do {
                _ = try file.replace(stamp) { try format.write(new, entities: migration.entities, to: $0) }
                return outcome
            } catch let failure as AtomicFileFailure where failure.kind == .changed {}
        }
    }

    /// Returns the plan of ``run(path:timeout:isReadOnly:)``, without checks that need the objects; `nil` if no
    /// migration is needed.
    package func plan(path: String) throws -> MigrationPlan? {
        guard let format else { return nil }
        try format.check(migration.model, entities: migration.entities)
        let row = try AtomicStore.metadata(format, path: path)
        guard let source = try migration.source(of: row, path: path, cached: { nil }) else { return nil }
        var contents = MemoryContents(model: source.model)
        contents.metadata = row.metadata
        return try inDatabase(contents, source) { database in
            try database.read { try migration.plan(source, MetadataRow.read($0), $0) }
        }
    }

    private func migrated(
        _ old: MemoryContents, _ source: StoreMigration.Source
    ) throws -> (MemoryContents, StoreMigration.Outcome) {
        try inDatabase(old, source) { database in
            let (plan, loss) = try database.write { connection in
                let plan = try migration.plan(source, MetadataRow.read(connection), connection)
                let loss = try MigrationExecutor(
                    connection: connection, external: ExternalData(storePath: nil), progress: migration.progress
                ).run(plan)
                // They would recompute values that are already correct.
                try Self.removeTriggers(connection)
                return (plan, loss)
            }
            let (row, numbers) = try database.read { connection in
                (try MetadataRow.read(connection), try EntityNumber.all(in: connection))
            }
            let engine = StoreEngine(
                model: migration.model, layout: plan.schema.layout, database: database, identifier: old.identifier,
                metadata: row.metadata, entities: migration.entities)
            var contents = MemoryContents(model: migration.model, identifier: old.identifier)
            contents.metadata = row.metadata
            contents.graph = try RowCopy.graph(of: engine, model: migration.model, entities: migration.entities)
            for number in numbers {
                guard let root = migration.model.ordinalByName[number.name],
                    migration.model.entities[root].root == root
                else { continue }
                contents.lastKeys[root] = number.maximum
            }
            if format?.sharesKeys == true { contents.lastKeys = [-1: old.lastKeys.values.max() ?? 0] }
            return (contents, .init(plan: plan, loss: loss))
        }
    }

    // MARK: The database

    /// Runs `body` with a store of the older model in memory.
    private func inDatabase<R>(
        _ contents: MemoryContents, _ source: StoreMigration.Source, _ body: (any SQLDatabase) throws -> R
    ) throws -> R {
        var options = StoreOptions(path: nil)
        options.type = storeType
        options.identifier = contents.identifier
        options.metadata = contents.metadata
        let creation = try StoreCreation(model: source.model, entities: source.entities, options: options)
        let database = try migration.makeDatabase(options.database)
        defer { database.close() }
        try database.write { connection in
            try creation.run(connection)
            try Self.removeTriggers(connection)
            for (root, key) in contents.lastKeys {
                guard creation.schema.numbers.indices.contains(root), let number = creation.schema.numbers[root]
                else { continue }
                try connection.run(
                    UpdateStatement(
                        BookkeepingSchema.primaryKeyTable, set: [.init("Z_MAX", .integer(key))],
                        where: .comparison(.equal, .column(nil, "Z_ENT"), .integer(number))))
            }
        }
        let engine = StoreEngine(
            model: source.model, layout: creation.schema.layout, database: database, identifier: contents.identifier,
            metadata: creation.metadata, entities: source.entities)
        let memory = try MemoryEngine(contents, entities: source.entities, isReadOnly: true)
        try RowCopy(from: memory, to: engine, model: source.model).run()
        return try body(database)
    }

    private static func removeTriggers(_ connection: any SQLConnection) throws {
        for row in try connection.rows(CatalogQuery.texts) {
            guard row[0] == .text("trigger"), case .text(let name) = row[1], case .text(let table) = row[2] else {
                continue
            }
            try connection.execute(SchemaChange.dropTrigger(name, on: table).text(in: connection.dialect).sql)
        }
    }
}
