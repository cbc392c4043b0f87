import Foundation

/// Checks Swift against the module CoreData that was built with this test.
public enum TypeChecker {
    /// The folder of what was built with this test.
    public static let products = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

    public static let compiler: URL? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// The arguments by which the compiler finds the C modules of module CoreData.
    public static let moduleMaps: [String] =
        ([products.appendingPathComponent("CObjectRuntime.build")]
        + ["CSQLite", "CZlib", "CCrypto", "CExpat"].map { sources.appendingPathComponent($0) })
        .flatMap { ["-Xcc", "-fmodule-map-file=" + $0.appendingPathComponent("module.modulemap").path] }

    public static var isAvailable: Bool {
        let module = products.appendingPathComponent("Modules/CoreData.swiftmodule")
        return compiler != nil && FileManager.default.fileExists(atPath: module.path)
    }

    /// Why a test is skipped: `.enabled(if: TypeChecker.isAvailable, Comment(rawValue: TypeChecker.missing))`.
    public static let missing = "no swiftc, or module CoreData has not been built"

    /// What the compiler has to say about the files, warnings included.
    ///
    /// - Parameter checksRegions: whether it also says where values that are not `Sendable` go to two isolations, which it
    ///   finds out later than types.
    public static func problems(
        in files: [(name: String, text: String)], mode: String = "6", checksRegions: Bool = false
    ) throws -> String {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for file in files {
            try Data(file.text.utf8).write(to: folder.appendingPathComponent(file.name))
        }
        let log = folder.appendingPathComponent("log")
        try Data().write(to: log)
        let process = Process()
        process.executableURL = compiler
        let action = checksRegions ? ["-emit-sil", "-o", "/dev/null"] : ["-typecheck"]
        process.arguments =
            action + ["-swift-version", mode, "-warnings-as-errors", "-module-name", "Application"]
            + ["-I", products.appendingPathComponent("Modules").path]
            + moduleMaps + files.map { folder.appendingPathComponent($0.name).path }
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        process.waitUntilExit()
        return try String(contentsOf: log, encoding: .utf8)
    }
}
