import CoreDataModel
import CoreDataSQL
import Foundation

/// Writes the content of a new store.
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
        try BookkeepingCreation.make(statements, in: connection)
        if connection.dialect.notesCommits { try BookkeepingCreation.createCommits(in: connection) }
        try connection.keepSchemaVersion()
        for ordinal in schema.entities {
            let entity = schema.model.entities[ordinal]
            guard let number = schema.numbers[ordinal] else { continue }
            let parent = entity.parent.flatMap { schema.numbers[$0] } ?? 0
            try connection.run(BookkeepingCreation.insertion(ofEntity: entity.name, number: number, parent: parent))
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
        if let tombstones { try BookkeepingCreation.createHistory(tombstones: tombstones, in: connection) }
    }

    /// Returns the largest number of attributes, including elements of composite attributes, that one entity preserves
    /// after deletion.
    static func tombstoneCount(model: CompiledModel, entities: [Int]) -> Int {
        entities.map { HistoryLayout.tombstones(of: model.entities[$0]).count }.max() ?? 0
    }
}
