import CoreDataPrimitives
import Foundation

/// A temporary folder, which is deleted with this object.
///
/// The folder is locked while the object lives. A folder without a lock was left by a terminated program.
final class WorkFolder: Sendable {
    let url: URL
    /// The descriptor of the locked folder; negative if the file system does not support such locks.
    private let descriptor: Int32

    /// The archive's file.
    var archive: URL { url.appendingPathComponent("backup.zip") }
    /// The folder of the extracted files.
    var content: URL { url.appendingPathComponent("content") }
    /// A copy of the store before a restore.
    var before: URL { url.appendingPathComponent("Before.sqlite") }

    private static let mark = ".restoring-"

    static func temporary() throws -> WorkFolder {
        try WorkFolder {
            FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID().uuidString)")
        }
    }

    /// Makes a folder next to a store.
    static func beside(_ store: URL) throws -> WorkFolder {
        try WorkFolder {
            store.deletingLastPathComponent()
                .appendingPathComponent(".\(store.lastPathComponent)\(mark)\(UUID().uuidString)")
        }
    }

    /// - Parameter name: returns the folder's URL; called again if another program deleted the folder before it was
    ///   locked, because it seemed abandoned.
    private init(_ name: () -> URL) throws {
        for _ in 0..<100 {
            let url = name()
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            switch FolderLock.take(url.path) {
            case .taken(let taken): (self.url, descriptor) = (url, taken)
            case .unsupported: (self.url, descriptor) = (url, -1)
            case .inUse, .missing: continue
            }
            return
        }
        throw ToolkitError("No folder can be locked in '\(name().deletingLastPathComponent().path)'.")
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func remove() { try? FileManager.default.removeItem(at: url) }

    /// Deletes folders next to the store that were left by terminated programs during a restore.
    static func removeLeftovers(beside store: URL) {
        let files = FileManager.default
        let folder = store.deletingLastPathComponent()
        let start = ".\(store.lastPathComponent)\(mark)"
        for name in (try? files.contentsOfDirectory(atPath: folder.path)) ?? [] where name.hasPrefix(start) {
            let left = folder.appendingPathComponent(name)
            switch FolderLock.take(left.path) {
            case .taken(let descriptor):
                try? files.removeItem(at: left)
                close(descriptor)
            case .unsupported: if FolderLock.isOld(left.path) { try? files.removeItem(at: left) }
            case .inUse, .missing: break
            }
        }
    }
}
