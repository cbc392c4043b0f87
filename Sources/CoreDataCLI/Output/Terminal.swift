import CoreDataPrimitives
import Foundation

/// Where people and programs read what the tool says.
enum Terminal {
    /// Whether standard error is a terminal, so that a person may look at progress.
    static let showsProgress = isTerminal(STDERR_FILENO) && ProcessInfo.processInfo.environment["TERM"] != "dumb"

    /// How many letters a line of standard output has; `nil` where that is no terminal, and nothing is to be cut.
    static var width: Int? {
        guard isTerminal(STDOUT_FILENO) else { return nil }
        #if !os(Windows)
            var size = winsize()
            if ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 { return Int(size.ws_col) }
        #endif
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap(Int.init).flatMap { $0 > 0 ? $0 : nil }
    }

    static func writeError(_ text: String) {
        // Where it is closed or full there is nobody to tell.
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }

    /// A line for people on standard error, apart from the output.
    static func note(_ text: String) { writeError(text + "\n") }

    /// Puts something in the place of standard input, output and error where the caller has closed them: else the next file
    /// that is opened, perhaps a store, would be what is printed to. Writing to it fails.
    static func occupyDescriptors() {
        #if !os(Windows)
            for descriptor in 0...2 where fcntl(Int32(descriptor), F_GETFD) == -1 { _ = open("/dev/null", O_RDONLY) }
        #endif
    }

    /// - Throws: ``ToolFailure`` where not everything that was printed could be written.
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

/// Collects output and writes it in large pieces, to standard output or a file.
final class TextOutput {
    private var buffer: [UInt8] = []
    private let handle: FileHandle
    /// What messages call it.
    private let name: String
    /// The file that appears only when it is complete, and whether it takes the place of one that was there.
    private let file: (temporary: URL, final: URL, replaces: Bool)?

    /// - Parameter path: a file, which takes the place of one that is there when all is written; `nil` or `-` for
    ///   standard output.
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
        // What a link leads to is replaced, not the link.
        let final = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let temporary = final.deletingLastPathComponent()
            .appendingPathComponent(".\(final.lastPathComponent).\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: temporary.path, contents: nil),
            let handle = FileHandle(forWritingAtPath: temporary.path)
        else { throw ToolFailure("Cannot write \(path): its folder does not exist or cannot be written to.") }
        self.handle = handle
        file = (temporary, final, FileManager.default.fileExists(atPath: final.path))
    }

    /// Whether a file can take the place of what is there: a device or a pipe is written to.
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

    /// Writes what is left; a file is in its place after that.
    func finish() throws {
        try flush()
        guard let file else { return }
        try handle.close()
        #if os(Windows)
            try? FileManager.default.removeItem(at: file.final)
            try FileManager.default.moveItem(at: file.temporary, to: file.final)
        #else
            // In one step, so that there is always one of the two files. What came there meanwhile is not replaced.
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

    /// Leaves nothing of an incomplete file.
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
