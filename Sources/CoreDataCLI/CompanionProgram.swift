import ArgumentParser
import Foundation

/// A program that belongs to this one, and is built apart because of what it depends on.
enum CompanionProgram {
    /// Finds the program next to this one, then in `PATH`.
    ///
    /// - Parameters:
    ///   - use: the command that needs it, for the message if it is missing: `coredata port`.
    ///   - hint: the sentence that says how to get it.
    static func url(
        of name: String, for use: String, hint: String, program: URL? = Bundle.main.executableURL,
        searchPath: String? = ProcessInfo.processInfo.environment["PATH"]
    ) throws(ToolFailure) -> URL {
        // A symbolic link to this program may be in another folder than the program itself.
        let own = [program, program?.resolvingSymlinksInPath()].compactMap {
            $0?.deletingLastPathComponent()
        }
        let others = (searchPath ?? "").split(separator: separator).map {
            URL(fileURLWithPath: String($0))
        }
        let found = (own + others).map { $0.appendingPathComponent(name + fileExtension) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else {
            throw ToolFailure(
                """
                \(use) needs the program '\(name)', which is neither beside coredata\
                \(own.last.map { " (in \($0.path))" } ?? "") nor in PATH.
                \(hint)
                """)
        }
        return found
    }

    #if os(Windows)
        private static let separator: Character = ";"
        private static let fileExtension = ".exe"
    #else
        private static let separator: Character = ":"
        private static let fileExtension = ""
    #endif

    /// Starts a program with the standard input and output of this one.
    ///
    /// - Parameter connect: changes the process before it starts.
    static func start(
        _ url: URL, _ arguments: [String], _ connect: (Process) -> Void = { _ in }
    )
        throws -> Process
    {
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

    /// Continues as another program, which gets the signals of this one and gives its exit code.
    static func become(_ url: URL, _ arguments: [String]) throws {
        #if os(Windows)
            try finish(start(url, arguments), url)
        #else
            fflush(nil)
            var words: [UnsafeMutablePointer<CChar>?] = ([url.path] + arguments).map { strdup($0) }
            words.append(nil)
            execv(url.path, &words)
            let error = String(cString: strerror(errno))
            for word in words { free(word) }
            throw ToolFailure("Cannot run \(url.path): \(error)")
        #endif
    }

    /// Waits until a program has ended.
    ///
    /// - Throws: `ExitCode` with the program's exit code, if not 0.
    static func finish(_ process: Process, _ url: URL) throws {
        process.waitUntilExit()
        guard process.terminationReason == .exit else {
            throw ToolFailure("\(url.path) was stopped by signal \(process.terminationStatus).")
        }
        if process.terminationStatus != 0 { throw ExitCode(process.terminationStatus) }
    }
}
