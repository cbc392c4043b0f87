import Foundation

/// Sizes and removal of the files of a database.
package enum FileSize {
    /// The size in bytes, `nil` where there is no file.
    package static func of(_ path: String?) -> Int? {
        guard let path else { return nil }
        // Foundation asks for far more of a file than its size.
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes a database file and its companions.
    package static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
