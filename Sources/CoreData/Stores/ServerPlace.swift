import CoreDataSQL
import CoreDataStore
import Foundation

/// A schema beside that of a store that is about to be made, so that an incomplete store is never opened;
/// ``NewStorePlace`` is the counterpart for files.
///
/// It is held as long as the value lives. A schema that is not held was left by a program that ended. It is removed
/// when the next one is made for the same store, or its work is continued.
final class ServerPlace {
    /// The URL at which the store is made.
    var url: URL { place.url }
    /// Whether there is work to be continued.
    var isFound: Bool { place.isFound }
    /// Whether the content is kept, so that the next process can continue.
    var isLeft = false
    private let destination: URL
    private let place: ServerStores.Place

    /// - Parameter purpose: the purpose of the work, if it can be continued; equal for equal work.
    /// - Returns: `nil` for a URL that is not a server's.
    init?(for destination: URL, _ options: [AnyHashable: Any]? = nil, purpose: String? = nil) throws {
        guard let driver = ServerStores.shared.driver(of: destination) else { return nil }
        self.destination = destination
        place = try AttachedStore.converting(destination) {
            try driver.takePlace(Self.options(destination, options), purpose)
        }
    }

    /// Removes the content, so that the next process starts from the beginning.
    func clear() throws {
        try AttachedStore.converting(destination) { try place.remove() }
        isLeft = true
    }

    deinit {
        // Without a lock the content cannot be distinguished from that of running work, so it is not continued.
        if !isLeft || place.hold == nil { try? place.remove() }
        place.hold?.release()
    }

    private static var schemas: StoreSchemas { StoreSchemas { try SQLStore.makeDatabase($0) } }

    /// Moves the store, which no client has open, to its place.
    ///
    /// - Parameter replaces: whether it replaces the existing store.
    /// - Throws: 516 if a store exists there by now and must not be replaced.
    func put(_ options: [AnyHashable: Any]? = nil, replaces: Bool = false) throws {
        try place.hold?.check()
        guard
            try Self.schemas.put(
                Self.options(url), at: Self.options(destination, options), schemas: place.schemas, replaces: replaces)
        else { throw CoreDataErrors.isTakenByNow(destination) }
        isLeft = false
    }

    /// Makes a store here and replaces the one at the destination by it, while no other client writes to that, if the
    /// destination has the expected state.
    ///
    /// - Returns: whether it had.
    func exchange(
        _ options: [AnyHashable: Any]?, if isExpected: ([String: Data]?) -> Bool, making: () throws -> Void
    ) throws -> Bool {
        try Self.schemas.exchange(
            Self.options(destination, options), for: Self.options(url), schemas: place.schemas, if: isExpected
        ) {
            try making()
            try place.hold?.check()
        }
    }

    static func options(_ url: URL, _ options: [AnyHashable: Any]? = nil) throws -> DatabaseOptions {
        var database = try StoreSettings(options).storeOptions(path: nil).database
        database.server = url
        return database
    }
}

extension AttachedStore {
    /// Destroys a store on a server; does nothing if there is none.
    static func destroyOnServer(_ url: URL, _ options: [AnyHashable: Any]?) throws {
        try converting(url) {
            try StoreSchemas { try SQLStore.makeDatabase($0) }.destroy(ServerPlace.options(url, options))
        }
    }

    static func isTakenOnServer(_ url: URL) throws -> Bool {
        try converting(url) { try StoreSchemas { try SQLStore.makeDatabase($0) }.isTaken(ServerPlace.options(url)) }
    }

    /// Copies a store to a free place; either or both may be on a server.
    static func copy(
        _ source: URL, _ sourceOptions: [AnyHashable: Any]?, to destination: URL, withHistory: Bool = false
    ) throws {
        func options(_ url: URL, _ options: [AnyHashable: Any]?) throws -> (DatabaseOptions, String) {
            if let driver = ServerStores.shared.driver(of: url) {
                return (try ServerPlace.options(url, options), driver.type)
            }
            return (try StoreSettings(options).storeOptions(path: url.path).database, NSSQLiteStoreType)
        }
        try converting(source) {
            let (from, to) = (try options(source, sourceOptions), try options(destination, nil))
            try StoreEngine.copy(from.0, to: to.0, types: (from.1, to.1), withHistory: withHistory) {
                try SQLStore.makeDatabase($0)
            }
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
