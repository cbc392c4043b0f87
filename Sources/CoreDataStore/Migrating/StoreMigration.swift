import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A lightweight migration of a store to a newer model: in place, in one transaction, without an object in memory.
///
/// ```
///  source model found → lock taken → store still of that model? → plan made → steps run → commit → files removed
/// ```
/// Whatever fails, or kills the process, before the commit leaves the store as it was. Of several processes that want
/// to
/// migrate a store one does; the others wait for its lock and find that there is nothing to do.
package struct StoreMigration {
    /// The newer model.
    let document: ModelDocument
    let model: CompiledModel
    /// The members of the store's configuration, by ordinal.
    package var entities: [Int]
    let makeDatabase: DatabaseFactory
    var encode: @Sendable (OpaqueValue, CompiledAttribute) throws -> Data
    /// Finds the model with these version hashes where the store keeps no copy of its own.
    var findSource: ([String: Data]) -> ModelDocument?
    /// Whether what can wait is put off; see ``DeferredTask``.
    package var defers = false
    /// What decides whether something may be dropped; `nil` where somebody has asked for just this migration.
    package var lossRule: LossRule?
    /// Where that is given, a store with other version hashes is left alone, though it is not of the newer model.
    package var onlySource: [String: Data]?
    /// Told before each step how many are done, of how many; throws to end the migration.
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

    /// What a migration did.
    package struct Outcome: Sendable {
        /// `nil` where the store was of the newer model already.
        package var plan: MigrationPlan?
        package var loss = MigrationLoss()
    }

    /// Migrates the store, unless it is of the newer model already.
    ///
    /// - Throws: ``MigrationFailure``, ``StoreFailure``; ``SQLFailure`` for what only the database can say, such as a
    ///   lock.
    @discardableResult
    package func run(_ options: DatabaseOptions) throws -> Outcome {
        guard !options.isReadOnly else {
            throw MigrationFailure.readOnly(options.path)
        }
        return try StoreEngine.withStore(options: options, makeDatabase: makeDatabase) { database in
            var found = try database.read { try source(in: $0, options) }
            let external = ExternalData(storePath: options.path)
            while let source = found {
                let outcome = try database.write { connection -> Outcome? in
                    let row = try MetadataRow.read(connection, path: options.path)
                    guard row.metadata.mismatch(with: model, entities: entities) != nil else { return Outcome() }
                    // Somebody else migrated it to another model meanwhile.
                    guard row.metadata.versionHashes == source.hashes else { return nil }
                    let plan = try plan(source, row, connection)
                    let kinds = try StoreConstraints.remove(in: connection)
                    let loss = try MigrationExecutor(connection: connection, external: external, progress: progress)
                        .run(plan)
                    if connection.dialect.keepsComments { try connection.describe(plan.schema.comments) }
                    try StoreConstraints.make(plan.schema.constraints(kinds, document: document), in: connection)
                    return Outcome(plan: plan, loss: loss)
                }
                if let outcome {
                    if !outcome.loss.files.isEmpty, !external.isShared {
                        FormerFiles.remove(outcome.loss.files.compactMap { external.path(of: $0) }, of: external)
                    }
                    return outcome
                }
                found = try database.read { try self.source(in: $0, options) }
            }
            return Outcome()
        }
    }

    /// What a migration would do; `nil` where there is nothing to do. Changes nothing.
    package func plan(_ options: DatabaseOptions) throws -> MigrationPlan? {
        var options = options
        options.isReadOnly = true
        return try StoreEngine.withStore(options: options, makeDatabase: makeDatabase) { database in
            try database.read { connection in
                guard let source = try source(in: connection, options) else { return nil }
                return try plan(source, MetadataRow.read(connection, path: options.path), connection)
            }
        }
    }

    func plan(_ source: Source, _ row: MetadataRow, _ connection: any SQLConnection) throws -> MigrationPlan {
        let stored = Set(entities)
        let mapping: ModelMapping
        let (old, new) = (
            ModelPairing.Side(source.model, document: source.document), ModelPairing.Side(model, document: document)
        )
        do {
            mapping = try ModelMapping.inferred(from: old, to: new, where: stored.contains)
        } catch  where error.obstacles.allSatisfy({ $0.kind == .requiredWithoutDefault }) {
            // Whether that is in the way the rows say.
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
        return try planner.plan(document: document)
    }
}

extension StoreMigration {
    /// - Throws: 134110 where rows have no value for an attribute that has to have one and has no default.
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

    /// The model that a store was made with.
    struct Source {
        var document: ModelDocument
        var model: CompiledModel
        /// Those of its entities that the store has, by ordinal.
        var entities: [Int]
        var hashes: [String: Data]
    }

    /// The store's own copy first, then whatever else has its hashes; `nil` where the store is of the newer model.
    func source(in connection: any SQLConnection, _ options: DatabaseOptions) throws -> Source? {
        let missing = try StoreCatalog.read(connection).missingBookkeeping
        guard missing.isEmpty else { throw StoreFailure.notAStore(options.path, missing: missing) }
        return try source(of: MetadataRow.read(connection, path: options.path), path: options.path) {
            try cachedModel(connection, options)
        }
    }

    /// The same by what the store says of itself.
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

    /// The store's own copy of its model; `nil` where there is none that can be read.
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
