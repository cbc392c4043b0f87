import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// One operation of a migration, as data.
package struct MigrationStep: Sendable {
    package enum Action: Sendable {
        case create(SchemaStatement)
        case change(SchemaChange)
        case insert(InsertStatement)
        case update(UpdateStatement)
        case delete(DeleteStatement)
        /// The migration fails if the query finds a row.
        case refuse(SelectStatement, because: String)
        /// Values in external files, or in their envelopes, become plain.
        case unwrap(table: String, column: String)
        /// Moves the bits of an entity's updates in the history to the properties' new positions.
        case moveHistoryBits(entity: Int64, HistoryBits)

        /// The table whose rows the step changes.
        var changedTable: String? {
            switch self {
            case .insert(let statement): statement.table
            case .update(let statement): statement.table
            case .delete(let statement): statement.table
            case .unwrap(let table, _): table
            case .create, .change, .refuse, .moveHistoryBits: nil
            }
        }
    }

    package var action: Action
    /// The subject: an entity, or `Book.pages`.
    package var subject: String?
    /// The description of the step.
    package var words: String
    /// The properties of a uniqueness constraint whose violation makes the step fail.
    package var constraint: [String]?

    init(_ action: Action, _ words: String, subject: String? = nil, constraint: [String]? = nil) {
        self.action = action
        self.words = words
        self.subject = subject
        self.constraint = constraint
    }

    /// Returns the statements, as far as they are known before running; values are bound.
    package func texts(in dialect: SQLDialect) throws -> [SQLText] {
        switch action {
        case .create(let statement): return try SchemaRenderer.statements(of: statement, in: dialect)
        case .change(let change): return [change.text(in: dialect)]
        case .insert(let statement): return [statement.text(in: dialect)]
        case .update(let statement): return [statement.text(in: dialect)]
        case .delete(let statement): return [statement.text(in: dialect)]
        case .refuse(let query, _): return [query.text(in: dialect)]
        case .unwrap(let table, let column):
            return [ExternalDataUnwrapping(table: table, column: column).query(after: 0).text(in: dialect)]
        case .moveHistoryBits(let entity, let bits): return [bits.query(of: entity).text(in: dialect)]
        }
    }
}

/// All steps that convert a store of one model to another, in order.
package struct MigrationPlan: Sendable {
    package var mapping: ModelMapping
    package var steps: [MigrationStep]
    /// The data of the store's entities that the newer model does not take over.
    package var losses: [MappingLoss] = []
    /// Queries for stored values whose rows or columns are removed, run first: the files that they name are deleted at
    /// the end.
    var lostFiles: [SelectStatement]
    /// Queries for the number of objects of each removed entity.
    var removals: [(entity: String, count: SelectStatement)] = []
    /// The layout of the store after the migration.
    package var schema: SchemaLayout
    /// The SQL dialect of the store's database.
    package var dialect: SQLDialect
    /// The deferred tasks.
    package var deferred: [DeferredTask] = []

    /// The tables of remaining objects whose rows the plan changes.
    var changedTables: [String] {
        let changed = Set(steps.compactMap(\.action.changedTable))
        return schema.tables.map(\.name).filter(changed.contains)
    }
}

/// The data that a migration has removed from a store.
package struct MigrationLoss: Sendable {
    /// Unused files, to be deleted after the commit.
    var files: [String] = []
    /// Removed entities with the number of their objects, without those that had none.
    package var objects: [(entity: String, count: Int)] = []
}

/// The reason why a store cannot be migrated, or was not.
package struct MigrationFailure: EngineFailure, Sendable {
    package enum Kind: Sendable, Equatable {
        /// The model of the store was not found.
        case missingSourceModel
        /// The store's version is unknown to the program, and the migration would drop data.
        case unknownVersion
        /// No mapping can be inferred.
        case notInferrable
        /// Rows would not fit the new model.
        case refused
        /// Rows violate a uniqueness constraint.
        case constraint
        /// The database refused a statement.
        case database
        /// The store is read-only.
        case readOnly
        /// The migration was cancelled.
        case cancelled
    }

    package var kind: Kind
    /// What failed, on which entity or property, and what to do about it.
    package var message: String
    package var entity: String?
    package var property: String?
    /// The number of conflicting rows, if they were counted.
    package var rowCount = 0
    /// Whether the conflicting rows lack a required value.
    package var lacksValues = false
    package var obstacles: [MappingInference.Obstacle] = []
    /// The data that the migration would drop.
    package var losses: [MappingLoss] = []
    /// The database's failure.
    package var cause: SQLFailure?
    package var metadata: MetadataRow?
    /// The error of the progress closure.
    package var underlying: (any Error)?

    package init(
        _ kind: Kind, _ message: String, entity: String? = nil, property: String? = nil, cause: SQLFailure? = nil
    ) {
        self.kind = kind
        self.message = message
        self.entity = entity
        self.property = property
        self.cause = cause
    }
}

extension MigrationFailure {
    package static func cancelled(by error: any Error) -> MigrationFailure {
        var failure = MigrationFailure(.cancelled, "The migration was cancelled; the store is as it was.")
        failure.underlying = error
        return failure
    }

    /// Returns the failure for objects with equal values of a uniqueness constraint.
    package static func duplicates(
        of constraint: [String], entity: String, cause: SQLFailure? = nil
    ) -> MigrationFailure {
        MigrationFailure(
            .constraint,
            "The objects of '\(entity)' are to be unique by (\(constraint.joined(separator: ", "))), and after the migration some would not be. Either the store has them already: remove them with the model that it was made with; or a new attribute has the same default for all: leave it optional and without a default, and fill it in a custom stage or by a mapping model. The store is as it was.",
            entity: entity, property: constraint.count == 1 ? constraint[0] : nil, cause: cause)
    }

    static func readOnly(_ path: String?) -> MigrationFailure {
        MigrationFailure(
            .readOnly,
            "The store\(StoreFailure.quoted(path)) has to be migrated, and it is to be read only. Open it once for writing, or with the model that it was made with."
        )
    }
}
