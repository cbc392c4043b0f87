import Foundation

/// The app in a process of its own.
package final class OtherProcess {
    private let program: SideProgram

    /// - Parameter url: the app; that beside the tests where none is given.
    package init(_ name: String, store: URL, _ arguments: [String] = [], at url: URL? = nil) throws {
        program = try SideProgram(try url ?? Self.program(name), ["--store", store.path, "--port", "0"] + arguments)
    }

    package static func program(_ name: String) throws -> URL {
        let folder = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        let folders = [folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
        guard
            let program = folders.map({ $0.appendingPathComponent(name) })
                .first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
        else { throw Socket.Failure(message: "the app has not been built beside the tests") }
        return program
    }

    /// The port that it says it has.
    package func port() async throws -> Int { try await program.port(/http:\/\/127\.0\.0\.1:(\d+)\//) }

    /// How much memory it has, in kilobytes; Linux tells.
    package var memory: Int {
        let status = (try? String(contentsOfFile: "/proc/\(program.number)/status", encoding: .utf8)) ?? ""
        return status.firstMatch(of: /VmRSS:\s*(\d+)/).flatMap { Int($0.output.1) } ?? 0
    }

    /// Ends it without warning.
    package func kill() { program.end(SIGKILL) }

    /// Ends it as Ctrl-C does; returns its status.
    @discardableResult package func end() -> Int32 { program.end(SIGINT) }
}

/// A program that runs beside the tests, and never longer than they do.
package final class SideProgram: Sendable {
    private let process = Process()
    private let output = Pipe()

    package init(_ url: URL, _ arguments: [String]) throws {
        process.executableURL = url
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // A program inherits which signals its parent's thread holds back, and those of tasks hold all.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
    }

    /// The number of its process.
    package var number: Int32 { process.processIdentifier }

    /// The port that the program writes, for thirty seconds.
    package func port(_ pattern: sending Regex<(Substring, Substring)>) async throws -> Int {
        let handle = output.fileHandleForReading
        nonisolated(unsafe) let pattern = pattern
        // What does not come ends the program, and with it what reads here.
        let limit = Task { [process] in
            try await Task.sleep(for: .seconds(30))
            kill(process.processIdentifier, SIGKILL)
        }
        defer { limit.cancel() }
        return try await waiting {
            var text = ""
            while true {
                let data = handle.availableData
                if data.isEmpty { throw Socket.Failure(message: "the program did not start: \(text)") }
                text += String(decoding: data, as: UTF8.self)
                if let match = text.firstMatch(of: pattern), let port = Int(match.output.1), port > 0 { return port }
            }
        }
    }

    /// Ends it by a signal, or after ten seconds by force; returns its status.
    @discardableResult package func end(_ signal: Int32) -> Int32 {
        if process.isRunning { kill(process.processIdentifier, signal) }
        // A program that does not end by the signal is ended by force, and its status tells the test.
        for _ in 0..<1000 where process.isRunning { usleep(10_000) }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        return process.terminationStatus
    }
}
