import Foundation

/// Makes small pictures with a program of the system, a few at a time, each within bounds of time and memory.
actor Thumbnails {
    enum Problem: Error {
        /// There is neither vipsthumbnail nor ImageMagick's convert.
        case noProgram
        /// The program could not read it.
        case noPicture
    }

    static let shared = Thumbnails()

    /// Twice as many pixels as a list shows, for fine screens.
    private static let side = 132
    private static let seconds = 15.0
    private static let atOnce = 2
    private static let mostWaiting = 50

    private var running = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// The program that makes them, if there is one.
    static let program: URL? = ["vipsthumbnail", "convert"].lazy.compactMap(find).first

    private static func find(_ name: String) -> URL? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.map { URL(fileURLWithPath: String($0)).appendingPathComponent(name) }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// A small JPEG of the picture.
    func make(of picture: Data, _ kind: Pictures.Kind) async throws -> Data {
        guard let program = Self.program else { throw Problem.noProgram }
        guard waiting.count < Self.mostWaiting else { throw CocoaError(.executableLoad) }
        if running >= Self.atOnce { await withCheckedContinuation { waiting.append($0) } } else { running += 1 }
        defer { if waiting.isEmpty { running -= 1 } else { waiting.removeFirst().resume() } }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("thumbnail-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appendingPathComponent("picture.\(kind.rawValue)")
        let result = folder.appendingPathComponent("thumbnail.jpg")
        try picture.write(to: source)
        try await Self.run(program, Self.arguments(program, source, kind, result))
        guard let data = try? Data(contentsOf: result), !data.isEmpty else { throw Problem.noPicture }
        return data
    }

    private static func arguments(_ program: URL, _ source: URL, _ kind: Pictures.Kind, _ result: URL) -> [String] {
        if program.lastPathComponent == "vipsthumbnail" {
            return [
                source.path, "--size", "\(side)x\(side)", "--smartcrop", "centre", "-o", "\(result.path)[Q=82,strip]",
            ]
        }
        // The kind is told, so that the program does not find another one in the file; of many frames the first counts.
        return [
            "-limit", "memory", "256MiB", "-limit", "map", "512MiB", "-limit", "width", "30KP", "-limit", "height",
            "30KP", "\(kind.rawValue):\(source.path)[0]", "-auto-orient", "-thumbnail", "\(side)x\(side)^", "-gravity",
            "center", "-extent", "\(side)x\(side)", "-strip", "-quality", "82", "jpeg:\(result.path)",
        ]
    }

    private static func run(_ program: URL, _ arguments: [String]) async throws {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "VIPS_CONCURRENCY": "1", "MAGICK_THREAD_LIMIT": "1"]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        let status: Int32 = try await withCheckedThrowingContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch {
                process.terminationHandler = nil
                return continuation.resume(throwing: error)
            }
            let pid = process.processIdentifier
            DispatchQueue.global().asyncAfter(deadline: .now() + seconds) { [weak process] in
                if process?.isRunning == true { kill(pid, SIGKILL) }
            }
        }
        guard status == 0 else { throw Problem.noPicture }
    }
}
