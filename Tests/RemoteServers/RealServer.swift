import Foundation
import Synchronization

/// A server of others that a test run starts: wsgidav for WebDAV, moto for S3, both in Python.
///
///     let server = try RealServer.shared(.s3)
///     let endpoint = server.url
///
/// It ends when this process does.
package final class RealServer: Sendable {
    package enum Kind: String, Sendable {
        case webDAV = "webdav"
        case s3
    }

    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Name and password of the WebDAV server.
    package static let user = "ann"
    package static let password = "pass:word"
    /// The bucket of the S3 service, which accepts any keys.
    package static let bucket = "sync"

    private static let sharedWebDAV = Result { try RealServer(.webDAV) }
    private static let sharedS3 = Result { try RealServer(.s3) }

    /// The server of a test run; each test uses a folder or prefix of its own.
    package static func shared(_ kind: Kind) throws -> RealServer {
        try (kind == .s3 ? sharedS3 : sharedWebDAV).get()
    }

    /// Whether Python and the packages are installed; tests that need a server are skipped with ``missing`` where not.
    package static let isInstalled: Bool = {
        let modules = ["wsgidav", "cheroot", "moto", "flask", "flask_cors", "werkzeug"]
        let process = Process()
        process.executableURL = environmentProgram
        process.arguments =
            [
                "python3", "-c",
                "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))",
            ] + modules
        process.environment = environment
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    /// Why a test is skipped.
    package static let missing = "wsgidav and moto are not installed (run Scripts/test-servers.sh)"

    /// Where `Scripts/test-servers.sh` installs what the system's Python does not have.
    private static let packages = folder.deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent(".build/test-servers").path
    /// The folder of this file: another package has a link to it.
    private static let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()

    /// Finds `python3` in PATH.
    private static let environmentProgram = URL(fileURLWithPath: "/usr/bin/env")

    private static var environment: [String: String] {
        var all = ProcessInfo.processInfo.environment
        all["PYTHONPATH"] = [packages, all["PYTHONPATH"]].compactMap { $0 }.joined(separator: ":")
        all["PYTHONDONTWRITEBYTECODE"] = "1"
        return all
    }

    package let kind: Kind
    package let port: Int
    private let isEncrypted: Bool
    private let process: Process
    private let input: FileHandle
    /// Guards the answers of the server's process.
    private let output: Mutex<FileHandle>

    /// Starts a server of a test's own.
    ///
    /// - Parameter certificate: the files of a certificate for `localhost` and its key, for a WebDAV server with TLS.
    package init(_ kind: Kind, certificate: (certificate: String, key: String)? = nil) throws {
        self.kind = kind
        isEncrypted = certificate != nil
        var contents = Self.bucket
        if kind == .webDAV {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("server-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            contents = folder.path
        }
        process = Process()
        process.executableURL = Self.environmentProgram
        let script = Self.folder.appendingPathComponent("servers.py")
        process.arguments = ["python3", script.path, kind.rawValue, contents]
        if let certificate { process.arguments? += [certificate.certificate, certificate.key] }
        process.environment = Self.environment
        let (input, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (input, output)
        // Another program that this process starts must not keep the server's input open.
        _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        try process.run()
        self.input = input.fileHandleForWriting
        self.output = Mutex(output.fileHandleForReading)
        let line = Self.line(output.fileHandleForReading)
        guard let port = Int(line) else {
            throw Failure(
                description: "The server of \(kind.rawValue) did not start; it said '\(line)' on standard output.")
        }
        self.port = port
    }

    package var url: URL {
        get throws {
            let scheme = isEncrypted ? "https://localhost" : "http://127.0.0.1"
            guard let url = URL(string: "\(scheme):\(port)\(kind == .webDAV ? "/dav" : "")") else {
                throw Failure(description: "no address")
            }
            return url
        }
    }

    /// Closes the port: connections are refused. The contents stay.
    package func stop() throws { try tell("stop") }

    /// Opens the same port again.
    package func start() throws { try tell("start") }

    /// Ends the server, which deletes its files.
    package func end() { try? input.close() }

    private func tell(_ command: String) throws {
        let answer = try output.withLock { output in
            try input.write(contentsOf: Data("\(command)\n".utf8))
            return Self.line(output)
        }
        guard answer == command else { throw Failure(description: "The server cannot \(command): '\(answer)'.") }
    }

    private static func line(_ handle: FileHandle) -> String {
        var bytes = Data()
        while let byte = try? handle.read(upToCount: 1), !byte.isEmpty, byte != Data("\n".utf8) { bytes += byte }
        return String(decoding: bytes, as: UTF8.self)
    }
}
