import CoreDataPrimitives
import Foundation

/// A backup as a destination lists it.
public struct BackupInfo: Codable, Hashable, Sendable {
    /// The name of its archive.
    public var name: String
    /// How many bytes the archive has.
    public var size: Int
    /// When it was put there.
    public var date: Date

    /// Makes an entry of a list.
    public init(name: String, size: Int, date: Date) {
        (self.name, self.size, self.date) = (name, size, date)
    }
}

/// Where backups are kept: a folder, or a place on a network.
///
/// Whoever implements one sees to it that an archive is there as a whole or not at all.
public protocol BackupDestination: Sendable {
    /// The archives that are there, in any order.
    func list() async throws -> [BackupInfo]

    /// Puts an archive there.
    ///
    /// - Throws: where there is one of that name, or it cannot be written; then nothing is left of it.
    func store(_ file: URL, as name: String) async throws

    /// Brings an archive here, to a file that is not there yet.
    func fetch(_ name: String, to file: URL) async throws

    /// Takes an archive away.
    func delete(_ name: String) async throws
}

/// Backups in a folder, which is made when the first one comes.
///
///     let backup = Backup(stack, to: FolderDestination(folder))
public struct FolderDestination: BackupDestination {
    /// The folder.
    public let folder: URL

    /// Keeps backups in that folder.
    public init(_ folder: URL) { self.folder = folder }

    /// The archives of the folder; none where it is not there yet.
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

    /// Copies to a hidden file first, which gets its name when it is whole.
    public func store(_ file: URL, as name: String) async throws {
        try await BackgroundWork.run { _ in
            let files = FileManager.default
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
            guard !files.fileExists(atPath: url(name).path) else { throw isTaken(name) }
            let partial = folder.appendingPathComponent(".\(name).\(UUID().uuidString)")
            do {
                try files.copyItem(at: file, to: partial)
                let handle = try FileHandle(forUpdating: partial)
                try handle.synchronize()
                try handle.close()
                // Another program may have stored a backup of that name meanwhile.
                let code = ExclusiveRename.move(partial.path, to: url(name).path)
                guard code == 0 else {
                    throw code == EEXIST ? isTaken(name) : POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
                }
            } catch {
                try? files.removeItem(at: partial)
                throw error
            }
        }
    }

    /// Copies an archive of the folder.
    public func fetch(_ name: String, to file: URL) async throws {
        try await BackgroundWork.run { _ in
            guard FileManager.default.fileExists(atPath: url(name).path) else {
                throw ToolkitError("There is no backup '\(name)' in \(folder.path).")
            }
            try FileManager.default.copyItem(at: url(name), to: file)
        }
    }

    /// Removes an archive of the folder.
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
