import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// Plans the steps that convert a store of one model to another.
///
/// A table remains if its columns are those of a new store; its values are then changed in place. Every other table is
/// created again, with the statement of a new store, and one statement copies its rows.
///
/// ```
///  checks → drop triggers → read files in → rename old tables → create new tables → copy rows
///         → numbers → rows in place → drop old tables → indexes → derived values → triggers → R-trees → history
///         → metadata
/// ```
/// If tables can be altered (``SQLDialect/altersTables``), columns are added to and dropped from tables that need not
/// be copied. The copying statements read the old tables, so none of these changes before the last copy.
///
/// The planner never accesses a database; see ``MigrationExecutor``.
struct MigrationPlanner {
    let source: MigrationSource
    let mapping: ModelMapping
    /// The layout of a new store of the newer model.
    let target: SchemaLayout
    /// The entities of the store's configuration in the newer model.
    let entities: [Int]
    let dialect: SQLDialect
    /// Encodes a default value that only its owner understands.
    let encode: DefaultEncoding
    /// The temporary names of old tables while rows are copied, by original name.
    var names: [String: String] = [:]
    /// Whether to defer work where possible; see ``DeferredTask``.
    var defers = false
    /// The time of the migration, in seconds since 2001, as the history records it; `nil` records nothing.
    var time: Double?
    /// By newer ordinal, the role in its rows of each column of its table.
    let roles: [[SchemaColumn.Key: RowLayout.Role]]

    /// Encodes a transformable attribute's default value to its stored form.
    typealias DefaultEncoding = @Sendable (OpaqueValue, CompiledAttribute) throws -> Data

    init(
        source: MigrationSource, mapping: ModelMapping, entities: [Int], dialect: SQLDialect,
        encode: @escaping DefaultEncoding
    ) {
        self.source = source
        self.mapping = mapping
        self.entities = entities
        self.dialect = dialect
        self.encode = encode
        target = SchemaLayout.fresh(model: mapping.destination, entities: entities, naming: dialect.naming)
        roles = mapping.destination.entities.map { entity in
            Dictionary(
                entity.rowLayout.columns.map { (SchemaColumn.Key($0.role, in: entity), $0.role) },
                uniquingKeysWith: { first, _ in first })
        }
    }

    var oldModel: CompiledModel { mapping.source }
    var newModel: CompiledModel { mapping.destination }

    /// - Parameter document: the newer model to cache in the store; `nil` if the store caches none.
    func plan(document: ModelDocument?) throws -> MigrationPlan {
        try checkConfiguration()
        let draft = try target.tables.map { try flow(to: $0) }
        let kept = try draft.filter { try isKept($0) || canWait($0) }
        let waiting = try kept.filter { try !isKept($0) }
        let keptJoins = try target.joinTables.filter { try isKept($0) }
        var planner = self
        planner.names = renamings(keeping: kept, keptJoins)
        let flows = try target.tables.map { try planner.flow(to: $0) }
        let stays = { (flow: MigrationFlow) in kept.contains { $0.table.root == flow.table.root } }

        let stayingTables = Set(kept.compactMap(\.oldTable) + keptJoins.map(\.name))
        var steps = try checks(draft)
        steps += try rTreeRemovals(keeping: stayingTables)
        steps += earlierLeavings() + triggerRemovals() + searchRemovals()
        steps += unwrappings(draft)
        steps += planner.names.sorted { $0.key < $1.key }.filter { $0.key != $0.value }.map { name, other in
            MigrationStep(.change(.renameTable(name, to: other)), "set the old table \(name) aside")
        }
        steps += try creations(keeping: kept, keptJoins)
        for flow in flows where !stays(flow) { steps += try planner.copy(flow) }
        for join in target.joinTables where !keptJoins.contains(where: { $0.master == join.master }) {
            steps += planner.copy(join)
        }
        steps += planner.numberSteps(flows)
        for flow in flows where stays(flow) {
            if waiting.contains(where: { $0.table.root == flow.table.root }) { steps += additions(to: flow) }
            steps += try planner.changeInPlace(flow)
            if dialect.altersTables { steps += droppedColumns(of: flow) }
        }
        let gone = removedTables(keeping: kept, keptJoins)
        var deferred: [DeferredTask] = []
        if defers, !dialect.altersTables {
            steps += leavings(gone)
            deferred = waiting.map { .rebuild(table: $0.table.name) } + gone.map { .drop(table: planner.current($0)) }
        } else {
            steps += planner.removals(keeping: kept, keptJoins)
        }
        steps += try indexSteps(kept: stayingTables)
        steps +=
            try derivedValues()
            + target.triggerStatements().map {
                MigrationStep(.create($0), "keep a derived attribute up to date")
            }
        steps += try rTreeSteps(keeping: stayingTables)
        steps += historySteps() + (try metadataSteps(deferred)) + (try modelCacheSteps(document))
        return MigrationPlan(
            mapping: mapping, steps: steps, losses: mapping.losses(of: source.entities), lostFiles: lostFiles(),
            removals: removedObjects(), schema: target,
            dialect: dialect, deferred: deferred)
    }

