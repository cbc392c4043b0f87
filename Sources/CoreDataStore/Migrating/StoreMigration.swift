import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A lightweight migration of a store to a newer model: in place, in one transaction, without objects in memory.
///
/// ```
///  find the source model → lock → still that model? → plan → run the steps → commit → delete files
/// ```
/// After a failure or a crash before the commit, the store is unchanged. If several processes migrate a store at the
/// same time, one does it; the others wait for its lock and then find nothing to do.
package struct StoreMigration {
    /// The newer model.
    let document: ModelDocument
    let model: CompiledModel
    /// The entities of the store's configuration, by ordinal.
    package var entities: [Int]
    let makeDatabase: DatabaseFactory
    var encode: @Sendable (OpaqueValue, CompiledAttribute) throws -> Data
    /// Finds the model with these version hashes if the store has no cached model.
    var findSource: ([String: Data]) -> ModelDocument?
    /// Whether to defer work where possible; see ``DeferredTask``.
    package var defers = false
    /// The rule that decides whether data may be dropped; `nil` if the user explicitly requested this migration.
    package var lossRule: LossRule?
    /// If set, a store with other version hashes is not migrated, even if it does not have the newer model.
    package var onlySource: [String: Data]?
    /// Called before each step with the number of completed steps and the total; an error that it throws ends the
    /// migration.
    var progress: (Int, Int) throws -> Void = { _, _ in }

    package init(
        to document: ModelDocument, model: CompiledModel, configuration: String?,
        encode: @escaping @Sendable (OpaqueValue, CompiledAttribute) throws -> Data,
        findSource: @escaping ([String: Data]) -> ModelDocument?,
        progress: @escaping (Int, Int) throws -> Void = { _, _ in },
        makeDatabase: @escaping DatabaseFactory
    ) throws {
        guard let members = model.entities(inConfiguration: configuration) else {
            throw StoreFailure(.unknownConfiguration, "The model has no configuration '\(configuration ?? "")'.")
        }
        self.document = document
        self.model = model
        entities = members.map(\.ordinal)
        self.encode = encode
        self.findSource = findSource
        self.progress = progress
        self.makeDatabase = makeDatabase
    }

    /// The result of a migration.
    package struct Outcome: Sendable {
        /// The plan; `nil` if the store already had the newer model.
        package var plan: MigrationPlan?
        package var loss = MigrationLoss()
    }

    /// Migrates the store, unless it already has the newer model.
    ///
    /// - Throws: ``MigrationFailure``, ``StoreFailure``; ``SQLFailure`` for errors of the database, such as a lock.
    @discardableResult
    package func run(_ options: DatabaseOptions) throws -> Outcome {
        guard !options.isReadOnly else {
            throw MigrationFailure.readOnly(options.path)
        }
        var options = options
        // A refused migration must not change the file. Opening the store afterwards sets the journal mode.
        options.keepsJournal = true
        return try StoreEngine.withStore(options: options, makeDatabase: makeDatabase) { database in
            var found = try database.read { try source(in: $0, options) }
            let external = ExternalData(storePath: options.path)
            while let source = found {
                let outcome = try database.write { connection -> Outcome? in
                    let row = try MetadataRow.read(connection, path: options.path)
                    guard row.metadata.mismatch(with: model, entities: entities) != nil else { return Outcome() }
                    // Another client has migrated it to another model meanwhile.
                    guard row.metadata.versionHashes == source.hashes else { return nil }
                    let plan = try plan(source, row, connection, at: options.clock.now)
                    let kinds = try StoreConstraints.remove(in: connection)
                    let loss = try MigrationExecutor(connection: connection, external: external, progress: progress)
                        .run(plan)
                    if connection.dialect.keepsComments { try connection.describe(plan.schema.comments) }
                    try StoreConstraints.make(plan.schema.constraints(kinds, document: document), in: connection)
                    return Outcome(plan: plan, loss: loss)
                }
                if let outcome {
                    // If the commit is not on the disk yet, the rows that name the files may come back.
                    if !outcome.loss.files.isEmpty, !external.isShared, (try? database.synchronize()) != nil {
                        FormerFiles.remove(outcome.loss.files.compactMap { external.path(of: $0) }, of: external)
                    }
                    return outcome
                }
                found = try database.read { try self.source(in: $0, options) }
            }
            return Outcome()
        }
    }

    /// Returns the plan of the migration; `nil` if no migration is needed. It changes nothing.
    package func plan(_ options: DatabaseOptions) throws -> MigrationPlan? {
        var options = options
        options.isReadOnly = true
        return try StoreEngine.withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.read { connection in
                guard let source = try source(in: connection, options) else { return nil }
                return try plan(
                    source, MetadataRow.read(connection, path: options.path), connection, at: options.clock.now)
            }
        }
    }

    /// - Parameter time: when the migration runs, as the history records it; `nil` for one that a history does not
    ///   record: of a store without history, and one that another program runs later, when the keys of the record may
    ///   be taken.
    func plan(
        _ source: Source, _ row: MetadataRow, _ connection: any SQLConnection, at time: Double? = nil
    ) throws -> MigrationPlan {
        let stored = Set(entities)
        let mapping: ModelMapping
        let (old, new) = (
            ModelPairing.Side(source.model, document: source.document), ModelPairing.Side(model, document: document)
        )
        do {
            mapping = try ModelMapping.inferred(from: old, to: new, where: stored.contains)
        } catch  where error.obstacles.allSatisfy({ $0.kind == .requiredWithoutDefault }) {
            // Whether this is an obstacle depends on the rows.
            mapping = ModelMapping(ModelPairing(old: old, new: new))
            try checkValues(error.obstacles, mapping, source, row, connection)
        } catch {
            var failure = MigrationFailure(
                .notInferrable, "No mapping can be inferred: \(error.message).",
                entity: error.obstacles.first.flatMap { $0.subject.split(separator: ".").first.map(String.init) },
                property: error.obstacles.first.flatMap { obstacle in
                    let parts = obstacle.subject.split(separator: ".")
                    return parts.count > 1 ? String(parts[1]) : nil
                })
            failure.obstacles = error.obstacles
            failure.metadata = row
            throw failure
        }
        try lossRule?.check(
            mapping.losses(of: source.entities), from: source.hashes, to: model.versionHashes(of: entities), row)
        var planner = MigrationPlanner(
            source: try MigrationSource.read(
                connection, model: source.model, entities: source.entities, metadata: row), mapping: mapping,
            entities: entities, dialect: connection.dialect, encode: encode)
        planner.defers = defers
        planner.time = time
        return try planner.plan(document: document)
    }
}

