import CoreData
import CoreDataSyncEngine
import Foundation

/// What a device keeps beside its store to synchronise it: stamps by object, files to be sent, parked states, a
/// journal.
///
/// The sidecar is a store of its own with its own coordinator and context. A write is one transaction. A write of many
/// entries goes into a redo log in that transaction; then batch requests move the log into the entries. If the process
/// dies between, the next one that may write moves the rest.
///
///     let sidecar = try Sidecar.open(beside: store.url)      // Groceries.sqlite-sync
///     var change = SidecarChange()
///     change.entries = [entry]
///     try sidecar.write(change)
package final class Sidecar: @unchecked Sendable {
    // Safe because everything mutable is used on the context's queue only.

    /// Where the sidecar lies; `nil` in memory.
    package let url: URL?
    /// Whether the sidecar was made by this open.
    package let isNew: Bool

    let context: NSManagedObjectContext
    var coder = StateCoder()
    /// How many names and devices the row of settings has.
    var writtenNames = (0, 0)
    var current: SidecarSettings
    /// Where the blocks of entries lie; `nil` where they have to be read, since another process may have written.
    var blockDirectory: BlockDirectory?
    /// Whether the file has blocks: one of an older format that is only read has none.
    let hasBlocks: Bool
    /// Whether the redo log may hold entries.
    var hasRedo = true
    /// Whether no other process writes: then reads move the redo log into the entries.
    private(set) var isExclusive = true
    /// Whether a read has found since that another process had written.
    private var othersHaveWritten = false
    /// Called before a transaction commits; tests throw here.
    package var willCommit: (@Sendable () throws -> Void)?
    /// Called after a transaction committed and before the redo log is moved; tests throw here.
    package var didCommit: (@Sendable () throws -> Void)?

    /// The file of the sidecar of the store at a URL.
    package static func url(beside store: URL) -> URL {
        store.deletingLastPathComponent().appendingPathComponent(store.lastPathComponent + "-sync")
    }

    /// Opens the sidecar of the store at a URL, or makes it.
    ///
    /// - Throws: 134080 for a file that is no sidecar, that is damaged, or that a newer version wrote.
    package static func open(beside store: URL, deviceName: String = Sidecar.hostName) throws -> Sidecar {
        try Sidecar(url(beside: store), deviceName)
    }

    /// Opens the sidecar at a URL, or makes it.
    package static func open(at url: URL, deviceName: String = Sidecar.hostName) throws -> Sidecar {
        try Sidecar(url, deviceName)
    }

    /// Gives the device of a new sidecar its ID.
    func set(device: DeviceID) { context.performAndWait { current.device = device } }

    /// Opens the sidecar at a URL to look into it: nothing is written, and no file is left beside it.
    ///
    /// Entries that a process was about to move out of the redo log cannot be read then; everything else can.
    package static func open(reading url: URL) throws -> Sidecar {
        let options: [AnyHashable: Any] = [
            NSReadOnlyPersistentStoreOption: true as NSNumber, StoreTools.leavesNothingOption: true as NSNumber,
        ]
        let sidecar = try Sidecar(url, hostName, options)
        sidecar.share()
        return sidecar
    }

    /// Makes a sidecar that lives as long as the process: for a store in memory.
    package static func inMemory(deviceName: String = Sidecar.hostName) throws -> Sidecar {
        try Sidecar(nil, deviceName)
    }

    package static var hostName: String { ProcessInfo.processInfo.hostName }

    private init(_ url: URL?, _ deviceName: String, _ options: [AnyHashable: Any]? = nil) throws {
        self.url = url
        let coordinator: NSPersistentStoreCoordinator
        (coordinator, hasBlocks) = try Self.coordinator(url, options)
        context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.undoManager = nil
        // A batch insert replaces entries that exist.
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        current = SidecarSettings(device: DeviceID(UUID()), deviceName: deviceName)
        let context = context
        let found = try context.performAndWait { try Self.writtenSettings(url, context) }
        isNew = found == nil
        guard let found else { return }
        (current, coder) = found
        writtenNames = (coder.names.names.count, coder.names.devices.count)
    }

    /// The coordinator of the opened file, and whether that has blocks of entries.
    private static func coordinator(
        _ url: URL?, _ options: [AnyHashable: Any]?
    ) throws -> (NSPersistentStoreCoordinator, hasBlocks: Bool) {
        func opened(
            _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?
        ) throws -> NSPersistentStoreCoordinator {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            _ = try coordinator.addPersistentStore(
                ofType: url == nil ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil, at: url,
                options: options)
            return coordinator
        }
        do {
            guard let url, isWithoutBlocks(url) else { return (try opened(SidecarModel.shared, options), true) }
            // One that is only read stays as it is.
            if let options { return (try opened(SidecarModel.withoutBlocks, options), false) }
            let migrating: [AnyHashable: Any] = [
                NSMigratePersistentStoresAutomaticallyOption: true as NSNumber,
                NSInferMappingModelAutomaticallyOption: true as NSNumber,
            ]
            return (try opened(SidecarModel.shared, migrating), true)
        } catch { throw unusable(url, "it cannot be opened as one", error) }
    }

    /// Whether the file is a sidecar of format 2. Any other store is never migrated.
    private static func isWithoutBlocks(_ url: URL) -> Bool {
        guard FileManager.default.fileExists(atPath: url.path),
            let metadata = try? NSPersistentStoreCoordinator.metadataForPersistentStore(
                ofType: NSSQLiteStoreType, at: url, options: nil)
        else { return false }
        return SidecarModel.withoutBlocks.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
    }

    /// The settings and names that the file has; `nil` for a new sidecar.
    private static func writtenSettings(
        _ url: URL?, _ context: NSManagedObjectContext
    ) throws -> (SidecarSettings, StateCoder)? {
        let found: (format: Int64, content: Data, names: Data)?
        do {
            defer { context.reset() }
            found = try context.fetch(NSFetchRequest<SettingsObject>(entityName: "Settings")).first
                .map { ($0.format, $0.content, $0.names) }
        } catch { throw unusable(url, "its settings cannot be read", error) }
        guard let found else { return nil }
        guard found.format <= SidecarModel.format else {
            throw unusable(
                url,
                "a newer version of the framework wrote it (format \(found.format), known is \(SidecarModel.format))",
                nil)
        }
        do {
            return (
                try SidecarSettings(content: found.content), StateCoder(names: try NameTable(bytes: found.names))
            )
        } catch { throw unusable(url, "its settings are damaged", error) }
    }

    // MARK: Other processes

    /// Reads the settings again, which another process may have written, before this one writes.
    ///
    /// - Parameter isExclusive: whether no other process writes from now on.
    /// - Returns: whether another process has written since this one last did.
    @discardableResult
    func reload(isExclusive: Bool) throws -> Bool {
        try perform { context in
            blockDirectory = nil
            if let (settings, coder) = try Self.writtenSettings(url, context) {
                let names = (coder.names.names.count, coder.names.devices.count)
                if settings != current || names != writtenNames {
                    (current, self.coder, writtenNames) = (settings, coder, names)
                    othersHaveWritten = true
                }
            }
            guard isExclusive else { return othersHaveWritten }
            (self.isExclusive, hasRedo) = (true, true)
            defer { othersHaveWritten = false }
            return othersHaveWritten
        }
    }

    /// Other processes may write from now on: reads leave the redo log alone.
    func share() { context.performAndWait { isExclusive = false } }

    private static func unusable(_ url: URL?, _ reason: String, _ cause: (any Error)?) -> CocoaError {
        let detail = cause.map { " (\(($0 as? CocoaError)?.localizedDescription ?? String(describing: $0)))" } ?? ""
        var info: [String: Any] = url.map { [NSFilePathErrorKey: $0.path] } ?? [:]
        info[NSUnderlyingErrorKey] = cause
        return SyncErrors.make(
            134080,
            "The file '\(url?.path ?? "in memory")' is no usable sidecar of synchronisation: \(reason)\(detail). Move it and its -wal and -shm files away; then the store is attached anew, and its objects are compared with those of the other devices.",
            info)
    }

    /// Calls a closure on the sidecar's queue, with no objects left from before and none left after.
    func perform<R>(_ body: (NSManagedObjectContext) throws -> R) throws -> R {
        let context = context
        return try context.performAndWait {
            defer { context.reset() }
            return try body(context)
        }
    }

    // MARK: Settings

    /// The settings as last written; of a new sidecar those that its first write keeps.
    package var settings: SidecarSettings { context.performAndWait { current } }

    /// Gives the device another name, which the next hello tells the others.
    func rename(to name: String) throws {
        guard settings.deviceName != name else { return }
        try changeSettings { $0.deviceName = name }
    }

    /// Changes the settings only.
    func changeSettings(_ body: (inout SidecarSettings) throws -> Void) throws {
        var change = SidecarChange()
        var changed = settings
        try body(&changed)
        change.settings = changed
        try write(change)
    }

    /// The number of a name in the sidecar's table.
    package func number(of name: String) -> Int { context.performAndWait { numberInQueue(of: name) } }

    func numberInQueue(of name: String) -> Int {
        if let number = coder.names.existingNumber(of: name) { return number }
        coder.register(CollectionOfOne(name))
        return coder.names.existingNumber(of: name) ?? 0
    }

    /// Adds names ahead, so that the states of an entity are short.
    package func register(_ names: [String]) { context.performAndWait { coder.register(names) } }

    func encoded(_ state: ObjectState) -> Data { context.performAndWait { coder.encode(state) } }

    package func counts() throws -> SidecarCounts {
        try perform { context in
            try finishRedo(context)
            func count(_ name: String) throws -> Int {
                try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
            }
            return SidecarCounts(
                entries: try count("Entry") + directory(context).count, outgoing: try count("Outgoing"),
                parked: try count("Parked"),
                conflicts: try count("Conflict"), peers: try count("Peer"))
        }
    }
}
