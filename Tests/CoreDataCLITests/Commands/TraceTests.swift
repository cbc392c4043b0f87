import Foundation
import TestSupport
import Testing

/// What only reads leaves nothing behind.
@Suite struct TraceTests {
    private static let commands = [
        "query STORE", "query STORE Item", "query STORE Item --count", "query STORE Item --explain", "export STORE",
        "store info STORE", "store verify STORE", "model hash STORE", "model graph STORE", "model diff STORE STORE",
        "query STORE Item --infer", "query STORE Item --model STORE",
    ]

    private func run(_ command: String, _ store: String, as user: String? = nil) throws -> CommandRun {
        let arguments = command.split(separator: " ").map { String($0).replacing("STORE", with: store) }
        guard let user else { return try CommandRun.run(CommandRun.executable(), arguments) }
        let line = ([try CommandRun.executable().path] + arguments).map { "'\($0)'" }.joined(separator: " ")
        return try CommandRun.run(URL(fileURLWithPath: "/bin/su"), [user, "-s", "/bin/sh", "-c", line])
    }

    @Test(arguments: Trials.some(of: commands, atLeast: 4))
    func readingLeavesNothingBesideTheStore(command: String) throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted()
        #expect(names == ["store.sqlite"])
        let done = try run(command, store)
        #expect(done.status == 0, "\(done.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted() == names)
    }

    /// Rows that are only in the log are read, also where nothing can be written.
    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: [0o755, 0o555])
    func whatIsOnlyInTheLogIsRead(permissions: Int) throws {
        let store = try Fixtures.temporaryCopy("bookmarks/Bookmarks_V4.sqlite")
        let folder = store.deletingLastPathComponent()
        try FileManager.default.removeItem(atPath: store.path + "-shm")
        let before = try [store.path, store.path + "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: $0)) }
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: folder.path)
        let user = permissions == 0o555 && getuid() == 0 ? "nobody" : nil
        let done = try run("query STORE BookmarkEntity --count", store.path, as: user)
        #expect(done.output == "10\n", "\(done.error)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
                == ["Bookmarks_V4.sqlite", "Bookmarks_V4.sqlite-wal"])
        #expect(try [store.path, store.path + "-wal"].map { try Data(contentsOf: URL(fileURLWithPath: $0)) } == before)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    }
}
