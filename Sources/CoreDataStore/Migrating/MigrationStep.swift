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
        /// Values that are kept in files, or in the envelope of those that may be, become plain.
        case unwrap(table: String, column: String)
        /// The bits of an entity's updates in the history get the places that properties have now.
        case moveHistoryBits(entity: Int64, HistoryBits)

        /// The table whose rows it changes.
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
    /// The entity, or `Book.pages`, that it is about.
    package var subject: String?
    /// What it does, for people.
    package var words: String
    /// The properties of a uniqueness constraint whose violation makes the step fail.
    package var constraint: [String]?

    init(_ action: Action, _ words: String, subject: String? = nil, constraint: [String]? = nil) {
        self.action = action
        self.words = words
        self.subject = subject
        self.constraint = constraint
    }

    /// The statements, as far as they are known before they run; values are bound.
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

/// Everything that makes a store of one model a store of another, in order.
package struct MigrationPlan: Sendable {
    package var mapping: ModelMapping
    package var steps: [MigrationStep]
    /// What of the store's entities nothing of the newer model takes over.
    package var losses: [MappingLoss] = []
    /// Queries for stored values whose rows or columns go, run before anything else: what they name is removed in the
    /// end.
    var lostFiles: [SelectStatement]
    /// Queries for how many objects go with each entity that is gone.
    var removals: [(entity: String, count: SelectStatement)] = []
    /// The layout that the store has in the end.
    package var schema: SchemaLayout
    /// How the store's database is written to.
    package var dialect: SQLDialect
    /// What is left to be done later.
    package var deferred: [DeferredTask] = []

    /// The tables of objects that stay and whose rows it changes.
    var changedTables: [String] {
        let changed = Set(steps.compactMap(\.action.changedTable))
        return schema.tables.map(\.name).filter(changed.contains)
    }
}

/// What a migration has taken out of a store.
package struct MigrationLoss: Sendable {
    /// Files that nothing names any more, to be removed after the commit.
    var files: [String] = []
    /// Entities that are gone, with how many objects; none of those that had none.
    package var objects: [(entity: String, count: Int)] = []
}

/// Why a store cannot be migrated, or was not.
package struct MigrationFailure: EngineFailure, Sendable {
    package enum Kind: Sendable, Equatable {
        /// Nobody has the model that the store was made with.
        case missingSourceModel
        /// The program has not the version that the store is of, and the migration would drop something.
        case unknownVersion
        /// No mapping can be inferred.
        case notInferrable
        /// Rows would not fit the new model.
        case refused
        /// Rows violate a uniqueness constraint.
        case constraint
        /// The database refused a statement.
        case database
        /// The store is to be read only.
        case readOnly
        /// Somebody asked to end it.
        case cancelled
    }

    package var kind: Kind
    /// What happened, to what, and what to do about it.
    package var message: String
    package var entity: String?
    package var property: String?
    /// How many rows are in the way, where they were counted.
    package var rowCount = 0
    /// Whether what is in the way are rows without a value that they are to have.
    package var lacksValues = false
    package var obstacles: [MappingInference.Obstacle] = []
    /// What the migration would drop.
    package var losses: [MappingLoss] = []
    /// What the database said.
    package var cause: SQLFailure?
    package var metadata: MetadataRow?
    /// What was thrown by whoever watched the migration.
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

    /// Objects would have the same values of a uniqueness constraint.
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
