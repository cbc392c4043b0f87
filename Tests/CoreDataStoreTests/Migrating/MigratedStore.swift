import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import CoreDataStore
import Foundation
import TestSupport
import Testing

/// A store that a test migrates.
struct MigratedStore {
    let path: String
    var document: ModelDocument

    /// A new store of the model, with the rows that `fill` writes, by the store's tables.
    init(
        _ document: ModelDocument, configuration: String? = nil, tracksHistory: Bool = false,
        _ fill: (StoreEngine) throws -> Void = { _ in }
    ) throws {
        path = try Fixtures.temporaryFolder().appendingPathComponent("Store.sqlite").path
        self.document = document
        var options = StoreOptions(path: path)
        options.document = { document }
        options.identifier = "UUID"
        options.tracksHistory = tracksHistory
        options.metadata = try StoreMetadata(dictionary: ["Mine": "kept"])
        let engine = try StoreEngine.open(
            model: try ModelCompiler.compile(document), configuration: configuration, options: options,
            makeDatabase: makeDatabase)
        defer { engine.database.close() }
        try fill(engine)
    }

    /// Removes the store with its folder.
    func remove() { try? FileManager.default.removeItem(atPath: (path as NSString).deletingLastPathComponent) }

    init(path: String, _ document: ModelDocument) {
        self.path = path
        self.document = document
    }

    static func migration(
        to document: ModelDocument, configuration: String? = nil, source: ModelDocument? = nil,
        progress: @escaping (Int, Int) throws -> Void = { _, _ in },
        makeDatabase: @escaping DatabaseFactory = makeDatabase
    ) throws -> StoreMigration {
        try StoreMigration(
            to: document, model: try ModelCompiler.compile(document), configuration: configuration,
            encode: { _, _ in Data() }, findSource: { _ in source }, progress: progress, makeDatabase: makeDatabase)
    }

    @discardableResult
    func migrate(
        to document: ModelDocument, configuration: String? = nil, source: ModelDocument? = nil
    ) throws -> MigrationPlan? {
        try Self.migration(to: document, configuration: configuration, source: source).run(DatabaseOptions(path: path))
            .plan
    }

    func rows(_ text: SQLText) throws -> [[SQLValue]] {
        let database = try makeDatabase(DatabaseOptions(path: path))
        defer { database.close() }
        return try database.read { try $0.rows(text) }
    }

    func execute(_ statements: [String]) throws {
        let database = try makeDatabase(DatabaseOptions(path: path))
        defer { database.close() }
        try database.write { connection in for statement in statements { try connection.execute(statement) } }
    }

    /// What is wrong with the store as one of the model; where its schema is not that of a fresh store.
    func problems(_ document: ModelDocument, configuration: String? = nil) throws -> [String] {
        let model = try ModelCompiler.compile(document)
        let findings = try StoreVerifier.verify(
            model: model, configuration: configuration, options: DatabaseOptions(path: path),
            makeDatabase: makeDatabase
        ).map(\.description)
        let fresh = try MigratedStore(document, configuration: configuration)
        defer { fresh.remove() }
        let database = try makeDatabase(DatabaseOptions(path: path))
        defer { database.close() }
        let other = try makeDatabase(DatabaseOptions(path: fresh.path))
        defer { other.close() }
        func isHistory(_ text: String) -> Bool {
            text.contains("ACHANGE") || text.contains("ATRANSACTION") || text.contains("Z_TRANSACTION")
        }
        let have = Set(try schema(of: database).filter { !isHistory($0) })
        let want = Set(try schema(of: other))
        return findings + have.subtracting(want).sorted().map { "only in the store: \($0)" }
            + want.subtracting(have).sorted().map { "only in a fresh store: \($0)" }
    }

    /// Everything in the file.
    func dump() throws -> [String] {
        let database = try makeDatabase(DatabaseOptions(path: path))
        defer { database.close() }
        return try database.read { connection in
            let tables = try connection.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            var lines = try connection.rows("SELECT IFNULL(sql, name) FROM sqlite_master ORDER BY 1").map { "\($0)" }
            for case .text(let table)? in tables.map(\.first) {
                lines += try connection.rows("SELECT * FROM \(identifier: table) ORDER BY 1").map { "\(table): \($0)" }
            }
            return lines
        }
    }
}
