import Foundation
import PostgreSQLServer
import Testing

/// A file system of a few megabytes, which a test fills. It is gone with the object.
final class SmallDisk: Sendable {
    static let isPossible = PostgreSQLServer.canMakeDisks
    static let missing: Comment = "\(PostgreSQLServer.noDisks)"

    let url = FileManager.default.temporaryDirectory.appendingPathComponent("disk-\(UUID().uuidString)")

    init(megabytes: Int) throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try PostgreSQLServer.run("mount", ["-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", url.path])
    }

    deinit {
        try? PostgreSQLServer.run("umount", ["-l", url.path])
        try? FileManager.default.removeItem(at: url)
    }

    func callAsFunction(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// Leaves no byte free.
    func fill() throws {
        let descriptor = open(url.appendingPathComponent("filler").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        for size in [1 << 16, 1 << 12, 1] {
            let bytes = [UInt8](repeating: 1, count: size)
            while write(descriptor, bytes, size) > 0 {}
        }
    }

    func free() throws { try FileManager.default.removeItem(at: url.appendingPathComponent("filler")) }

    func remount(_ option: String) throws {
        try PostgreSQLServer.run("mount", ["-o", "remount,\(option)", url.path])
    }
}
