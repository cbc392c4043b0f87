import CoreData
import Foundation

/// Copies of a device's files.
struct DeviceBackup {
    fileprivate let folder: TemporaryFolder
    fileprivate let hasSidecar: Bool

    fileprivate init(_ device: SyncingDevice, withSidecar: Bool) throws {
        (folder, hasSidecar) = (try TemporaryFolder(), withSidecar)
        for file in try device.files(withSidecar: withSidecar) {
            try FileManager.default.copyItem(at: file, to: folder(file.lastPathComponent))
        }
    }

    /// Puts the files into the folder of a store that nobody has open.
    fileprivate func put(beside store: URL) throws {
        for name in try folder.names() {
            try FileManager.default.copyItem(
                at: folder(name), to: store.deletingLastPathComponent().appendingPathComponent(name))
        }
    }
}

extension SyncingDevice {
    fileprivate func files(withSidecar: Bool) throws -> [URL] {
        guard let url else { return [] }
        let (folder, name) = (url.deletingLastPathComponent(), url.lastPathComponent)
        return try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix(name) && (withSidecar || !$0.hasPrefix(name + "-sync")) }
            .map { folder.appendingPathComponent($0) }
    }

    /// Copies the store, as a program that makes backups does while the app does not run.
    func backUp(withSidecar: Bool = false) throws -> DeviceBackup {
        try close()
        let backup = try DeviceBackup(self, withSidecar: withSidecar)
        try open()
        return backup
    }

    /// Puts the files of a backup into the place of the present ones, and starts the app.
    func putBack(_ backup: DeviceBackup) throws {
        try close()
        for file in try files(withSidecar: backup.hasSidecar) { try FileManager.default.removeItem(at: file) }
        if let url { try backup.put(beside: url) }
        try open()
    }

    /// Deletes the store, as an app that makes a new one, and leaves the sidecar.
    func deleteStore() throws {
        try close()
        for file in try files(withSidecar: false) { try FileManager.default.removeItem(at: file) }
        try open()
    }

    /// The values of an attribute of all objects of an entity, sorted.
    func names(_ entity: String, by attribute: String = "name") throws -> [String] {
        try context.performAndWait {
            context.refreshAllObjects()
            return try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                .compactMap { $0.value(forKey: attribute) as? String }.sorted()
        }
    }
}
