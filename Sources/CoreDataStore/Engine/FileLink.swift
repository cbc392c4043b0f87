import Foundation

/// Symbolic links to the files of stores: what belongs to a store lies beside its file, not beside a link to that.
///
/// ```
///  Shop.sqlite ──▶ /data/Shop.sqlite       /data/.Shop_SUPPORT, /data/Shop.sqlite-wal
/// ```
package enum FileLink {
    /// The path of the file that a link leads to, over other links, whether or not it is there; the path itself where it is no link,
    /// or one that leads round in a circle.
    ///
    /// Links to folders stay in it: what lies beside the file is found through them, too.
    package static func followed(_ path: String) -> String {
        var current = path
        for _ in 0..<mostLinks {
            guard let target = target(of: current) else { return current }
            let folder = (current as NSString).deletingLastPathComponent as NSString
            current = target.hasPrefix("/") ? target : folder.appendingPathComponent(target)
        }
        return path
    }

    /// The same of a URL of a file; of another one itself.
    package static func followed(_ url: URL) -> URL {
        guard url.isFileURL else { return url }
        let path = followed(url.path)
        return path == url.path ? url : URL(fileURLWithPath: path)
    }

    /// As many as the system follows.
    private static let mostLinks = 40

    /// `nil` for what is no link.
    private static func target(of path: String) -> String? {
        // Foundation asks for more than that, and this is asked of each store that is opened.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
        }
    }

    /// Whether two paths lead to one file that is there, by whatever names and links.
    package static func isSameFile(_ path: String, _ other: String) -> Bool {
        var (mine, found) = (stat(), stat())
        return stat(path, &mine) == 0 && stat(other, &found) == 0 && mine.st_ino == found.st_ino
            && mine.st_dev == found.st_dev
    }
}
