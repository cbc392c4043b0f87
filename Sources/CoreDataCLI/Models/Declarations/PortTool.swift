import ArgumentParser
import Foundation

/// The program `coredata-port`, which parses Swift. It is a separate program because it needs swift-syntax.
struct PortTool {
    static let name = "coredata-port"

    let url: URL

    /// Finds the program next to this one, then in `PATH`.
    ///
    /// - Parameter use: the command that needs it, for the message if it is missing: `coredata port`.
    init(
        for use: String, program: URL? = Bundle.main.executableURL,
        searchPath: String? = ProcessInfo.processInfo.environment["PATH"]
    ) throws(ToolFailure) {
        // A symbolic link to this program may be in another folder than the program itself.
        let own = [program, program?.resolvingSymlinksInPath()].compactMap { $0?.deletingLastPathComponent() }
        let others = (searchPath ?? "").split(separator: Self.separator).map { URL(fileURLWithPath: String($0)) }
        let found = (own + others).map { $0.appendingPathComponent(Self.fileName) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else {
            throw ToolFailure(
                """
                \(use) needs the program '\(Self.name)', which is neither beside coredata\
                \(own.last.map { " (in \($0.path))" } ?? "") nor in PATH.
                'make install' installs both; 'swift build --product \(Self.name)' builds it beside coredata.
                """)
        }
        url = found
    }

    #if os(Windows)
        private static let separator: Character = ";"
        private static let fileName = name + ".exe"
    #else
        private static let separator: Character = ":"
        private static let fileName = name
    #endif

    /// Runs the program with the standard input and output of this one; it reports its own errors.
    ///
    /// - Throws: `ExitCode` with the program's exit code, if not 0.
    func run(_ arguments: [String]) throws { try finish(start(arguments) { _ in }) }

    /// Runs the program and returns its output; its error messages are shown to the user.
    func output(of arguments: [String]) throws -> Data {
        let pipe = Pipe()
        let process = try start(arguments) { $0.standardOutput = pipe }
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        try finish(process)
        return output
    }

    private func start(_ arguments: [String], _ connect: (Process) -> Void) throws -> Process {
        let process = Process()
        process.executableURL = url
        process.arguments = arguments
        connect(process)
        do {
            try process.run()
        } catch {
            throw ToolFailure("Cannot run \(url.path): \((error as NSError).localizedDescription)")
        }
        return process
    }

    private func finish(_ process: Process) throws {
        process.waitUntilExit()
        guard process.terminationReason == .exit else {
            throw ToolFailure("\(url.path) was stopped by signal \(process.terminationStatus).")
        }
        if process.terminationStatus != 0 { throw ExitCode(process.terminationStatus) }
    }
}
