import Foundation

/// Sizes and removal of the files of a database.
package enum FileSize {
    /// The size in bytes, `nil` where there is no file.
    package static func of(_ path: String?) -> Int? {
        guard let path else { return nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.size] as? NSNumber)?.intValue
    }

    /// Removes a database file and its companions.
    static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            try? FileManager.default.removeItem(atPath: path + suffix)
        }
    }
}
