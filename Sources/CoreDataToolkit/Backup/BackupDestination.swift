import CoreDataPrimitives
import Foundation

/// A backup in the list of a destination.
public struct BackupInfo: Codable, Hashable, Sendable {
    /// The name of the archive.
    public var name: String
    /// The size of the archive in bytes.
    public var size: Int
    /// The time when it was stored.
    public var date: Date

    /// Makes a list entry.
    public init(name: String, size: Int, date: Date) {
        (self.name, self.size, self.date) = (name, size, date)
    }
}

/// A place that stores backups: a folder, or a server.
///
/// An implementation must store an archive completely or not at all.
public protocol BackupDestination: Sendable {
    /// Returns the stored archives, in any order.
    func list() async throws -> [BackupInfo]

    /// Stores an archive.
    ///
    /// - Throws: if the name is taken, or if the archive cannot be written; then nothing of it remains.
    func store(_ file: URL, as name: String) async throws

    /// Copies an archive to a local file, which must not exist.
    func fetch(_ name: String, to file: URL) async throws

    /// Deletes an archive.
    func delete(_ name: String) async throws
}

/// Stores backups in a folder, which is created with the first backup.
///
///     let backup = Backup(stack, to: FolderDestination(folder))
public struct FolderDestination: BackupDestination {
    /// The folder of the backups.
    public let folder: URL

    /// Makes a destination for the folder.
    public init(_ folder: URL) { self.folder = folder }

    /// Returns the archives in the folder; none if the folder does not exist.
    public func list() async throws -> [BackupInfo] {
        try await BackgroundWork.run { _ in
            guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return try names.filter { $0.hasSuffix(".zip") && !$0.hasPrefix(".") }.map { name in
                let attributes = try FileManager.default.attributesOfItem(atPath: url(name).path)
                return BackupInfo(
                    name: name, size: (attributes[.size] as? NSNumber)?.intValue ?? 0,
                    date: attributes[.modificationDate] as? Date ?? .distantPast)
            }
        }
    }

    /// Copies the archive to a hidden file, and renames the file when it is complete.
    public func store(_ file: URL, as name: String) async throws {
        try await BackgroundWork.run { _ in
            let files = FileManager.default
            try DurableFiles.makeFolder(folder.path)
            guard !files.fileExists(atPath: url(name).path) else { throw isTaken(name) }
            let partial = folder.appendingPathComponent(".\(name).\(UUID().uuidString)")
            do {
                try files.copyItem(at: file, to: partial)
                let handle = try FileHandle(forUpdating: partial)
                try handle.synchronize()
                try handle.close()
                // Another program may have stored a backup with that name meanwhile.
                let code = ExclusiveRename.move(partial.path, to: url(name).path)
                guard code == 0 else {
                    throw code == EEXIST ? isTaken(name) : POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
                }
                // Also the archive's entry in the folder must survive a power failure.
                let synchronized = DurableFiles.synchronize(folder: folder.path)
                guard synchronized == 0 else {
                    try? files.removeItem(at: url(name))
                    throw POSIXError(POSIXErrorCode(rawValue: synchronized) ?? .EIO)
                }
            } catch {
                try? files.removeItem(at: partial)
                throw error
            }
        }
    }

    /// Copies an archive from the folder.
    public func fetch(_ name: String, to file: URL) async throws {
        try await BackgroundWork.run { _ in
            guard FileManager.default.fileExists(atPath: url(name).path) else {
                throw ToolkitError("There is no backup '\(name)' in \(folder.path).")
            }
            try FileManager.default.copyItem(at: url(name), to: file)
        }
    }

    /// Deletes an archive from the folder.
    public func delete(_ name: String) async throws {
        try await BackgroundWork.run { _ in
            guard FileManager.default.fileExists(atPath: url(name).path) else {
                throw ToolkitError("There is no backup '\(name)' in \(folder.path).")
            }
            try FileManager.default.removeItem(at: url(name))
        }
    }

    private func isTaken(_ name: String) -> ToolkitError {
        ToolkitError("There is a backup '\(name)' in \(folder.path) already; delete it, or take another name.")
    }

    private func url(_ name: String) -> URL { folder.appendingPathComponent(name) }
}
