import CoreDataSQL
import CoreDataStore
import Foundation

/// How the tools reach a store that no coordinator has open.
package enum StoreTools {
    /// A store option of the tools, a boolean: a store that is opened for reading only is looked at once, and nothing
    /// is added to its folder.
    package static let leavesNothingOption = StoreSettings.leavesNothingOption

    /// Returns whether the URL belongs to a registered kind of server.
    package static func isOnServer(_ url: URL) -> Bool { ServerStores.shared.driver(of: url) != nil }

    /// The URL as it may be shown.
    package static func shown(_ url: URL) -> URL { ServerStores.shared.shown(url) }

    /// Returns whether something exists at the URL that would conflict with a new store.
    package static func isTaken(_ url: URL) throws -> Bool {
        isOnServer(url)
            ? try AttachedStore.isTakenOnServer(url) : FileManager.default.fileExists(atPath: url.path)
    }

    /// Runs the body with a temporary copy of a store on a server, in a schema beside it.
    ///
    /// - Throws: the errors of copying; an error if the URL is not a server's.
    package static func withCopyOnServer<R>(of url: URL, _ body: (URL) throws -> R) throws -> R {
        guard let place = try ServerPlace(for: url) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "'\(ServerStores.name(url))' is no store on a server.")
        }
        defer { withExtendedLifetime(place) {} }
        try AttachedStore.copy(url, nil, to: place.url)
        return try body(place.url)
    }

    /// Replaces the destination by a copy of a store, with all that belongs to it, its UUID and its history.
    package static func copy(_ source: URL, to destination: URL, type known: String? = nil) throws {
        if try copyOnServer(source, to: destination, replaces: true) { return }
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: destination, withPersistentStoreFrom: source, ofType: known ?? type(ofStoreAt: source))
    }

    /// Makes a copy of a store, with its UUID and its history, in a free place. The copy appears when it is complete.
    /// Leftovers of a process that ended before are removed by the next copy to that place.
    ///
    /// - Parameter type: the store's type; `nil` for the type of its file.
    /// - Parameter prepare: changes the copy before it appears.
    /// - Throws: 516 if a store exists there by now; it is then unchanged.
    package static func makeCopy(
        of source: URL, at destination: URL, type known: String? = nil, _ prepare: (URL) throws -> Void = { _ in }
    ) throws {
        if try copyOnServer(source, to: destination, replaces: false, prepare) { return }
        let type = known ?? type(ofStoreAt: source)
        func copyInPlace() throws {
            try copy(source, to: destination, type: type)
            try prepare(destination)
        }
        // A store of a program's own class is that class's to put in its place.
        guard AttachedStore.isFileType(type) else { return try copyInPlace() }
        try StoreFolder.making(for: destination) {
            guard let place = NewStorePlace(for: destination) else { return try copyInPlace() }
            try copy(source, to: place.url, type: type)
            try prepare(place.url)
            try place.put(at: destination, type: type)
        }
    }

    /// - Returns: whether both are on a server.
    private static func copyOnServer(
        _ source: URL, to destination: URL, replaces: Bool, _ prepare: (URL) throws -> Void = { _ in }
    ) throws -> Bool {
        guard isOnServer(source), let place = try ServerPlace(for: destination) else { return false }
        defer { withExtendedLifetime(place) {} }
        try AttachedStore.copy(source, nil, to: place.url, withHistory: true)
        try prepare(place.url)
        try AttachedStore.converting(destination) { try place.put(replaces: replaces) }
        return true
    }

    /// Removes the schema of a store that was removed, if nothing is in it; nothing happens for files.
    package static func removeEmptySchema(of url: URL) throws {
        guard let driver = ServerStores.shared.driver(of: url) else { return }
        try AttachedStore.converting(url) { try driver.removeEmptySchema(ServerPlace.options(url)) }
    }

    /// Deletes a store that no client has open, with its file. A process that ends meanwhile leaves it complete, or
    /// leaves files that ``removeLeavings(of:)`` removes.
    package static func remove(_ url: URL) throws { try MigrationTurn.with(url) { try removeInTurn(url) } }

    private static func removeInTurn(_ url: URL) throws {
        let type = type(ofStoreAt: url)
        let path = url.isFileURL ? file(of: url).path : nil
        // A store that was only emptied would conflict with the next one.
        if type == NSSQLiteStoreType, let path, !ExternalData(storePath: path).isShared,
            let place = NewStorePlace(for: url)
        {
            rename(path, place.url.path)
            withExtendedLifetime(place) {}
        }
        // If the store's file does not exist, the files beside it.
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try coordinator.destroyPersistentStore(at: url, ofType: type)
        if let path { FileSize.removeDatabase(path) }
    }

    /// Removes what processes left beside a store that died while they migrated it, or made a store for its place.
    package static func removeLeavings(of url: URL) {
        if url.isFileURL { MigrationTurn.removeLeavings(of: url) }
    }

    /// Returns the URL of the file behind a link: the files of a store are beside its file.
    package static func file(of url: URL) -> URL { FileLink.followed(url) }

    /// Returns the type of the store in a file, by its first bytes; SQLite if it is no store of one file.
    package static func type(ofStoreAt url: URL) -> String {
        if let driver = ServerStores.shared.driver(of: url) { return driver.type }
        guard let start = SQLStore.start(ofFileAt: url.path, count: 512) else { return NSSQLiteStoreType }
        let formats: [any AtomicFormat.Type] = [XMLStoreFormat.self, BinaryStoreFormat.self]
        return formats.first { $0.begins(start) }?.storeType ?? NSSQLiteStoreType
    }

    /// Whether the file at the path begins as databases of SQLite do.
    package static func isDatabase(_ path: String) -> Bool {
        start(ofFileAt: path, count: 16) == Data("SQLite format 3\0".utf8)
    }

    /// Returns the first bytes of a file, read so that this process keeps its locks on it; `nil` if it is no regular
    /// file, or cannot be read.
    package static func start(ofFileAt path: String, count: Int) -> Data? {
        SQLStore.start(ofFileAt: path, count: count)
    }
}

extension NSPersistentStoreCoordinator {
    /// The model that a store keeps a copy of, rebuilt.
    ///
    ///     let model = try NSPersistentStoreCoordinator.cachedModelForPersistentStore(at: url)
    ///     let container = NSPersistentContainer(name: "Library", managedObjectModel: model)
    ///
    /// - Throws: an error when the file is no store, or keeps no model, as stores made before 2015.
    public class func cachedModelForPersistentStore(
        at url: URL, options: [AnyHashable: Any]? = nil
    ) throws -> NSManagedObjectModel {
        let document = try SQLStore.cachedModel(of: url)
        return try NSManagedObjectModel(document: document)
    }
}
