import CoreDataSQL
import CoreDataStore
import Foundation

/// A schema beside that of a store which is about to be made, so that what is half made is never taken for it: as
/// ``NewStorePlace`` for files.
///
/// It is held as long as the value lives. One that nobody holds was left by a program that died, and goes when the next is made for the
/// same store, or is gone on with.
final class ServerPlace {
    /// Where the store is made.
    var url: URL { place.url }
    /// Whether something is there to be gone on with.
    var isFound: Bool { place.isFound }
    /// Whether what is there is left, for who comes next to go on with.
    var isLeft = false
    private let destination: URL
    private let place: ServerStores.Place

    /// - Parameter purpose: what is done there, where that can be gone on with; the same for the same.
    /// - Returns: `nil` for a URL of no server.
    init?(for destination: URL, _ options: [AnyHashable: Any]? = nil, purpose: String? = nil) throws {
        guard let driver = ServerStores.shared.driver(of: destination) else { return nil }
        self.destination = destination
        place = try AttachedStore.converting(destination) {
            try driver.takePlace(Self.options(destination, options), purpose)
        }
    }

    /// Takes away what is there, so that the next begins anew.
    func clear() throws {
        try AttachedStore.converting(destination) { try place.remove() }
        isLeft = true
    }

    deinit {
        // What nobody can tell from what is being made nobody can go on with.
        if !isLeft || place.hold == nil { try? place.remove() }
        place.hold?.release()
    }

    private static var schemas: StoreSchemas { StoreSchemas { try SQLStore.makeDatabase($0) } }

    /// Puts the store, which nobody has open, where it is to be.
    ///
    /// - Parameter replaces: whether in place of the one that is there.
    /// - Throws: 516 where something is there by now that is not to be replaced.
    func put(_ options: [AnyHashable: Any]? = nil, replaces: Bool = false) throws {
        try place.hold?.check()
        guard
            try Self.schemas.put(
                Self.options(url), at: Self.options(destination, options), schemas: place.schemas, replaces: replaces)
        else { throw CoreDataErrors.isTakenByNow(destination) }
        isLeft = false
    }

    /// Makes a store here and puts it in place of the one at its destination, while nobody else writes to that, if it is what is expected.
    ///
    /// - Returns: whether it was.
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
