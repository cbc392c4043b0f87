import CoreDataSQL
import CoreDataStore
import Foundation

/// How the tools reach a store that no coordinator has open.
package enum StoreTools {
    /// A store option of the tools, a boolean: a store that is opened for reading only is looked at once, and nothing
    /// is added to its folder.
    package static let leavesNothingOption = "OpenCoreDataLeavesNothing"

    /// Whether the URL is of a kind of server that somebody has registered.
    package static func isOnServer(_ url: URL) -> Bool { ServerStores.shared.driver(of: url) != nil }

    /// The URL as it may be shown.
    package static func shown(_ url: URL) -> URL { ServerStores.shared.shown(url) }

    /// Whether there is anything at the URL that would be in the way of a new store.
    package static func isTaken(_ url: URL) throws -> Bool {
        isOnServer(url)
            ? try AttachedStore.isTakenOnServer(url) : FileManager.default.fileExists(atPath: url.path)
    }

    /// Runs the body with a copy of a store on a server, in a schema beside it that is gone afterwards.
    ///
    /// - Throws: what copying may throw; where the URL is of no server, an error that says so.
    package static func withCopyOnServer<R>(of url: URL, _ body: (URL) throws -> R) throws -> R {
        guard let place = try ServerPlace(for: url) else {
            throw CoreDataErrors.make(
                NSPersistentStoreOperationError, "'\(ServerStores.name(url))' is no store on a server.")
        }
        defer { withExtendedLifetime(place) {} }
        try AttachedStore.copy(url, nil, to: place.url)
        return try body(place.url)
    }

    /// Puts a copy of a store, with all that belongs to it, its UUID and its history, in the place of what there is.
    package static func copy(_ source: URL, to destination: URL, type known: String? = nil) throws {
        if try copyOnServer(source, to: destination, replaces: true) { return }
        try NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel()).replacePersistentStore(
            at: destination, withPersistentStoreFrom: source, ofType: known ?? type(ofStoreAt: source))
    }

    /// Puts a copy of a store, with its UUID and its history, where there is none. It is there when it is whole; what a process leaves that
    /// dies before goes with the next copy to that place.
    ///
    /// - Parameter type: the store's type; `nil` for what its file says.
    /// - Parameter prepare: changes the copy before it is there.
    /// - Throws: 516 where a store is there by now; it is then as it was.
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

    /// Takes a store away that nobody has open, and its file too: a process that dies meanwhile leaves it whole, or what
    /// ``removeLeavings(of:)`` takes away.
    package static func remove(_ url: URL) throws { try MigrationTurn.with(url) { try removeInTurn(url) } }

    private static func removeInTurn(_ url: URL) throws {
        let type = type(ofStoreAt: url)
        let path = url.isFileURL ? file(of: url).path : nil
        // A store that was but emptied would be in the way of the next.
        if type == NSSQLiteStoreType, let path, !ExternalData(storePath: path).isShared,
            let place = NewStorePlace(for: url)
        {
            rename(path, place.url.path)
            withExtendedLifetime(place) {}
        }
        // Of a store whose file is gone that is what lies beside it.
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try coordinator.destroyPersistentStore(at: url, ofType: type)
        if let path { FileSize.removeDatabase(path) }
    }

    /// Removes what processes left beside a store that died while they migrated it, or made a store for its place.
    package static func removeLeavings(of url: URL) {
        if url.isFileURL { MigrationTurn.removeLeavings(of: url) }
    }

    /// The URL of the file that a link leads to: what belongs to a store lies beside its file.
    package static func file(of url: URL) -> URL { FileLink.followed(url) }

    /// The type of the store in a file, by how that begins; SQLite for what is no store of one file.
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

    /// The first bytes of a file, read so that this process keeps its locks on it; `nil` where it is no regular file, or cannot be read.
    package static func start(ofFileAt path: String, count: Int) -> Data? {
        SQLStore.start(ofFileAt: path, count: count)
    }

    /// Runs the body with options for reading that file; failures become the errors that users see.
    static func run<R>(_ url: URL, _ body: (DatabaseOptions) throws -> R) throws -> R {
        let isOnServer = ServerStores.shared.driver(of: url) != nil
        if !isOnServer { try CoreDataErrors.checkIsFile(url) }
        var options = StoreOptions(path: isOnServer ? nil : url.path).database
        if isOnServer { options.server = url }
        options.isReadOnly = true
        options.leavesNothing = true
        do { return try body(options) } catch let failure as StoreFailure {
            throw CoreDataErrors.store(failure, url: ServerStores.shared.shown(url))
        } catch { throw CoreDataErrors.converted(error, store: nil, context: nil) }
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
        let document = try StoreTools.run(url) { options in
            try StoreEngine.cachedModelDocument(options: options, makeDatabase: { try SQLStore.makeDatabase($0) })
        }
        return try NSManagedObjectModel(document: document)
    }
}