    /// Checks for an entity that remains in the model but not in the store: its objects would be lost without the
    /// developer's decision.
    private func checkConfiguration() throws {
        for ordinal in source.entities {
            guard let new = mapping.destination(of: ordinal), target.numbers[new] == nil else { continue }
            let name = newModel.entities[new].name
            throw MigrationFailure(
                .refused,
                "The entity '\(name)' is in the store and in the model, but not in the configuration that the store is opened with: its objects would be lost. Put it into the configuration, or move its objects to another store first.",
                entity: name)
        }
    }

    // MARK: - Tables

    /// Returns the temporary names of old tables: those whose names a new table needs are renamed.
    func renamings(keeping kept: [MigrationFlow], _ keptJoins: [SchemaJoinTable]) -> [String: String] {
        let stays = Set((kept.map { $0.table.name } + keptJoins.map { $0.name }).map { $0.uppercased() })
        let wanted = Set((target.tables.map(\.name) + target.joinTables.map(\.name)).map { $0.uppercased() })
        var used = Set(source.parts.map { $0.name.uppercased() }).union(wanted)
        var names: [String: String] = [:]
        for name in oldTables where !stays.contains(name.uppercased()) {
            guard wanted.contains(name.uppercased()) else { continue }
            var other = "Z_OLD_\(name)"
            while !used.insert(other.uppercased()).inserted { other += "_" }
            names[name] = other
        }
        return names
    }

    /// The tables of the older model's entities and relationships.
    private var oldTables: [String] {
        let rows = source.entities.compactMap { source.schema.layout.entities[$0]?.table }
        return Set(rows + source.schema.joinTables.map(\.name)).sorted()
    }

    /// Returns the current name of an old table while rows are copied.
    func current(_ table: String) -> String { names[table] ?? table }

    func creations(keeping kept: [MigrationFlow], _ keptJoins: [SchemaJoinTable]) throws -> [MigrationStep] {
        let stays = Set(kept.map(\.table.name) + keptJoins.map(\.name))
        return target.tableStatements().filter { !stays.contains($0.name) }.map {
            MigrationStep(.create($0), "make the table \($0.name)")
        }
    }

    func removals(keeping kept: [MigrationFlow], _ keptJoins: [SchemaJoinTable]) -> [MigrationStep] {
        removedTables(keeping: kept, keptJoins).map {
            MigrationStep(.change(.dropTable(current($0))), "drop the old table \($0)")
        }
    }

    private func removedTables(keeping kept: [MigrationFlow], _ keptJoins: [SchemaJoinTable]) -> [String] {
        let stays = Set((kept.map(\.table.name) + keptJoins.map(\.name)).map { $0.uppercased() })
        return oldTables.filter { !stays.contains($0.uppercased()) }
    }

    /// Returns whether a table of the file was created by exactly this statement.
    func isSame(_ table: CreateTable) throws -> Bool {
        guard let part = source.tables[table.name.uppercased()], part.name == table.name else { return false }
        guard dialect.keepsTexts else {
            let wanted = table.columns.map { ($0.name, dialect.catalogTypes[$0.type] ?? "") }
            return source.types[table.name] == Dictionary(wanted, uniquingKeysWith: { first, _ in first })
        }
        return try SchemaRenderer.texts(of: .table(table), in: dialect) == [part.text]
    }

    /// Returns the steps that drop triggers: derived values would be counted twice while rows move.
    func triggerRemovals() -> [MigrationStep] {
        source.parts.filter { $0.kind == .trigger && $0.name.uppercased().hasPrefix("Z_DA_") }.map {
            MigrationStep(.change(.dropTrigger($0.name, on: $0.table)), "stop keeping a derived attribute")
        } + searchTriggerRemovals()
    }

    private func searchTriggerRemovals() -> [MigrationStep] {
        source.parts.filter { $0.kind == .trigger && $0.name.hasPrefix(SearchIndex.prefix) }.map {
            MigrationStep(.change(.dropTrigger($0.name, on: $0.table)), "stop noting what a search index lacks")
        }
    }

