import CoreDataModel
import CoreDataPostgreSQLDriver
import CoreDataSQL
import CoreDataStore
import Foundation
import PostgreSQLServer
import TestSupport

extension SpecifiedStore {
    /// A schema of a PostgreSQL server.
    static let postgreSQL = SpecifiedStore(
        name: "PostgreSQL",
        make: { model in
            let schema = "s" + UUID().uuidString.filter { $0 != "-" }.lowercased()
            return try open(schema, model, isReadOnly: false)
        },
        exceptions: [
            "aFailedSaveTakesNoKeys":
                "keys are reserved in blocks, so that no save waits for another's counter: those of a failed save are lost",
            "whatIsNoNumberStaysSo":
                "it is kept as NULL, as in SQLite's stores, so that comparisons and orders mean the same",
        ], predicateSeeds: 1...1, isInstalled: PostgreSQLServer.shared != nil, keepsNUL: false,
        keepsEveryDate: false)

    private struct NoServer: Error {}

    private static func open(_ schema: String, _ model: CompiledModel, isReadOnly: Bool) throws -> OpenedStore {
        guard let server = PostgreSQLServer.shared else { throw NoServer() }
        var options = StoreOptions(path: nil)
        options.type = "PostgreSQL"
        options.database.server = server.url(schema: schema)
        options.database.isReadOnly = isReadOnly
        options.createsStore = !isReadOnly
        let engine = try StoreEngine.open(model: model, options: options) {
            let database = try PostgreSQLDatabase(PostgreSQLOptions($0))
            if !$0.isReadOnly { try database.createSchema() }
            return database
        }
        return OpenedStore(
            source: engine,
            reopen: { isReadOnly in
                engine.close()
                return try open(schema, model, isReadOnly: isReadOnly)
            },
            remove: {
                try? (engine.database as? PostgreSQLDatabase)?.dropSchema()
                engine.close()
            }, explain: engine.explanation)
    }
}
