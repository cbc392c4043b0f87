import Foundation
import Glibc

/// A second process that works on a store; see `AccountsWorker`.
final class Worker {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts the process, and returns when it has opened the store.
    init(_ store: URL, _ arguments: String...) throws {
        let folder = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
        let folders = [folder, Bundle.main.bundleURL, Bundle.main.bundleURL.deletingLastPathComponent()]
        guard
            let program = folders.map({ $0.appendingPathComponent("AccountsWorker") })
                .first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
        else { throw Failure(description: "AccountsWorker has not been built beside the tests") }
        process.executableURL = program
        process.arguments = [store.isFileURL ? store.path : store.absoluteString] + arguments
        process.standardInput = input
        process.standardOutput = output
        // A program inherits which signals its parent's thread holds back, and those of tasks hold all.
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try process.run()
        let ready = read(atMost: 6)
        guard ready == Data("ready\n".utf8) else {
            process.waitUntilExit()
            throw Failure(description: "the worker did not open the store: \(String(decoding: ready, as: UTF8.self))")
        }
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Lets the process begin its work.
    func begin() { _ = write(input.fileHandleForWriting.fileDescriptor, "\n", 1) }

    /// Returns the lines that the process printed until its end.
    func lines() -> [String] {
        let data = read()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Kills the process after it has printed some bytes, and returns its complete lines.
    func linesUntilKilled(after count: Int) -> [String] {
        var data = read(atMost: count)
        kill(process.processIdentifier, SIGKILL)
        data += read()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        return text.prefix(upTo: text.lastIndex(of: "\n") ?? text.startIndex).split(separator: "\n").map(String.init)
    }

    /// Reads to the end, or so many bytes. `FileHandle` stops the program when a signal interrupts it.
    private func read(atMost count: Int = .max) -> Data {
        var data = Data()
        var buffer = [UInt8](repeating: 0, count: 4096)
        while data.count < count {
            let length = min(buffer.count, count - data.count)
            let number = Glibc.read(output.fileHandleForReading.fileDescriptor, &buffer, length)
            if number > 0 { data += buffer[..<number] } else if number == 0 || errno != EINTR { break }
        }
        return data
    }
}
