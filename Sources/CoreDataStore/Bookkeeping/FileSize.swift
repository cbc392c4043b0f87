import Foundation

/// Reads sizes of a database's files, and deletes them.
package enum FileSize {
    /// Returns the size in bytes; `nil` if the file does not exist.
    package static func of(_ path: String?) -> Int? {
        guard let path else { return nil }
        // Foundation reads many more attributes than the size.
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Deletes a database file and its companion files.
    package static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
