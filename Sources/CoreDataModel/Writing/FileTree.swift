import Foundation

/// The files of a folder, written completely or not at all.
package struct FileTree: Hashable, Sendable {
    /// The content by path relative to the folder: `Library.xcdatamodel/contents`.
    package var files: [String: Data]

    package init(files: [String: Data] = [:]) { self.files = files }

    /// Writes the folder and replaces an existing one, in one step as far as the system supports it.
    ///
    /// A folder that already contains exactly these files is not changed.
    ///
    /// - Returns: whether anything was written.
    @discardableResult
    package func write(to url: URL) throws -> Bool {
        if isWritten(at: url) { return false }
        let manager = FileManager.default
        let parent = url.deletingLastPathComponent()
        try manager.createDirectory(at: parent, withIntermediateDirectories: true)
        let mark = UUID().uuidString
        let fresh = parent.appendingPathComponent(".\(url.lastPathComponent)-\(mark)")
        let old = parent.appendingPathComponent(".\(url.lastPathComponent)-\(mark)-old")
        defer {
            try? manager.removeItem(at: fresh)
            try? manager.removeItem(at: old)
        }
        try manager.createDirectory(at: fresh, withIntermediateDirectories: false)
        for (path, data) in files {
            let file = fresh.appendingPathComponent(path)
            try manager.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try data.write(to: file)
        }
        if manager.fileExists(atPath: url.path) { try manager.moveItem(at: url, to: old) }
        do {
            try manager.moveItem(at: fresh, to: url)
        } catch {
            if manager.fileExists(atPath: old.path) { try? manager.moveItem(at: old, to: url) }
            throw error
        }
        return true
    }

    private func isWritten(at url: URL) -> Bool {
        guard let paths = FileManager.default.subpaths(atPath: url.path) else { return false }
        var isFolder: ObjCBool = false
        let present = paths.filter {
            FileManager.default.fileExists(atPath: url.appendingPathComponent($0).path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
        return Set(present) == Set(files.keys)
            && files.allSatisfy { (try? Data(contentsOf: url.appendingPathComponent($0.key))) == $0.value }
    }
}
