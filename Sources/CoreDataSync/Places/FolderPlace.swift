import CoreDataPrimitives
import Foundation

/// A folder as a place: on this machine, on a network drive, or kept equal on several machines by Syncthing, Dropbox
/// and the like.
///
///     let place = FolderPlace(URL(fileURLWithPath: "/home/me/Sync/Groceries"))
///
/// A file is written as a hidden temporary file in the same folder, synchronised to the disk and renamed to its final
/// name if no file has that name. Hidden files, folders in folders, links and names that no device makes are ignored:
/// the temporary files and conflict copies of programs that synchronise folders. Folders that do not exist are created
/// with the first file. Permissions are those of the process's `umask`, as for a store's files.
public struct FolderPlace: SyncPlace {
    /// The folder.
    public let url: URL

    /// Makes a place of a folder, which need not exist yet.
    public init(_ url: URL) { self.url = url }

    /// The names of the folders, or of the files in one folder. Also deletes temporary files that killed programs left
    /// a day ago.
    public func list(_ folder: String?) async throws -> [String] {
        try PlaceName.check(folder)
        let path = path(folder)
        return try await BlockingWork.run {
            if folder != nil, !isFolder(path) { return [] }
            return try names(in: path, areFolders: folder == nil)
        }
    }

    /// The contents of a file; `nil` also for an empty one, which a program left that was killed while it created the
    /// file.
    public func read(_ file: String, in folder: String) async throws -> Data? {
        try PlaceName.check(file, folder)
        let (folder, path) = (path(folder), path(folder, file))
        return try await BlockingWork.run { isFolder(folder) ? try contents(path) : nil }
    }

    /// Creates a file; it is on the disk when this returns.
    public func create(_ file: String, in folder: String, _ data: Data) async throws -> Bool {
        try PlaceName.check(file, folder, creating: data)
        let folder = path(folder)
        return try await BlockingWork.run { try make(file, folder, data) }
    }

    /// Deletes a file.
    public func delete(_ file: String, in folder: String) async throws {
        try PlaceName.check(file, folder)
        let (folder, path) = (path(folder), path(folder, file))
        try await BlockingWork.run {
            guard isFolder(folder) else { return }
            guard unlink(path) != 0 else { return synchronize(folder) }
            guard errno == ENOENT || errno == ENOTDIR else { throw SyncPlaceError("deleted", path, errno) }
        }
    }

    /// An element after each file that appears or is deleted. The stream ends at once if the folder does not exist, or
    /// if the system has no means to watch it; on a network drive it tells only of this machine's changes.
    public func changes() -> AsyncStream<Void> { FolderWatcher.changes(in: url.path) }

    private func path(_ names: String?...) -> String {
        names.reduce(url.path) { path, name in name.map { "\(path)/\($0)" } ?? path }
    }
}

// MARK: - Creating

extension FolderPlace {
    private func make(_ file: String, _ folder: String, _ data: Data) throws -> Bool {
        try makeFolders(folder)
        let path = "\(folder)/\(file)"
        if let status = status(path), status.st_size > 0 || status.st_mode & S_IFMT != S_IFREG {
            // The program that created the file may have been killed before the folder's entry was on the disk.
            synchronize(folder)
            return false
        }
        let temporary = "\(folder)/\(TemporaryName.random(for: file))"
        let written: stat
        do { written = try write(data, to: temporary) } catch {
            unlink(temporary)
            throw error
        }
        var code = ExclusiveRename.move(temporary, to: path)
        if code == EEXIST, isAbandoned(path, at: written) { code = rename(temporary, path) == 0 ? 0 : errno }
        if code != 0 { unlink(temporary) }
        synchronize(folder)
        guard code == 0 || code == EEXIST else { throw SyncPlaceError("created", path, code) }
        return code == 0
    }

    /// Whether a file is empty and older than a minute by the file system's clock: a process was killed that had
    /// reserved the name, on a file system without hard links and exclusive renames.
    private func isAbandoned(_ path: String, at now: stat) -> Bool {
        guard let status = status(path), status.st_mode & S_IFMT == S_IFREG, status.st_size == 0 else { return false }
        return status.st_mtim.tv_sec + 60 < now.st_mtim.tv_sec
    }

