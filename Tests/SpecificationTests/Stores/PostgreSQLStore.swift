import CoreDataModel
import CoreDataPostgreSQLDriver
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import TestSupport

extension SpecifiedStore {
    /// A schema of a PostgreSQL server.
    static let postgreSQL = onServer("PostgreSQL") { try PostgreSQLServer.shared.url(schema: $0) }

    /// A store on a server: `url` makes the URL of one in a schema.
    static func onServer(
        _ name: String, missing: String? = PostgreSQLServer.isInstalled ? nil : PostgreSQLServer.missing,
        url: @escaping @Sendable (String) throws -> URL, observer: (@Sendable () -> any SQLObserver)? = nil
    ) -> SpecifiedStore {
        SpecifiedStore(
            name: name,
            make: { model in
                let schema = "s" + UUID().uuidString.filter { $0 != "-" }.lowercased()
                return try open(url(schema), model, isReadOnly: false, observer)
            },
            lacks: [
                .keysOfFailedSaves: "keys are reserved in blocks, so that no save waits for another's counter",
                .notANumber: "it is kept as NULL, as in SQLite's stores, so that comparisons and orders mean the same",
            ], predicateSeeds: 1,
            isOnServer: true, missing: missing, keepsNUL: false, keepsEveryDate: false)
    }

    private static func open(
        _ url: URL, _ model: CompiledModel, isReadOnly: Bool, _ observer: (@Sendable () -> any SQLObserver)?
    ) throws -> OpenedStore {
        var options = StoreOptions(path: nil)
        options.type = "PostgreSQL"
        options.database.server = url
        options.database.isReadOnly = isReadOnly
        options.createsStore = !isReadOnly
        let engine = try StoreEngine.open(model: model, options: options) {
            let database = try PostgreSQLDatabase(PostgreSQLOptions($0))
            if !$0.isReadOnly { try database.createSchema() }
            if let observer { database.addObserver(observer()) }
            return database
        }
        return OpenedStore(
            source: engine,
            reopen: { isReadOnly in
                engine.close()
                return try open(url, model, isReadOnly: isReadOnly, observer)
            },
            remove: {
                try? (engine.database as? PostgreSQLDatabase)?.dropSchema()
                engine.close()
            }, explain: engine.explanation)
    }
}
