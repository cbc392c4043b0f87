import Foundation
import TestSupport
import Testing

/// Another process that synchronises a store until it is killed.
final class SyncWorker {
    private let process = Process()
    private let pipe = Pipe()

    init(store: URL, place: URL) throws {
        process.executableURL = try Self.executable()
        process.arguments = ["sync", store.path, place.path]
        process.standardOutput = pipe
        try process.run()
    }

    var processIdentifier: Int32 { process.processIdentifier }

    /// Waits until the process has exchanged once.
    func waitUntilStarted() throws {
        let data = pipe.fileHandleForReading.availableData
        try #require(!data.isEmpty, "the process has ended")
    }

    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    private static func executable() throws -> URL {
        try #require(
            BuiltProgram.url("ToolkitWorker"), "the program has not been built: swift build --product ToolkitWorker")
    }
}