extension StoreMigration {
    /// - Throws: error 134110 if rows lack a value for a required attribute without default.
    private func checkValues(
        _ obstacles: [MappingInference.Obstacle], _ mapping: ModelMapping, _ source: Source, _ row: MetadataRow,
        _ connection: any SQLConnection
    ) throws {
        let layout = try MigrationSource.read(
            connection, model: source.model, entities: source.entities, metadata: row
        ).schema
        var lacking: [(obstacle: MappingInference.Obstacle, count: Int)] = []
        for obstacle in obstacles {
            let parts = obstacle.subject.split(separator: ".", maxSplits: 1).map(String.init)
            guard let entity = parts.first.flatMap({ model.entity(named: $0) }), parts.count > 1,
                let property = entity.property(named: parts[1])
            else { continue }
            var count = 0
            for heir in entity.subtree {
                guard let ordinal = mapping.source(of: heir), let bound = layout.layout.entities[ordinal],
                    let number = layout.numbers[ordinal]
                else { continue }
                let slot = model.entities[heir].property(named: property.name).flatMap {
                    mapping.sourceSlot(of: $0.slot, in: heir)
                }
                let old = source.model.entities[ordinal]
                let column = slot.map { old.rowLayout.columnOfSlot[$0] }.flatMap {
                    $0 < 0 ? nil : bound.columnNames[$0]
                }
                var query = SelectStatement([.init(.countAll)], from: .init(bound.table))
                let isOfEntity = SQLExpression.comparison(.equal, .column(nil, "Z_ENT"), .integer(number))
                query.condition = column.map { .and([isOfEntity, .isNull(.column(nil, $0))]) } ?? isOfEntity
                if case .integer(let found)? = try connection.rows(query).first?.first { count += Int(found) }
            }
            if count > 0 { lacking.append((obstacle, count)) }
        }
        guard let first = lacking.first else { return }
        let texts = lacking.map { obstacle, count in
            "'\(obstacle.subject)' \(obstacle.message), and \(count) object\(count == 1 ? " has" : "s have") no value for it"
        }
        let parts = first.obstacle.subject.split(separator: ".", maxSplits: 1).map(String.init)
        var failure = MigrationFailure(
            .refused,
            "\(texts.joined(separator: "; ")). Give it a default value, leave it optional, or write a mapping model; the store is as it was.",
            entity: parts.first, property: parts.count > 1 ? parts[1] : nil)
        failure.rowCount = lacking.reduce(0) { $0 + $1.count }
        failure.lacksValues = true
        failure.metadata = row
        throw failure
    }

