import Foundation

/// Programs of PyPI that tests run, which `Scripts/test-servers.sh` installs.
enum PythonTools {
    private static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        let installed = package.appendingPathComponent(".build/test-servers").path
        environment["PYTHONPATH"] = [installed, environment["PYTHONPATH"]].compactMap { $0 }.joined(separator: ":")
        return environment
    }

    static let isSchemathesisInstalled =
        (try? run(["-c", "import schemathesis, hypothesis, jsonschema_rs"]))?.status == 0
    static let missing = "schemathesis is not installed (run Scripts/test-servers.sh)"
    static let isCI = !["", "0", "false"].contains((ProcessInfo.processInfo.environment["CI"] ?? "").lowercased())
    static let isLong = ProcessInfo.processInfo.environment["COREDATA_LONG_TESTS"] != nil

    /// Runs `python3` and returns what it printed.
    static func run(_ arguments: [String], in folder: URL? = nil) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.environment = environment
        if let folder { process.currentDirectoryURL = folder }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        // A program inherits which signals its parent's thread holds back, and those of tasks hold all.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
