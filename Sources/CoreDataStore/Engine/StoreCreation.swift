import CoreDataModel
import CoreDataSQL
import Foundation

/// What is written into a new store's file.
struct StoreCreation {
    let schema: SchemaLayout
    let statements: [SchemaStatement]
    let identifier: String
    let metadata: StoreMetadata
    private let modelCache: Data?
    private let tombstones: Int?

    init(
        model: CompiledModel, entities: [Int], options: StoreOptions, naming: SQLDialect.Naming = .apples
    ) throws {
        schema = SchemaLayout.fresh(model: model, entities: entities, naming: naming)
        statements = try schema.statements()
        if naming == .models { try schema.checkTypesOfDerivations() }
        identifier = options.identifier ?? UUID().uuidString
        metadata = try StoreMetadata.made(
            for: model, entities: entities, type: options.type, adding: options.metadata)
        modelCache = try options.document.map { try ModelArchive.modelCache(for: $0()) }
        tombstones = options.tracksHistory ? Self.tombstoneCount(model: model, entities: entities) : nil
    }

    func run(_ connection: any SQLConnection) throws {
        try Self.make(statements, in: connection)
        if connection.dialect.notesCommits { try Self.createCommits(in: connection) }
        try connection.keepSchemaVersion()
        for ordinal in schema.entities {
            let entity = schema.model.entities[ordinal]
            guard let number = schema.numbers[ordinal] else { continue }
            let parent = entity.parent.flatMap { schema.numbers[$0] } ?? 0
            try connection.run(Self.insertion(ofEntity: entity.name, number: number, parent: parent))
        }
        try connection.run(MetadataRow(identifier: identifier, metadata: metadata).insertion(in: connection.dialect))
        if let modelCache {
            try connection.run(
                InsertStatement(
                    into: BookkeepingSchema.modelCacheTable, columns: ["Z_CONTENT"],
                    rows: [[.bind(.blob(modelCache))]]))
        }
        if connection.dialect.keepsComments {
            try connection.describe(schema.comments + [SchemaLayout.commitsComment])
        }
        if let tombstones { try Self.createHistory(tombstones: tombstones, in: connection) }
    }

    /// Adds the table in which transactions note that they are committed.
    static func createCommits(in connection: any SQLConnection) throws {
        try make([.table(BookkeepingSchema.commits)], in: connection)
    }

    /// Adds the tables of history to a store that has none. Their rows in `Z_PRIMARYKEY` come with the first transaction, as
    /// in Apple's files; where several write at once, each finds them there.
    static func createHistory(tombstones: Int, in connection: any SQLConnection) throws {
        try make(BookkeepingSchema.history(tombstones: tombstones), in: connection)
        if connection.dialect.writesTogether { try numberHistory(in: connection) }
    }

    /// Adds the rows of `Z_PRIMARYKEY` that count what a history has, where they are missing.
    static func numberHistory(in connection: any SQLConnection) throws {
        for (number, name) in BookkeepingSchema.historyEntities {
            var insert = insertion(ofEntity: name, number: number, parent: 0)
            insert.conflict = .ignore
            try connection.run(insert)
        }
        try connection.makeHistoryView()
    }

    private static func make(_ statements: [SchemaStatement], in connection: any SQLConnection) throws {
        for statement in statements { try connection.make(statement) }
    }

    private static func insertion(ofEntity name: String, number: Int64, parent: Int64) -> InsertStatement {
        InsertStatement(
            into: BookkeepingSchema.primaryKeyTable, columns: ["Z_ENT", "Z_NAME", "Z_SUPER", "Z_MAX"],
            rows: [[.integer(number), .bind(.text(name)), .integer(parent), .integer(0)]])
    }

    /// The largest number of attributes, and of elements of composite attributes, that one entity keeps after deletion.
    static func tombstoneCount(model: CompiledModel, entities: [Int]) -> Int {
        entities.map { HistoryLayout.tombstones(of: model.entities[$0]).count }.max() ?? 0
    }
}
