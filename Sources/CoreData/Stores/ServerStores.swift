import CoreDataSQL
import CoreDataStore
import Foundation
import Synchronization

/// The kinds of stores in databases on servers: what products beside this module bring along.
package final class ServerStores: Sendable {
    /// What makes databases of one kind.
    package struct Driver: Sendable {
        /// The type of the stores.
        package var type: String
        /// What the URLs of such stores begin with.
        package var schemes: Set<String>
        package var makeDatabase: DatabaseFactory
        /// A URL as it may be shown: without the password.
        package var shown: @Sendable (URL) -> URL
        /// A place on the same server that nobody knows, for what is made before it is put at the URL: its URL, and the names of
        /// the schemas there and here.
        package var beside: @Sendable (URL) throws -> (url: URL, schemas: (from: String, to: String))
        /// Takes away what is left of such a place.
        package var removePlace: @Sendable (DatabaseOptions) throws -> Void

        package init(
            type: String, schemes: Set<String>, makeDatabase: @escaping DatabaseFactory,
            shown: @escaping @Sendable (URL) -> URL,
            beside: @escaping @Sendable (URL) throws -> (url: URL, schemas: (from: String, to: String)),
            removePlace: @escaping @Sendable (DatabaseOptions) throws -> Void
        ) {
            self.beside = beside
            self.removePlace = removePlace
            self.type = type
            self.schemes = schemes
            self.makeDatabase = makeDatabase
            self.shown = shown
        }
    }

    package static let shared = ServerStores()
    /// Guards the drivers, by the types of their stores.
    private let drivers = Mutex<[String: Driver]>([:])

    package func register(_ driver: Driver) { drivers.withLock { $0[driver.type] = driver } }

    func driver(ofType type: String) -> Driver? { drivers.withLock { $0[type] } }

    var types: [String] { drivers.withLock { Array($0.keys) } }

    func driver(of url: URL) -> Driver? {
        guard let scheme = url.scheme?.lowercased() else { return nil }
        return drivers.withLock { drivers in drivers.values.first { $0.schemes.contains(scheme) } }
    }

    /// The type of a store at that URL: whoever describes a store by its URL alone has said SQLite by that.
    func type(_ type: String, at url: URL?) -> String {
        guard type == NSSQLiteStoreType, let url, let driver = driver(of: url) else { return type }
        return driver.type
    }

    /// The URL as it may be shown.
    func shown(_ url: URL) -> URL { driver(of: url)?.shown(url) ?? url }

    /// - Throws: what cannot be done with a store on a server, and what can instead.
    static func refuse(_ url: URL, _ what: String) -> CocoaError {
        CoreDataErrors.make(
            NSPersistentStoreOperationError, "The store '\(shared.shown(url).absoluteString)' \(what).",
            [NSURLErrorKey: shared.shown(url)])
    }
}
