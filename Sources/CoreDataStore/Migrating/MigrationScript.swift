import CoreDataModel
import CoreDataSQL
import Foundation

/// A lightweight migration of a store on a server as a script, which another program runs in one transaction. It
/// contains the statements that ``StoreMigration`` would run. The server computes values that ``StoreMigration`` would
/// query.
///
/// Between planning and running, rows, keys and the history may change. The script refuses a store whose version or
/// metadata have changed.
struct MigrationScript {
    let plan: MigrationPlan
    let document: ModelDocument
    /// The current store.
    let source: MigrationSource
    let schema: String
    /// The bytes of the store's property list.
    let propertyList: [UInt8]
    /// This library's constraints on the tables.
    let constraints: [(table: String, name: String)]

    private var dialect: SQLDialect { plan.dialect }

    /// Returns the statements with descriptions, without semicolons.
    func statements() throws -> [(words: String, statements: [String])] {
        var result: [(words: String, statements: [String])] = [
            (
                "keep others out, and see that the store is as it was",
                ServerText.beginScript(
                    schema: schema, identifier: source.metadata.identifier, propertyList: propertyList, in: dialect)
            )
        ]
        if !constraints.isEmpty {
            let drops = constraints.map { SchemaChange.dropConstraint($0.name, on: $0.table).script(in: dialect) }
            result.append(("take the constraints away", drops))
        }
        for step in plan.steps { result.append((step.words, try statements(of: step))) }
        result.append(("go on behind the keys that were given out", keys()))
        result.append(("say what tables and columns are", [ServerText.describe(plan.schema.comments, in: dialect)]))
        let kinds = constraints.reduce(into: ConstraintKinds()) { $0.formUnion(ConstraintKinds(ofName: $1.name)) }
        let wanted = plan.schema.constraints(kinds, document: document)
        if !wanted.isEmpty { result.append(("put the constraints back", wanted.flatMap(statements(of:)))) }
        result.append(
            (
                "have programs look at the model again",
                ServerText.endScript(schema: schema, changed: plan.changedTables, in: dialect)
            ))
        return result
    }

    private func statements(of step: MigrationStep) throws -> [String] {
        switch step.action {
        case .create(let statement): return try SchemaRenderer.texts(of: statement, in: dialect)
        case .change(let change): return [change.script(in: dialect)]
        case .insert(let statement): return [statement.script(in: dialect)]
        // Use the same dialect as the executor.
        case .update(let statement): return [statement.script(in: dialect.inSchemas)]
        case .delete(let statement): return [statement.script(in: dialect)]
        case .refuse(let query, let reason):
            return [ServerText.refusal(if: query.script(in: dialect), reason, in: dialect)]
        // Stores on a server have no external files.
        case .unwrap: return []
        case .moveHistoryBits(let entity, let bits):
            return [
                ServerText.moveHistoryBits(of: entity, places: bits.places, byteCount: bits.byteCount, in: dialect)
            ]
        }
    }

    private func statements(of constraint: TableConstraint) -> [String] {
        [
            SchemaChange.addConstraint(constraint).script(in: dialect),
            SchemaChange.describeConstraint(constraint).script(in: dialect),
            ServerText.validateIfMet(
                SchemaChange.validateConstraint(constraint.name, on: constraint.table).script(in: dialect)),
        ]
    }

    /// Updates the counters: the plan contains the highest keys at planning time, and more may be assigned before the
    /// script runs.
    private func keys() -> [String] {
        plan.schema.tables.compactMap { table in
            guard let number = plan.schema.numbers[table.root] else { return nil }
            let former = plan.schema.model.entities[table.root].subtree
                .compactMap { plan.mapping.source(of: $0) }
                .compactMap { source.schema.numbers[source.schema.model.entities[$0].root] }
            return former.isEmpty ? nil : ServerText.keepKeys(of: number, from: Set(former).sorted())
        }
    }
}

extension StoreMigration {
    /// Returns the migration as statements for another program, each step with a description; `nil` if no migration is
    /// needed. It changes nothing.
    ///
    /// - Throws: ``StoreFailure`` for a store that is not on a server.
    package func script(_ options: DatabaseOptions) throws -> [(words: String, statements: [String])]? {
        var options = options
        options.isReadOnly = true
        return try StoreEngine.withStore(options: options, makeDatabase: makeDatabase) { database in
            guard database.dialect.sharesSchema, let schema = try database.settings()["schema"] else {
                throw StoreFailure(.cannotOpen, "Only a store on a server is migrated by a script.")
            }
            return try database.read { connection in
                guard let source = try source(in: connection, options) else { return nil }
                let row = try MetadataRow.read(connection, path: options.path)
                let list = SelectStatement(
                    [.init(.column(nil, "Z_PLIST"))], from: .init(BookkeepingSchema.metadataTable))
                guard case .blob(let propertyList)? = try connection.rows(list).first?.first else { return nil }
                return try MigrationScript(
                    plan: plan(source, row, connection), document: document,
                    source: MigrationSource.read(
                        connection, model: source.model, entities: source.entities, metadata: row),
                    schema: schema, propertyList: Array(propertyList),
                    constraints: StoreConstraints.names(in: connection)
                ).statements()
            }
        }
    }
}
