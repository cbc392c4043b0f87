import CoreDataStore
import Foundation

// The stores that a migration opens, makes and removes.
extension NSMigrationManager {
    /// Runs the code that makes the store at `url`. Errors name the final URL, under which users know the store.
    final func making(_ url: URL, named name: URL, _ body: () throws -> Void) throws {
        do { try body() } catch { throw Self.notMade(url, named: name, error) }
    }

    static func notMade(_ url: URL, named name: URL, _ error: any Error) -> CocoaError {
        CoreDataErrors.make(
            NSMigrationManagerDestinationStoreError,
            "The store '\(ServerStores.name(name))' that the migration makes cannot be opened: \(text(error, of: url, named: name))",
            [NSFilePathErrorKey: ServerStores.name(name), NSUnderlyingErrorKey: error])
    }

    private static func text(_ error: any Error, of url: URL, named name: URL) -> String {
        error.localizedDescription.replacing(ServerStores.name(url), with: ServerStores.name(name))
    }

    final func migrateInDatabase(
        from source: URL, to destination: URL, type: String, named name: URL, options: [AnyHashable: Any]?
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destinationModel)
        do {
            try making(destination, named: name) {
                if [source, destination].contains(where: { ServerStores.shared.driver(of: $0) != nil }) {
                    try AttachedStore.copy(source, nil, to: destination)
                } else {
                    try coordinator.replacePersistentStore(
                        at: destination, withPersistentStoreFrom: source, ofType: type)
                }
            }
            var migration = LightweightMigration(
                to: destinationModel, configuration: nil, type: type, files: [sourceModel.fileURL].compactMap { $0 },
                source: sourceModel)
            migration.progress = { [self] done in try step(done) }
            try migration.run(at: destination, options: options)
        } catch {
            if let cancellation = shared.withLock({ Transfer($0.cancellation) }).value { throw cancellation }
            throw error
        }
    }

    final func remove(_ url: URL, _ type: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: destinationModel)
        try coordinator.destroyPersistentStore(at: url, ofType: type)
        guard url.isFileURL else { return }
        let path = FileLink.followed(url.path)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    final func open(
        _ url: URL, _ type: String, _ options: [AnyHashable: Any]?, _ model: NSManagedObjectModel, isSource: Bool,
        named name: URL? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let path = ServerStores.name(name ?? url)
        var options = options ?? [:]
        if isSource { options[NSReadOnlyPersistentStoreOption] = true }
        options[NSMigratePersistentStoresAutomaticallyOption] = nil
        do {
            let coordinator = try NSPersistentStoreCoordinator(validating: model)
            try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
            return coordinator
        } catch {
            throw CoreDataErrors.make(
                isSource ? NSMigrationManagerSourceStoreError : NSMigrationManagerDestinationStoreError,
                "The store '\(path)' that the migration \(isSource ? "is of" : "makes") cannot be opened: \(Self.text(error, of: url, named: name ?? url))",
                [NSFilePathErrorKey: path, NSUnderlyingErrorKey: error])
        }
    }
}
