import Foundation

/// A folder for what is made on the way; gone afterwards.
struct WorkFolder: Sendable {
    let url: URL

    /// The archive.
    var archive: URL { url.appendingPathComponent("backup.zip") }
    /// Where the archive's files are.
    var content: URL { url.appendingPathComponent("content") }
    /// The store as it was before a restore.
    var before: URL { url.appendingPathComponent("Before.sqlite") }

    private static let mark = ".restoring-"

    static func temporary() throws -> WorkFolder {
        try WorkFolder(
            making: FileManager.default.temporaryDirectory.appendingPathComponent("backup-\(UUID().uuidString)"))
    }

    /// Beside a store, with the process that uses it in its name.
    static func beside(_ store: URL) throws -> WorkFolder {
        let process = ProcessInfo.processInfo.processIdentifier
        let name = ".\(store.lastPathComponent)\(mark)\(process)-\(UUID().uuidString)"
        return try WorkFolder(making: store.deletingLastPathComponent().appendingPathComponent(name))
    }

    private init(making url: URL) throws {
        self.url = url
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func remove() { try? FileManager.default.removeItem(at: url) }

    /// Removes what programs left beside the store that died while they restored it.
    static func removeLeftovers(beside store: URL) {
        let files = FileManager.default
        let folder = store.deletingLastPathComponent()
        let start = ".\(store.lastPathComponent)\(mark)"
        for name in (try? files.contentsOfDirectory(atPath: folder.path)) ?? [] where name.hasPrefix(start) {
            let process = name.dropFirst(start.count).prefix { $0 != "-" }
            guard let number = Int32(process), number != ProcessInfo.processInfo.processIdentifier,
                !isRunning(number, folder.appendingPathComponent(name))
            else { continue }
            try? files.removeItem(at: folder.appendingPathComponent(name))
        }
    }

    /// Whether the process may still use the folder; where the system does not tell of processes, for a day.
    private static func isRunning(_ process: Int32, _ folder: URL) -> Bool {
        if FileManager.default.fileExists(atPath: "/proc/self") {
            return FileManager.default.fileExists(atPath: "/proc/\(process)")
        }
        let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path)
        return (attributes?[.modificationDate] as? Date ?? .distantPast).timeIntervalSinceNow > -86_400
    }
}
