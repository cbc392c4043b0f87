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
        url = try CompanionProgram.url(
            of: Self.name, for: use,
            hint:
                "'make install' installs both; 'swift build --product \(Self.name)' builds it beside coredata.",
            program: program, searchPath: searchPath)
    }

    /// Runs the program with the standard input and output of this one; it reports its own errors.
    ///
    /// - Throws: `ExitCode` with the program's exit code, if not 0.
    func run(_ arguments: [String]) throws {
        try CompanionProgram.finish(CompanionProgram.start(url, arguments), url)
    }

    /// Runs the program and returns its output; its error messages are shown to the user.
    func output(of arguments: [String]) throws -> Data {
        let pipe = Pipe()
        let process = try CompanionProgram.start(url, arguments) { $0.standardOutput = pipe }
        let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
        try CompanionProgram.finish(process, url)
        return output
    }
}
