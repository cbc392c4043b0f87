import CoreData
import CoreDataPostgreSQLDriver
import CoreDataSQL
import Foundation

/// The type of a store in a PostgreSQL database; see ``PostgreSQLStore``.
public let NSPostgreSQLStoreType = "PostgreSQL"

extension NSPersistentStore.StoreType {
    /// A PostgreSQL database; see ``PostgreSQLStore``.
    public static let postgreSQL = NSPersistentStore.StoreType(rawValue: NSPostgreSQLStoreType)
}

/// Stores in PostgreSQL databases. After one call of ``register(password:)``, a `postgresql://` URL is a store's URL.
///
///     PostgreSQLStore.register()
///     let url = URL(string: "postgresql://shop@db.example.com/shop?schema=orders")!
///     container.persistentStoreDescriptions = [NSPersistentStoreDescription(url: url)]
///
/// The schema is created if it is missing, and the store's tables in it; the default is `public`. The connection is
/// encrypted and the server's certificate verified (`sslmode=verify-full`), unless the server is reached through a
/// local socket or the URL disables it. The URL may contain these parameters:
///
/// - `schema`, and `pool`, the maximum number of concurrent readers;
/// - `pooler`, the kind of connection pooler in front of the server;
/// - `engine`, the kind of server, and `replicas`, servers for reading;
/// - libpq's parameters: `host`, `port`, `sslmode`, `sslrootcert`, `connect_timeout`, ….
///
/// Apple's framework has no such type.
public enum PostgreSQLStore {
    /// Registers the store type for the whole program: URLs that begin with `postgresql://` or `postgres://` then open
    /// stores in PostgreSQL.
    ///
    /// The password comes from the URL, else from `password`, else from libpq's sources: `PGPASSWORD`, `PGPASSFILE`. It
    /// never appears in a log, an error or a property of a store.
    ///
    ///     PostgreSQLStore.register { url in try Secrets.password(for: url.user()) }
    ///
    /// - Parameter password: called with the URL when a connection is opened; returns `nil` for no password.
    public static func register(password: (@Sendable (URL) throws -> String?)? = nil) {
        ServerStores.shared.register(
            .init(
                type: NSPostgreSQLStoreType, schemes: PostgreSQLAddress.schemes,
                makeDatabase: { try makeDatabase($0, password: password) },
                shown: { PostgreSQLAddress.withoutPassword($0) },
                takePlace: { try takePlace($0, purpose: $1, password: password) },
                removeEmptySchema: { options in
                    var options = options
                    options.createsFile = false
                    guard let database = try makeDatabase(options, password: password) as? PostgreSQLDatabase else {
                        return
                    }
                    defer { database.close() }
                    try database.removeEmptySchema()
                }))
    }

    private static func takePlace(
        _ options: DatabaseOptions, purpose: String?, password: (@Sendable (URL) throws -> String?)?
    ) throws -> ServerStores.Place {
        var settings = options
        settings.createsFile = false
        func open() throws -> PostgreSQLDatabase {
            guard let database = try makeDatabase(settings, password: password) as? PostgreSQLDatabase else {
                throw SQLFailure(kind: .cannotOpen, code: 0, message: "a PostgreSQL store needs a postgresql:// URL")
            }
            return database
        }
        let database = try open()
        defer { database.close() }
        guard let url = settings.server else {
            throw SQLFailure(kind: .cannotOpen, code: 0, message: "a PostgreSQL store needs a postgresql:// URL")
        }
        let place = try database.takePlace(purpose: purpose)
        let (other, server) = (settings, try PostgreSQLAddress.url(url, schema: place.name))
        return ServerStores.Place(
            url: server, schemas: (place.name, database.options.address.schema), isFound: place.isFound,
            hold: place.hold,
            remove: {
                guard let database = try makeDatabase(other, password: password) as? PostgreSQLDatabase else { return }
                defer { database.close() }
                try database.remove(place: place.name)
            })
    }

    private static func makeDatabase(
        _ options: DatabaseOptions, password: (@Sendable (URL) throws -> String?)?
    ) throws -> any SQLDatabase {
        var settings = try PostgreSQLOptions(options)
        if let password, let url = options.server {
            settings.password = { try password(PostgreSQLAddress.withoutPassword(url)) }
        }
        let database = try PostgreSQLDatabase(settings)
        if options.createsFile, !options.isReadOnly {
            do { try database.createSchema() } catch {
                database.close()
                throw error
            }
        }
        return database
    }
}
