import Foundation

/// External data files that only snapshots of a store need.
///
/// A save that replaces or deletes a value removes its file, but a reader of an older snapshot still needs it. Such a
/// reader, in any process, holds a shared lock on a separate folder. A save that finds the folder locked moves the
/// files there. The first client that gets an exclusive lock empties it: the last reader, or a later save.
///
/// ```
/// .Shop_SUPPORT/_EXTERNAL_DATA/   files that current rows name
/// .Shop_SUPPORT/_FORMER/          files of older rows; the first snapshot reader creates it
/// ```
/// Files that remain after a crash are deleted by the next save with external data.
package final class FormerFiles: Sendable {
    private let folder: String
    /// The open descriptor of the folder.
    private let number: Int32

    /// Locks the folder, so that no existing file is deleted; `nil` if the store has no such files, or is not writable.
    init?(keepingFilesOf data: ExternalData) {
        guard let external = data.folder, let folder = data.formerFolder,
            FileManager.default.fileExists(atPath: external)
        else { return nil }
        mkdir(folder, 0o755)
        guard let number = Self.open(folder) else { return nil }
        self.folder = folder
        self.number = number
        while flock(number, LOCK_SH) != 0, errno == EINTR {}
    }

    deinit {
        if flock(number, LOCK_EX | LOCK_NB) == 0 { Self.empty(folder) }
        close(number)
    }

    /// Deletes files that no row names any more, or keeps them for readers of snapshots.
    static func remove(_ paths: [String], of data: ExternalData) {
        guard !paths.isEmpty else { return }
        guard let folder = data.formerFolder, let number = open(folder) else {
            for path in paths { unlink(path) }
            return
        }
        defer { close(number) }
        if flock(number, LOCK_EX | LOCK_NB) == 0 {
            for path in paths { unlink(path) }
            empty(folder)
        } else {
            for path in paths { rename(path, "\(folder)/\(URL(fileURLWithPath: path).lastPathComponent)") }
        }
    }

    private static func open(_ folder: String) -> Int32? {
        let number = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        return number < 0 ? nil : number
    }

    private static func empty(_ folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where UUID(uuidString: name) != nil {
            unlink("\(folder)/\(name)")
        }
    }
}

extension ExternalData {
    /// The folder `.Shop_SUPPORT/_FORMER` next to `Shop.sqlite`.
    var formerFolder: String? {
        folder.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/_FORMER" }
    }
}
