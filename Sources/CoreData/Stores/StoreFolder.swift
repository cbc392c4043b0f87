import CoreDataStore
import Foundation

/// The folder of a store that is about to be made.
enum StoreFolder {
    /// Runs the body with the folder there. One that was missing is gone again, with those above it, where the body throws and has left
    /// nothing in it.
    ///
    /// - Parameter failure: what is thrown where the folder cannot be made: as it is 513, 642, 640 or 512, by the cause, with its name.
    static func making<R>(
        for url: URL, failure: (any Error) -> any Error = { $0 }, _ body: () throws -> R
    ) throws -> R {
        // Most stores are there already, and to take a path apart costs more than to look.
        guard url.isFileURL, !url.isNullDevice, FileSize.of(url.path) == nil else { return try body() }
        let made: [String]
        do { made = try make(FileLink.followed(url).deletingLastPathComponent().path, for: url) } catch {
            throw failure(error)
        }
        do { return try body() } catch {
            for folder in made { rmdir(folder) }
            throw error
        }
    }

    /// - Returns: the folders that were made, the deepest first.
    private static func make(_ path: String, for store: URL) throws -> [String] {
        var missing: [String] = []
        var folder = path
        while access(folder, F_OK) != 0 {
            // What no folder can be made in shows by making it.
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
            // Somebody else may have made it by now.
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
