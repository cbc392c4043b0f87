import Foundation

/// Writes files and folder entries from the kernel's memory to the disk, so that they survive a power failure.
///
/// A new file, a renamed file and a deleted file are entries of their folder. Synchronising the file alone does not
/// write the entry.
package enum DurableFiles {
    /// Synchronises the entries of a folder.
    ///
    /// - Returns: 0, or the error number (`errno`). File systems that cannot synchronise folders count as successful.
    package static func synchronize(folder: String) -> Int32 {
        let code = synchronize(folder, O_RDONLY | O_DIRECTORY)
        return code == EINVAL || code == ENOTSUP ? 0 : code
    }

    /// Synchronises the content of a file. Do not use it for a file of a database: closing its descriptor releases the
    /// locks of this process.
    ///
    /// - Returns: 0, or the error number (`errno`).
    package static func synchronize(file: String) -> Int32 { synchronize(file, O_RDONLY) }

    private static func synchronize(_ path: String, _ flags: Int32) -> Int32 {
        var descriptor: Int32
        repeat { descriptor = open(path, flags | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        return synchronize(descriptor)
    }

    /// Synchronises an open file, again after a signal interrupted it.
    package static func synchronize(_ descriptor: Int32) -> Int32 {
        while fsync(descriptor) != 0 {
            if errno != EINTR { return errno }
        }
        return 0
    }

    /// Creates a folder and its missing parents, and synchronises the folders that contain them.
    package static func makeFolder(_ folder: String) throws {
        var missing: [String] = []
        var path = folder
        while path.count > 1, !FileManager.default.fileExists(atPath: path) {
            missing.append(path)
            path = (path as NSString).deletingLastPathComponent
        }
        guard !missing.isEmpty else { return }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for path in missing.reversed() {
            let code = synchronize(folder: (path as NSString).deletingLastPathComponent)
            guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        }
    }
}
