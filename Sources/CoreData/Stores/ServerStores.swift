import CoreDataSQL
import CoreDataStore
import Foundation
import Synchronization

/// The kinds of stores in databases on servers: what products beside this module bring along.
package final class ServerStores: Sendable {
    /// Makes databases of one kind.
    package struct Driver: Sendable {
        /// The type of the stores.
        package var type: String
        /// The schemes of the URLs of such stores.
        package var schemes: Set<String>
        package var makeDatabase: DatabaseFactory
        /// A URL as it may be shown: without the password.
        package var shown: @Sendable (URL) -> URL
        /// Takes a place on the same server for a store that is made before it is moved to the URL. With a purpose,
        /// takes an abandoned place of equal work to continue it.
        package var takePlace: @Sendable (DatabaseOptions, _ purpose: String?) throws -> Place

        /// Removes the schema of a URL if nothing is in it and the role may; never `public`.
        package var removeEmptySchema: @Sendable (DatabaseOptions) throws -> Void

        package init(
            type: String, schemes: Set<String>, makeDatabase: @escaping DatabaseFactory,
            shown: @escaping @Sendable (URL) -> URL,
            takePlace: @escaping @Sendable (DatabaseOptions, _ purpose: String?) throws -> Place,
            removeEmptySchema: @escaping @Sendable (DatabaseOptions) throws -> Void = { _ in }
        ) {
            self.removeEmptySchema = removeEmptySchema
            self.takePlace = takePlace
            self.type = type
            self.schemes = schemes
            self.makeDatabase = makeDatabase
            self.shown = shown
        }
    }

    /// A place beside that of a store.
    package struct Place: Sendable {
        package var url: URL
        /// The names of the schemas there and at the store.
        package var schemas: (from: String, to: String)
        /// Whether there is work to be continued.
        package var isFound: Bool
        /// The lock against other clients; `nil` if the server has no such locks.
        package var hold: (any SQLHold)?
        /// Removes the content.
        package var remove: @Sendable () throws -> Void

        package init(
            url: URL, schemas: (from: String, to: String), isFound: Bool, hold: (any SQLHold)?,
            remove: @escaping @Sendable () throws -> Void
        ) {
            (self.url, self.schemas, self.isFound, self.hold, self.remove) = (url, schemas, isFound, hold, remove)
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

    /// Returns the type of a store at that URL: a description that only has a URL has the default type SQLite.
    func type(_ type: String, at url: URL?) -> String {
        guard type == NSSQLiteStoreType, let url, let driver = driver(of: url) else { return type }
        return driver.type
    }

    /// A store's place in messages: its path, or its URL without a password.
    static func name(_ url: URL) -> String { url.isFileURL ? url.path : shared.shown(url).absoluteString }

    /// The URL as it may be shown.
    func shown(_ url: URL) -> URL { driver(of: url)?.shown(url) ?? url }
}
