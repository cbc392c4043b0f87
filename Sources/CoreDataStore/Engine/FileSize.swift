import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Android)
    import Android
#endif

/// Sizes and removal of the files of a database.
package enum FileSize {
    /// The size in bytes, `nil` where there is no file.
    package static func of(_ path: String?) -> Int? {
        guard let path else { return nil }
        #if canImport(Glibc) || canImport(Musl) || canImport(Android)
            // Foundation asks for far more of a file than its size.
            var status = stat()
            return stat(path, &status) == 0 ? Int(status.st_size) : nil
        #else
            return sizeByFoundation(path)
        #endif
    }

    private static func sizeByFoundation(_ path: String) -> Int? {
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
