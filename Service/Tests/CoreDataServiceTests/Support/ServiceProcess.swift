import Foundation

/// The program `coredata-service` beside the tests, in a process of its own.
final class ServiceProcess: @unchecked Sendable {
    // Safe because its parts are set once, and a process may be asked and ended on any thread.
    private let process = Process()
    private let output = Pipe()

    convenience init(model: URL, store: URL, _ arguments: [String] = []) throws {
        try self.init(model: model, store: store.path, arguments)
    }

    /// - Parameter store: a file, or the address of a database.
    init(model: URL, store: String, _ arguments: [String] = []) throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        let folders = [
            folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent(),
        ]
        guard
            let program = folders.map({ $0.appendingPathComponent("coredata-service") })
                .first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
        else {
            throw ClientFailure(description: "coredata-service has not been built beside the tests")
        }
        process.executableURL = program
        process.arguments = ["--model", model.path, "--store", store, "--port", "0"] + arguments
        process.standardOutput = output
        process.standardError = output
        // A program inherits which signals its parent's thread holds back, and those of tasks hold all.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    /// A client of the port that the program prints.
    func client() async throws -> RawClient {
        let handle = output.fileHandleForReading
        let limit = Task { [process] in
            try await Task.sleep(for: .seconds(60))
            kill(process.processIdentifier, SIGKILL)
        }
        defer { limit.cancel() }
        return try await onThread {
            var text = ""
            while true {
                let data = handle.availableData
                if data.isEmpty { throw ClientFailure(description: "the program did not start: \(text)") }
                text += String(decoding: data, as: UTF8.self)
                if let match = text.firstMatch(of: /http:\/\/127\.0\.0\.1:(\d+)\//),
                    let port = Int(match.output.1)
                {
                    return RawClient(port: port)
                }
            }
        }
    }

    /// What the program prints until it ends by itself, and its status.
    func end() async throws -> (status: Int32, text: String) {
        let (process, handle) = (process, output.fileHandleForReading)
        return try await onThread {
            let data = handle.readDataToEndOfFile()
            process.waitUntilExit()
            return (process.terminationStatus, String(decoding: data, as: UTF8.self))
        }
    }

    func send(_ signal: Int32) { if process.isRunning { kill(process.processIdentifier, signal) } }

    deinit { send(SIGKILL) }
}
