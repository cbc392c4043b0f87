import CoreDataPrimitives
import Foundation

/// A folder for what is made on the way; gone afterwards.
///
/// The folder is locked as long as the value lives. One that nobody has locked was left by a program that died.
final class WorkFolder: Sendable {
    let url: URL
    /// Of the locked folder; negative where the file system has no such locks.
    private let descriptor: Int32

    /// The archive.
    var archive: URL { url.appendingPathComponent("backup.zip") }
    /// Where the archive's files are.
    var content: URL { url.appendingPathComponent("content") }
    /// The store as it was before a restore.
    var before: URL { url.appendingPathComponent("Before.sqlite") }

    private static let mark = ".restoring-"

    static func temporary() throws -> WorkFolder {
        try WorkFolder {
            FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID().uuidString)")
        }
    }

    /// Beside a store.
    static func beside(_ store: URL) throws -> WorkFolder {
        try WorkFolder {
            store.deletingLastPathComponent()
                .appendingPathComponent(".\(store.lastPathComponent)\(mark)\(UUID().uuidString)")
        }
    }

    /// - Parameter name: called again where another program took the folder for one that was left, before it was locked.
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

    /// Removes what programs left beside the store that died while they restored it.
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
