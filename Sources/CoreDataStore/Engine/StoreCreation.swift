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

    init(model: CompiledModel, entities: [Int], options: StoreOptions) throws {
        schema = SchemaLayout.fresh(model: model, entities: entities)
        statements = try schema.statements()
        identifier = options.identifier ?? UUID().uuidString
        metadata = try StoreMetadata.made(
            for: model, entities: entities, type: options.type, adding: options.metadata)
        modelCache = try options.document.map { try ModelArchive.modelCache(for: $0()) }
        tombstones = options.tracksHistory ? Self.tombstoneCount(model: model, entities: entities) : nil
    }

    func run(_ connection: any SQLConnection) throws {
        for statement in statements { try connection.execute(SchemaRenderer.text(statement)) }
        for ordinal in schema.entities {
            let entity = schema.model.entities[ordinal]
            guard let number = schema.numbers[ordinal] else { continue }
            let parent = entity.parent.flatMap { schema.numbers[$0] } ?? 0
            try connection.run(
                "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(integer: number), \(bind: .text(entity.name)), \(integer: parent), 0)"
            )
        }
        try connection.run(
            "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, \(bind: .text(identifier)), \(bind: .blob(metadata.propertyList)))"
        )
        if let modelCache {
            try connection.run("INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (\(bind: .blob(modelCache)))")
        }
        if let tombstones { try Self.createHistory(tombstones: tombstones, in: connection) }
    }

    /// Adds the tables of history to a store that has none.
    static func createHistory(tombstones: Int, in connection: any SQLConnection) throws {
        for statement in BookkeepingSchema.history(tombstones: tombstones) {
            try connection.execute(SchemaRenderer.text(statement))
        }
        for (number, name) in BookkeepingSchema.historyEntities {
            try connection.run(
                "INSERT OR IGNORE INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (\(integer: number), \(bind: .text(name)), 0, 0)"
            )
        }
    }

    /// The largest number of attributes that one entity keeps after deletion.
    static func tombstoneCount(model: CompiledModel, entities: [Int]) -> Int {
        entities.map { ordinal in
            model.entities[ordinal].properties
                .filter { $0.attribute?.preservesValueInHistoryOnDeletion == true && !$0.isTransient }.count
        }.max() ?? 0
    }
}