    private func makeFolders(_ folder: String) throws {
        if isFolder(folder) { return }
        var missing: [String] = []
        var path = folder
        while status(path, followingLinks: path != folder) == nil, path.count > 1 {
            missing.append(path)
            path = (path as NSString).deletingLastPathComponent
        }
        if missing.isEmpty { throw SyncPlaceError("used, because it is not a folder,", folder, ENOTDIR) }
        for path in missing.reversed() {
            guard mkdir(path, 0o777) == 0 || errno == EEXIST else { throw SyncPlaceError("created", path, errno) }
            synchronize((path as NSString).deletingLastPathComponent)
        }
        guard isFolder(folder) else { throw SyncPlaceError("used, because it is not a folder,", folder, ENOTDIR) }
    }

    /// Writes a new file and synchronises it to the disk.
    private func write(_ data: Data, to path: String) throws -> stat {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
        guard file >= 0 else { throw SyncPlaceError("created", path, errno) }
        defer { close(file) }
        try data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = writeBytes(file, UnsafeRawBufferPointer(rebasing: rest))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw SyncPlaceError("written", path, count < 0 ? errno : ENOSPC) }
                rest = rest.dropFirst(count)
            }
        }
        var status = stat()
        guard fsync(file) == 0, fstat(file, &status) == 0 else { throw SyncPlaceError("written", path, errno) }
        return status
    }

    /// Synchronises a folder's entries to the disk; some file systems cannot, and need not.
    private func synchronize(_ folder: String) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }
}

// MARK: - Listing and reading

extension FolderPlace {
    /// Whether a path is a folder, and not a link to one: a link in a shared folder could lead anywhere.
    private func isFolder(_ path: String) -> Bool { status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false }

    private func status(_ path: String, followingLinks: Bool = false) -> stat? {
        var status = stat()
        return (followingLinks ? stat(path, &status) : lstat(path, &status)) == 0 ? status : nil
    }

    private func names(in path: String, areFolders: Bool) throws -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw SyncPlaceError("listed", path, errno)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(folder) else {
                if errno == 0 { break }
                throw SyncPlaceError("listed", path, errno)
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !areFolders { removeIfLeftover(name, in: path) }
            guard PlaceName.isValid(name) else { continue }
            let isWanted =
                switch Int(entry.pointee.d_type) {
                case Int(DT_DIR): areFolders
                case Int(DT_REG): !areFolders
                case Int(DT_UNKNOWN):
                    status("\(path)/\(name)").map {
                        $0.st_mode & S_IFMT == (areFolders ? S_IFDIR : S_IFREG)
                    } ?? false
                default: false
                }
            if isWanted { names.append(name) }
        }
        return names.sorted()
    }

    private func removeIfLeftover(_ name: String, in folder: String) {
        let path = "\(folder)/\(name)"
        guard TemporaryName.matches(name), let status = status(path), status.st_mode & S_IFMT == S_IFREG,
            status.st_mtim.tv_sec + 86_400 < time(nil)
        else { return }
        unlink(path)
    }

    private func contents(_ path: String) throws -> Data? {
        // Opening a pipe would wait for a writer.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            if [ENOENT, ENOTDIR, ELOOP].contains(errno) { return nil }
            throw SyncPlaceError("read", path, errno)
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SyncPlaceError("read", path, errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard status.st_size <= maximumPlaceFileSize else {
            throw SyncPlaceError(
                .tooLarge, "'\(path)' has \(status.st_size) bytes; no device writes so large a file.", path: path)
        }
        if status.st_size == 0 { return nil }
        do {
            return try file.read(upToCount: Int(status.st_size))
        } catch { throw SyncPlaceError(.unavailable, "'\(path)' cannot be read (\(error)).", path: path) }
    }
}

/// The `write` of the C library, which a method's name would hide.
private func writeBytes(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(file, bytes.baseAddress, bytes.count)
}

/// Names of temporary files: `.segment-0000000000000001.1f0c….partial`.
package enum TemporaryName {
    private static let end = ".partial"

    package static func random(for file: String) -> String {
        ".\(file).\(String(UInt64.random(in: 0 ... .max), radix: 16))\(end)"
    }

    /// Whether a name is that of a temporary file of ours.
    package static func matches(_ name: String) -> Bool {
        guard name.hasPrefix("."), name.hasSuffix(end) else { return false }
        let parts = name.dropFirst().dropLast(end.count).split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count >= 2, let number = parts.last else { return false }
        return UInt64(number, radix: 16) != nil
    }
}
