import CoreDataSQL
import CoreDataStore
import Foundation

/// A schema beside that of a store which is about to be made, so that what is half made is never taken for it: as
/// ``NewStorePlace`` for files.
final class ServerPlace {
    /// Where the store is made.
    let url: URL
    private let destination: URL
    private let driver: ServerStores.Driver
    private let schemas: (from: String, to: String)

    /// - Returns: `nil` for a URL of no server.
    init?(for destination: URL) throws {
        guard let driver = ServerStores.shared.driver(of: destination) else { return nil }
        (url, schemas) = try driver.beside(destination)
        (self.destination, self.driver) = (destination, driver)
    }

    deinit { try? driver.removePlace(Self.options(url)) }

    /// Puts the store, which nobody has open, where it is to be, in place of the one that is there.
    func put(_ options: [AnyHashable: Any]? = nil) throws {
        try StoreSchemas { try SQLStore.makeDatabase($0) }.put(
            Self.options(url), at: Self.options(destination, options), schemas: schemas)
    }

    static func options(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> DatabaseOptions {
        var database = try StoreSettings(options).storeOptions(path: nil).database
        database.server = url
        return database
    }
}

extension AttachedStore {
    /// Takes a store on a server away; where there is none there is nothing to do.
    static func destroyOnServer(_ url: URL, _ options: [AnyHashable: Any]?) throws {
        try converting(url) {
            try StoreSchemas { try SQLStore.makeDatabase($0) }.destroy(ServerPlace.options(url, options))
        }
    }

    static func isTakenOnServer(_ url: URL) throws -> Bool {
        try converting(url) { try StoreSchemas { try SQLStore.makeDatabase($0) }.isTaken(ServerPlace.options(url)) }
    }

    /// Copies a store to a place where there is none; one of both, or both, may be on a server.
    static func copy(_ source: URL, _ sourceOptions: [AnyHashable: Any]?, to destination: URL) throws {
        func options(_ url: URL, _ options: [AnyHashable: Any]?) throws -> (DatabaseOptions, String) {
            if let driver = ServerStores.shared.driver(of: url) {
                return (try ServerPlace.options(url, options), driver.type)
            }
            return (try StoreSettings(options).storeOptions(path: url.path).database, NSSQLiteStoreType)
        }
        try converting(source) {
            let (from, to) = (try options(source, sourceOptions), try options(destination, nil))
            try StoreEngine.copy(from.0, to: to.0, types: (from.1, to.1)) { try SQLStore.makeDatabase($0) }
        }
    }

    static func converting<R>(_ url: URL, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: ServerStores.shared.shown(url))
        } catch let failure as SQLFailure where failure.kind == .busy {
            let shown = ServerStores.shared.shown(url)
            throw CoreDataErrors.make(
                NSPersistentStoreTimeoutError,
                "The store '\(shown.isFileURL ? shown.path : shown.absoluteString)' is in use elsewhere, here or in another program; close it there first.",
                [NSURLErrorKey: shown])
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
    }
}
