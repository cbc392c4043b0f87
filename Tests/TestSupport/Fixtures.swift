import Foundation
import Synchronization

/// Files that Apple's tools wrote, in the folder named by `COREDATA_FIXTURES`, else at `../shared/fixtures`.
public enum Fixtures {
    /// The folder, or `nil` where there is none; tests that need it then skip with ``missing``.
    public static let folder: URL? = {
        let environment = ProcessInfo.processInfo.environment["COREDATA_FIXTURES"]
        let url = URL(
            fileURLWithPath: environment ?? packageRoot.appendingPathComponent("../shared/fixtures").path
        ).standardizedFileURL
        return FileManager.default.fileExists(atPath: url.path) ? url : nil
    }()

    public static var isAvailable: Bool { folder != nil }

    /// Why a test is skipped: `.enabled(if: Fixtures.isAvailable, Fixtures.missing)`.
    public static let missing =
        "no fixtures: set COREDATA_FIXTURES to a folder of files made by Apple's tools"

    public static func url(_ path: String) -> URL {
        (folder ?? packageRoot).appendingPathComponent(path)
    }

    /// A copy of a fixture (with a store's `-wal` and `-shm`) in a new temporary folder, for writing to.
    public static func temporaryCopy(_ path: String) throws -> URL {
        let source = url(path)
        let copy = try temporaryFolder().appendingPathComponent(source.lastPathComponent)
        for suffix in ["", "-wal", "-shm"] {
            let from = source.path + suffix
            if FileManager.default.fileExists(atPath: from) {
                try FileManager.default.copyItem(atPath: from, toPath: copy.path + suffix)
                try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: copy.path + suffix)
            }
        }
        return copy
    }

    /// A new empty folder under the system's temporary folder. What a test does not remove of it goes with the process.
    public static func temporaryFolder() throws -> URL {
        let number = folderCount.add(1, ordering: .relaxed).newValue
        let url = try scratch.get().appendingPathComponent("\(number)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        return url
    }

    private static let folderCount = Atomic<Int>(0)

    /// The folder of this process, removed when it exits.
    private static let scratch = Result {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("opencoredata-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        atexit { Fixtures.removeScratch() }
        return url
    }

    private static func removeScratch() {
        if let folder = try? scratch.get() { try? FileManager.default.removeItem(at: folder) }
    }

    static let packageRoot = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