    /// The model with which a store was created.
    struct Source {
        var document: ModelDocument
        var model: CompiledModel
        /// The entities in the store, by ordinal.
        var entities: [Int]
        var hashes: [String: Data]
    }

    /// Returns the cached model, else another one with its hashes; `nil` if the store already has the newer model.
    func source(in connection: any SQLConnection, _ options: DatabaseOptions) throws -> Source? {
        let missing = try StoreCatalog.read(connection).missingBookkeeping
        guard missing.isEmpty else { throw StoreFailure.notAStore(options.path, missing: missing) }
        return try source(of: MetadataRow.read(connection, path: options.path), path: options.path) {
            try cachedModel(connection, options)
        }
    }

    /// Returns the source model, based on the store's metadata.
    func source(of row: MetadataRow, path: String?, cached: () throws -> ModelDocument?) throws -> Source? {
        guard row.metadata.mismatch(with: model, entities: entities) != nil, let hashes = row.metadata.versionHashes
        else { return nil }
        if let onlySource, hashes.contains(where: { onlySource[$0.key] != $0.value }) { return nil }
        if let cached = try cached(), let source = Self.source(cached, hashes) { return source }
        if let found = findSource(hashes), let source = Self.source(found, hashes) { return source }
        var failure = MigrationFailure(
            .missingSourceModel,
            "Nobody has the model that the store\(StoreFailure.quoted(path)) was made with: the store keeps no copy of it, and no version of a model in the bundles, or beside the model that it is opened with, has its version hashes (\(hashes.keys.sorted().joined(separator: ", "))). Put the older version back into the model."
        )
        failure.metadata = row
        throw failure
    }

    /// Returns the store's cached model; `nil` if there is none or it cannot be read.
    private func cachedModel(_ connection: any SQLConnection, _ options: DatabaseOptions) throws -> ModelDocument? {
        do {
            return try ModelCache.document(in: connection, path: options.path)
        } catch let failure as StoreFailure where failure.kind == .noCachedModel { return nil }
    }

    private static func source(_ document: ModelDocument, _ hashes: [String: Data]) -> Source? {
        guard let model = try? ModelCompiler.compile(document) else { return nil }
        let entities = hashes.compactMap { name, hash -> Int? in
            guard let entity = model.entity(named: name), entity.hasVersionHash(hash) else { return nil }
            return entity.ordinal
        }
        guard entities.count == hashes.count else { return nil }
        return Source(document: document, model: model, entities: entities.sorted(), hashes: hashes)
    }
}
