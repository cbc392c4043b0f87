import Foundation

/// Resolves symbolic links to the files of stores: a store's other files are next to its file, not next to a link to
/// it.
///
/// ```
///  Shop.sqlite ──▶ /data/Shop.sqlite       /data/.Shop_SUPPORT, /data/Shop.sqlite-wal
/// ```
package enum FileLink {
    /// Returns the final target of a link, even if it does not exist; the path itself if it is not a link, or is part
    /// of a cycle.
    ///
    /// Links to folders in the path are not resolved: the files next to the store are found through them too.
    package static func followed(_ path: String) -> String {
        var current = path
        for _ in 0..<mostLinks {
            guard let target = target(of: current) else { return current }
            let folder = (current as NSString).deletingLastPathComponent as NSString
            current = target.hasPrefix("/") ? target : folder.appendingPathComponent(target)
        }
        return path
    }

    /// Resolves a file URL; other URLs are unchanged.
    package static func followed(_ url: URL) -> URL {
        guard url.isFileURL else { return url }
        let path = followed(url.path)
        return path == url.path ? url : URL(fileURLWithPath: path)
    }

    /// The system's limit of links.
    private static let mostLinks = 40

    /// Returns the target; `nil` if the path is not a link.
    private static func target(of path: String) -> String? {
        // Foundation makes more system calls, and this runs for each store that is opened.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }

    /// Returns whether the links of a path, or of a folder in it, form a cycle, or exceed the system's limit.
    package static func isLoop(_ path: String) -> Bool { access(path, F_OK) != 0 && errno == ELOOP }

    /// Returns whether two paths refer to the same existing file.
    package static func isSameFile(_ path: String, _ other: String) -> Bool {
        var (mine, found) = (stat(), stat())
        return stat(path, &mine) == 0 && stat(other, &found) == 0 && mine.st_ino == found.st_ino
            && mine.st_dev == found.st_dev
    }
}
