import CoreData
import Foundation

/// Copies of the store, in the folder `Backups` beside it.
enum Backups {
    struct Backup: Sendable {
        /// The file's name, without its ending.
        let name: String
        let url: URL
        let date: Date
        /// In bytes, with what lies beside the file.
        let size: Int
    }

    static let limit = 50

    static func folder(of store: URL) -> URL {
        store.deletingLastPathComponent().appendingPathComponent("Backups", isDirectory: true)
    }

    /// The backups of a store, the newest first.
    static func all(of store: URL) -> [Backup] {
        let files =
            (try? FileManager.default.contentsOfDirectory(
                at: folder(of: store), includingPropertiesForKeys: [.contentModificationDateKey])) ?? []
        return files.filter { $0.pathExtension == "sqlite" }.map { url in
            let values = try? url.resourceValues(forKeys: [.contentModificationDateKey])
            let name = url.deletingPathExtension().lastPathComponent
            return Backup(
                name: name, url: url, date: values?.contentModificationDate ?? .distantPast, size: size(of: url))
        }.sorted { ($0.date, $0.name) > ($1.date, $1.name) }
    }

    /// The backup of that name, out of those that there are: a name is never made into a path.
    static func find(_ name: String, of store: URL) -> Backup? { all(of: store).first { $0.name == name } }

    private static func size(of url: URL) -> Int {
        let report = try? NSPersistentStoreCoordinator.report(onPersistentStoreAt: url)
        return (report?.fileSize ?? 0) + (report?.logSize ?? 0) + (report?.externalDataSize ?? 0)
    }

    /// A name that no backup has: "2026-11-23 08.30.05", with what it is for.
    private static func freshURL(of store: URL, _ purpose: String?) throws -> URL {
        let folder = folder(of: store)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let style = Date.VerbatimFormatStyle(
            format:
                "\(year: .defaultDigits)-\(month: .twoDigits)-\(day: .twoDigits) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)).\(minute: .twoDigits).\(second: .twoDigits)",
            timeZone: .current, calendar: Calendar(identifier: .gregorian))
        let base = Date().formatted(style) + (purpose.map { " \($0)" } ?? "")
        for number in 1...limit + 1 {
            let name = number == 1 ? base : "\(base) \(number)"
            let url = folder.appendingPathComponent("\(name).sqlite")
            if !FileManager.default.fileExists(atPath: url.path) { return url }
        }
        throw CocoaError(.fileWriteFileExists)
    }

    /// Copies the store of a coordinator, which may be in use.
    static func make(of store: NSPersistentStore, in coordinator: NSPersistentStoreCoordinator, at url: URL) throws {
        try coordinator.copyPersistentStore(store, to: freshURL(of: url, nil))
    }

    /// Copies a store that nobody has open, as it is.
    static func copyStore(at store: URL, model: NSManagedObjectModel, named purpose: String) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let options: [AnyHashable: Any] = [NSReadOnlyPersistentStoreOption: true]
        let source = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: store, options: options)
        try coordinator.copyPersistentStore(source, to: freshURL(of: store, purpose))
        try coordinator.remove(source)
    }

    /// Puts a copy of the backup in the place of the store, which nobody has open.
    static func replaceStore(at store: URL, by backup: URL) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try coordinator.replacePersistentStore(at: store, withPersistentStoreFrom: backup, type: .sqlite)
    }

    static func delete(_ backup: Backup) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: NSManagedObjectModel())
        try coordinator.destroyPersistentStore(at: backup.url, type: .sqlite)
        // Destroying a store leaves an empty file, as with Apple.
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: backup.url.path + ending) }
    }
}
