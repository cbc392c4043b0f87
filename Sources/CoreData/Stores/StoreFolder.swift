import CoreDataStore
import Foundation

/// The folder of a store that is about to be made.
enum StoreFolder {
    /// Runs the body after making the folder, if necessary. If the body throws and has left nothing in a folder that
    /// was made, that folder is removed, with its parents that were made.
    ///
    /// - Parameter failure: the error if the folder cannot be made; by default 513, 642, 640 or 512, depending on the
    ///   cause, with its name.
    static func making<R>(
        for url: URL, failure: (any Error) -> any Error = { $0 }, _ body: () throws -> R
    ) throws -> R {
        // Most stores exist already, and splitting a path costs more than checking that.
        guard url.isStoreFile, FileSize.of(url.path) == nil else { return try body() }
        let made: [String]
        do { made = try make(FileLink.followed(url).deletingLastPathComponent().path, for: url) } catch {
            throw failure(error)
        }
        do { return try body() } catch {
            for folder in made { rmdir(folder) }
            throw error
        }
    }

    /// Runs the body, which may write a file at the URL, after making the folder if that is possible. A folder in which
    /// the body leaves nothing is removed.
    ///
    /// For stores of the program's own classes, which may write something else, or nothing; they report errors of the
    /// folder themselves.
    static func offering<R>(for url: URL?, _ body: () throws -> R) rethrows -> R {
        guard let url, url.isStoreFile, FileSize.of(url.path) == nil else { return try body() }
        let made = (try? make(FileLink.followed(url).deletingLastPathComponent().path, for: url)) ?? []
        // A folder with content stays.
        defer { for folder in made { rmdir(folder) } }
        return try body()
    }

    /// - Returns: the folders that were made, the deepest first.
    private static func make(_ path: String, for store: URL) throws -> [String] {
        var missing: [String] = []
        var folder = path
        while access(folder, F_OK) != 0 {
            // Making the folder shows whether it is possible.
            let parent = (folder as NSString).deletingLastPathComponent
            guard errno == ENOENT || errno == ENOTDIR, !parent.isEmpty, parent != folder else { break }
            missing.append(folder)
            folder = parent
        }
        if missing.isEmpty, access(path, F_OK) == 0, !FileSize.isFolder(path) {
            throw CoreDataErrors.folderNotMade(path, for: store, ENOTDIR)
        }
        var made: [String] = []
        for folder in missing.reversed() {
            // Another process may have made it by now.
            guard mkdir(folder, 0o777) != 0, errno != EEXIST else {
                made.insert(folder, at: 0)
                continue
            }
            let code = errno
            for folder in made { rmdir(folder) }
            throw CoreDataErrors.folderNotMade(folder, for: store, code)
        }
        return made
    }
}