    /// Returns the steps that drop search indexes; opening the store creates those of the newer model.
    func searchRemovals() -> [MigrationStep] {
        SearchCatalog(source.parts).tables.map {
            MigrationStep(.change(.dropTable($0)), "drop the search index \($0)")
        }
    }

    // MARK: - Indexes

    /// Returns the steps for indexes. Those of dropped tables no longer exist. On other tables, a new store's indexes
    /// are kept or created, and obsolete ones are dropped.
    func indexSteps(kept: Set<String>) throws -> [MigrationStep] {
        var present: Set<String> = []
        var steps: [MigrationStep] = []
        let wanted = try target.indexStatements()
        let texts = try Dictionary(
            wanted.map { ($0.name.uppercased(), try SchemaRenderer.texts(of: $0, in: dialect)) },
            uniquingKeysWith: { first, _ in first })
        // If the catalog stores no statements, those of the older model show which indexes exist.
        let before = dialect.keepsTexts ? [] : try source.schema.indexStatements()
        for part in source.parts where part.kind == .index && kept.contains(part.table) {
            guard dialect.keepsTexts else {
                guard let made = before.first(where: { (dialect.stored($0.name)) == part.name })
                else {
                    continue
                }
                if wanted.contains(made) {
                    present.insert(made.name.uppercased())
                } else {
                    steps.append(MigrationStep(.change(.dropIndex(made.name)), "drop the old index \(made.name)"))
                }
                continue
            }
            if texts[part.name.uppercased()] == [part.text ?? ""] {
                present.insert(part.name.uppercased())
            } else if part.name.uppercased().hasPrefix("Z") {
                steps.append(MigrationStep(.change(.dropIndex(part.name)), "drop the old index \(part.name)"))
            }
        }
        let constraints = constraintsByIndex
        for statement in wanted where !present.contains(statement.name.uppercased()) {
            let constraint = constraints[statement.name]
            steps.append(
                MigrationStep(
                    .create(statement),
                    constraint.map {
                        "see to it that \($0.entity) is unique by \($0.properties.joined(separator: ", "))"
                    }
                        ?? "make the index \(statement.name)", subject: constraint?.entity,
                    constraint: constraint?.properties))
        }
        return steps
    }

    private var constraintsByIndex: [String: (entity: String, properties: [String])] {
        var result: [String: (String, [String])] = [:]
        for ordinal in target.entities {
            let entity = newModel.entities[ordinal]
            for slots in entity.uniquenessConstraints {
                let names = slots.map { entity.properties[$0].name }
                result["Z_\(entity.name)_UNIQUE_\(names.joined(separator: "_"))"] = (entity.name, names)
            }
        }
        return result
    }

    // MARK: - Derived values

    private func derivedValues() throws -> [MigrationStep] {
        let removesRows = source.entities.contains { mapping.destination(of: $0) == nil }
        var steps: [MigrationStep] = []
        for ordinal in target.entities {
            let entity = newModel.entities[ordinal]
            for property in entity.properties where property.declaringEntity == ordinal && !property.isTransient {
                guard let expression = property.attribute?.derivationExpression else { continue }
                let derivation = try DerivedAttribute(
                    schema: target, entity: entity, property: property, expression: expression)
                if wasSame(property, entity, derivation, removesRows: removesRows) { continue }
                let numbers = entity.subtree.compactMap { target.numbers[$0] }
                steps.append(
                    MigrationStep(
                        .update(derivation.update(ofRowsWith: numbers)), "compute \(entity.name).\(property.name)",
                        subject: "\(entity.name).\(property.name)"))
            }
        }
        return steps
    }

    /// Returns whether the copied values equal the computed ones.
    private func wasSame(
        _ property: CompiledProperty, _ entity: CompiledEntity, _ derivation: DerivedAttribute, removesRows: Bool
    ) -> Bool {
        guard let old = mapping.source(of: entity.ordinal),
            let slot = mapping.sourceSlot(of: property.slot, in: entity.ordinal)
        else { return false }
        let before = oldModel.entities[old].properties[slot].attribute?.derivationExpression
        guard before == property.attribute?.derivationExpression else { return false }
        // A migration does not change the time of the last save.
        if case .now = derivation.source { return true }
        return !removesRows && mapping.entities[entity.ordinal].kind == .copy
            && mapping.entities[derivation.sourceEntity].kind == .copy
    }
}
