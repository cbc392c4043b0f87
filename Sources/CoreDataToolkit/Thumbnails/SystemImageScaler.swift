import Dispatch
import Foundation

/// Makes thumbnails with a system tool: libvips's `vipsthumbnail`, or ImageMagick's `magick` or `convert`.
///
///     let scaler = try SystemImageScaler()            // searches PATH; apt install libvips-tools
///     let small = try scaler.thumbnail(of: photo, width: 66, height: 66)      // a PNG
///
/// Pictures are untrusted input. The format is determined from the first bytes and passed to the tool. File names and
/// arguments are generated here. The tool runs in a temporary folder with a time limit, and too large pictures are
/// refused before it runs.
public struct SystemImageScaler: ImageScaler {
    /// The supported tools.
    public enum Tool: String, CaseIterable, Sendable {
        case vipsthumbnail, magick, convert
    }

    /// The tool that runs.
    public let tool: Tool
    /// The path of the tool.
    public let executable: URL
    /// The maximum size of a picture in bytes.
    public var maximumBytes = 50_000_000
    /// The maximum number of pixels.
    public var maximumPixels = 100_000_000
    /// The time limit for one picture in seconds.
    public var timeout: TimeInterval = 30

    /// Uses the first supported tool in `PATH`. Other programs may be named `convert` too, so that one must identify
    /// itself as ImageMagick's.
    ///
    /// - Parameter path: folders separated by colons; `nil` for the program's own `PATH`.
    /// - Throws: a ``ToolkitError`` that says which package to install.
    public init(path: String? = nil) throws {
        let folders = (path ?? ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for tool in Tool.allCases {
            for folder in folders {
                let file = URL(fileURLWithPath: String(folder)).appendingPathComponent(tool.rawValue)
                guard FileManager.default.isExecutableFile(atPath: file.path),
                    tool != .convert || Self.isImageMagick(file)
                else { continue }
                self.init(tool: tool, at: file)
                return
            }
        }
        throw ToolkitError(
            """
            No tool for pictures is in PATH: install libvips (apt install libvips-tools) or ImageMagick, or give an \
            ImageScaler of your own.
            """)
    }

    /// Uses the tool at the path.
    public init(tool: Tool, at executable: URL) {
        self.tool = tool
        self.executable = executable
    }

    /// Returns a PNG that fits into the size and keeps the proportions; never larger than the picture itself.
    ///
    /// - Throws: a ``ToolkitError`` if the data is not a picture or exceeds the limits, and for errors of the tool.
    public func thumbnail(of image: Data, width: Int, height: Int) throws -> Data {
        guard (1...10_000).contains(width), (1...10_000).contains(height) else {
            throw ToolkitError("A small picture is 1 to 10,000 pixels wide and high, not \(width) × \(height).")
        }
        guard image.count <= maximumBytes else {
            throw ToolkitError("The picture has \(image.count) bytes, more than maximumBytes, \(maximumBytes).")
        }
        let header = try ImageHeader(image)
        guard header.width <= maximumPixels, header.height <= maximumPixels / header.width else {
            throw ToolkitError(
                "The picture is \(header.width) × \(header.height), more than maximumPixels, \(maximumPixels).")
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("thumbnail-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        try image.write(to: folder.appendingPathComponent("in.\(header.format.rawValue)"))
        try run(arguments(header.format, width, height), in: folder)
        let made = folder.appendingPathComponent("out.png")
        guard let data = try? Data(contentsOf: made), (try? ImageHeader(data)) != nil else {
            throw ToolkitError("\(tool.rawValue) made no picture of a \(header.format.rawValue); it may be damaged.")
        }
        return data
    }

    private static func isImageMagick(_ executable: URL) -> Bool {
        let process = Process()
        let output = Pipe()
        process.executableURL = executable
        process.arguments = ["-version"]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return process.terminationStatus == 0 && said.starts(with: Data("Version: ImageMagick".utf8))
    }

    private func arguments(_ format: ImageHeader.Format, _ width: Int, _ height: Int) -> [String] {
        let size = "\(width)x\(height)>"
        switch tool {
        case .vipsthumbnail: return ["in.\(format.rawValue)", "--size", size, "-o", "out.png[strip]"]
        case .magick, .convert:
            return [
                "-limit", "memory", "256MiB", "-limit", "map", "512MiB", "-limit", "time", "\(max(1, Int(timeout)))",
                // The format is explicit, so that the file's content does not select the decoder; only the first frame
                // is read.
                "\(format.rawValue):in.\(format.rawValue)[0]", "-auto-orient", "-thumbnail", size, "-strip",
                "png:out.png",
            ]
        }
    }

    private func run(_ arguments: [String], in folder: URL) throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        let messages = folder.appendingPathComponent("messages")
        guard FileManager.default.createFile(atPath: messages.path, contents: nil) else {
            throw ToolkitError("No file can be made in \(folder.path), where \(tool.rawValue) is to run.")
        }
        process.standardError = try FileHandle(forWritingTo: messages)
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        do { try process.run() } catch {
            throw ToolkitError("\(executable.path) cannot be run.", underlying: error)
        }
        guard ended.wait(timeout: .now() + timeout) == .success else {
            process.terminate()
            throw ToolkitError("\(tool.rawValue) took longer than \(timeout) seconds for one picture, and was stopped.")
        }
        guard process.terminationStatus == 0, process.terminationReason == .exit else {
            let said = (try? String(contentsOf: messages, encoding: .utf8))?.split(separator: "\n").first ?? ""
            throw ToolkitError("\(tool.rawValue) cannot read the picture: \(said.prefix(200))")
        }
    }
}
