import Foundation

extension ModelConfiguration {
    /// Moves the files of a store that cannot be read into a folder beside it, so that the next container begins with
    /// an empty one.
    ///
    ///     do { return try ModelContainer(for: schema, configurations: configuration) } catch SwiftDataError.loadIssueModelContainer {
    ///         let folder = try configuration.setStoreAside()      // trips.store.aside-1, for a repair
    ///         return try ModelContainer(for: schema, configurations: configuration)
    ///     }
    ///
    /// Not in Apple's framework. Call it while no container has the store.
    ///
    /// - Returns: the folder, which has the files under their names.
    /// - Throws: the file system's error; files that were not moved yet are where they were.
    @discardableResult
    public func setStoreAside() throws -> URL {
        let manager = FileManager.default
        let place = url.deletingLastPathComponent()
        var number = 1
        func folder() -> URL {
            place.appendingPathComponent("\(url.lastPathComponent).aside-\(number)", isDirectory: true)
        }
        while manager.fileExists(atPath: folder().path) { number += 1 }
        try manager.createDirectory(at: folder(), withIntermediateDirectories: true)
        let support = ".\(url.deletingPathExtension().lastPathComponent)_SUPPORT"
        // The store itself last: a log that stayed behind would be taken for the new store's.
        for name in ["-wal", "-shm", "-journal"].map({ url.lastPathComponent + $0 }) + [support, url.lastPathComponent]
        {
            let file = place.appendingPathComponent(name)
            guard manager.fileExists(atPath: file.path) else { continue }
            try manager.moveItem(at: file, to: folder().appendingPathComponent(name))
        }
        return folder()
    }
}
