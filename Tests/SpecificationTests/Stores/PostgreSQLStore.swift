import CoreDataModel
import CoreDataPostgreSQLDriver
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import TestSupport

extension SpecifiedStore {
    /// A schema of a PostgreSQL server.
    static let postgreSQL = onServer("PostgreSQL", isInstalled: PostgreSQLServer.shared != nil) {
        PostgreSQLServer.shared?.url(schema: $0)
    }

    /// A store on a server: `url` makes the URL of one in a schema.
    static func onServer(
        _ name: String, isInstalled: Bool, exceptions: [String: String] = [:],
        url: @escaping @Sendable (String) -> URL?, observer: (@Sendable () -> any SQLObserver)? = nil
    ) -> SpecifiedStore {
        let known = [
            "aFailedSaveTakesNoKeys":
                "keys are reserved in blocks, so that no save waits for another's counter: those of a failed save are lost",
            "whatIsNoNumberStaysSo":
                "it is kept as NULL, as in SQLite's stores, so that comparisons and orders mean the same",
        ]
        return SpecifiedStore(
            name: name,
            make: { model in
                let schema = "s" + UUID().uuidString.filter { $0 != "-" }.lowercased()
                guard let url = url(schema) else { throw NoServer() }
                return try open(url, model, isReadOnly: false, observer)
            }, exceptions: known.merging(exceptions) { first, _ in first }, predicateSeeds: 1,
            isOnServer: true, isInstalled: isInstalled, keepsNUL: false, keepsEveryDate: false)
    }

    private struct NoServer: Error {}

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
