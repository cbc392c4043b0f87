import CoreDataPrimitives
import Foundation

/// The standard streams of the tool.
enum Terminal {
    /// Whether standard error is a terminal, so that progress is shown.
    static let showsProgress = isTerminal(STDERR_FILENO) && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// The number of columns of standard output; `nil` if it is not a terminal, so that nothing is truncated.
    static var width: Int? {
        guard isTerminal(STDOUT_FILENO) else { return nil }
        #if !os(Windows)
            var size = winsize()
            if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        #endif
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
    }

    static func writeError(_ text: String) {
        // Ignore errors: if standard error is closed or full, they cannot be reported.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// Writes a line for people to standard error.
    static func note(_ text: String) { writeError(text + "\n") }

    /// Opens placeholders for standard input, output and error if the caller has closed them. Otherwise the next opened
    /// file, possibly a store, would get that descriptor and receive the output. Writing to a placeholder fails.
    static func occupyDescriptors() {
        #if !os(Windows)
            for descriptor in 0...2 where fcntl(Int32(descriptor), F_GETFD) == -1 { _ = open("/dev/null", O_RDONLY) }
        #endif
    }

    /// - Throws: ``ToolFailure`` if some output could not be written.
    static func finishOutput() throws {
        guard fflush(nil) != 0 else { return }
        throw ToolFailure("Cannot write to standard output: \(String(cString: strerror(errno))).")
    }

    private static func isTerminal(_ descriptor: Int32) -> Bool {
        #if os(Windows)
            _isatty(descriptor) != 0
        #else
            isatty(descriptor) == 1
        #endif
    }
}

/// Buffers output and writes it in large pieces, to standard output or a file.
final class TextOutput {
    private var buffer: [UInt8] = []
    private let handle: FileHandle
    /// The name in messages.
    private let name: String
    /// The temporary file, its final name, and whether it replaces an existing file.
    private let file: (temporary: URL, final: URL, replaces: Bool)?

    /// - Parameter path: a file, which replaces an existing one when everything is written; `nil` or `-` for standard
    ///   output.
    init(path: String? = nil) throws {
        guard let path, path != "-" else {
            name = "to standard output"
            handle = .standardOutput
            file = nil
            return
        }
        guard !path.isEmpty else { throw ToolFailure("The path of the output is empty.") }
        name = path
        guard Self.isReplaceable(path) else {
            guard let handle = FileHandle(forWritingAtPath: path) else { throw ToolFailure("Cannot write \(path).") }
            self.handle = handle
            file = nil
            return
        }
        // Replace the target of a symbolic link, not the link.
        let final = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let temporary = final.deletingLastPathComponent()
            .appendingPathComponent(".\(final.lastPathComponent).\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: temporary.path, contents: nil),
            let handle = FileHandle(forWritingAtPath: temporary.path)
        else { throw ToolFailure("Cannot write \(path): its folder does not exist or cannot be written to.") }
        self.handle = handle
        file = (temporary, final, FileManager.default.fileExists(atPath: final.path))
    }

    /// Returns whether a file can be replaced: devices and pipes are written directly.
    static func isReplaceable(_ path: String) -> Bool {
        #if os(Windows)
            return true
        #else
            var status = stat()
            guard stat(path, &status) == 0 else { return true }
            return status.st_mode & S_IFMT == S_IFREG
        #endif
    }

    func write(_ text: String) throws {
        buffer.append(contentsOf: text.utf8)
        if buffer.count > 1 << 16 { try flush() }
    }

    /// Writes the rest; afterwards the file has its final name.
    func finish() throws {
        try flush()
        guard let file else { return }
        try handle.close()
        #if os(Windows)
            try? FileManager.default.removeItem(at: file.final)
            try FileManager.default.moveItem(at: file.temporary, to: file.final)
        #else
            // In one step, so that either the old or the new file always exists. A file that was created there
            // meanwhile is not replaced.
            let code =
                file.replaces
                ? rename(file.temporary.path, file.final.path) == 0 ? 0 : errno
                : ExclusiveRename.move(file.temporary.path, to: file.final.path)
            guard code != EEXIST else {
                throw ToolFailure("A file was put at \(file.final.path) meanwhile; it is left as it is.")
            }
            guard code == 0 else {
                throw ToolFailure("Cannot write \(file.final.path): \(String(cString: strerror(code))).")
            }
        #endif
    }

    /// Deletes an incomplete file.
    func cancel() {
        guard let file else { return }
        try? FileManager.default.removeItem(at: file.temporary)
    }

    private func flush() throws {
        guard !buffer.isEmpty else { return }
        try ModelOutput.writing(name) { try handle.write(contentsOf: Data(buffer)) }
        buffer.removeAll(keepingCapacity: true)
    }
}
