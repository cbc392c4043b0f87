import Foundation

/// Files of external data that rows name only in former states of a store.
///
/// A save that replaces or deletes a value removes its file, which whoever reads a former state still needs. He holds a shared lock on a
/// folder beside the others, whatever his process; a save that finds it locked moves the files there, and who can lock it alone empties
/// it: the last reader to let go, or a later save.
///
/// ```
/// .Shop_SUPPORT/_EXTERNAL_DATA/   what rows name now
/// .Shop_SUPPORT/_FORMER/          what they named, made by the first who read a former state
/// ```
/// Whatever ends in between, a process or the machine, leaves files that the next save with external data removes.
package final class FormerFiles: Sendable {
    private let folder: String
    /// Of the folder, open.
    private let number: Int32

    /// Locks the folder, so that no file is removed that is there now; `nil` where the store has no such files, or may not be written to.
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

    /// Removes files that no row names any more, or keeps them for readers of former states.
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
    /// `.Shop_SUPPORT/_FORMER` beside `Shop.sqlite`.
    var formerFolder: String? {
        folder.map { URL(fileURLWithPath: $0).deletingLastPathComponent().path + "/_FORMER" }
    }
}
