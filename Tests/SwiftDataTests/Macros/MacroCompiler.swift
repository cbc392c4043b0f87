import Foundation
import TestSupport

/// Runs the compiler with the macros that were built with this test: what they expand to, and what they report.
enum MacroCompiler {
    private static let plugin = TypeChecker.products.appendingPathComponent("SwiftDataMacros-tool")
    private static let modules = TypeChecker.products.appendingPathComponent("Modules")

    /// Whether the compiler, the modules and the plug-in are where a build leaves them.
    static var isAvailable: Bool {
        let module = modules.appendingPathComponent("SwiftData.swiftmodule")
        return TypeChecker.compiler != nil && FileManager.default.fileExists(atPath: module.path)
            && FileManager.default.isExecutableFile(atPath: plugin.path)
    }

    /// Why a test is skipped.
    static let missing = "no swiftc, or SwiftData and its macros have not been built"

    struct Output {
        /// The diagnostics, and the expansions if they were asked for.
        let log: String
        /// The messages and fix-its among other bytes.
        let serialized: Data
    }

    /// Type-checks files.
    static func check(_ files: [URL], mode: String = "6", flags: [String] = []) throws -> Output {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let log = folder.appendingPathComponent("log")
        let serialized = folder.appendingPathComponent("diagnostics")
        try Data().write(to: log)
        let process = Process()
        process.executableURL = TypeChecker.compiler
        var arguments = ["-typecheck", "-parse-as-library", "-swift-version", mode, "-module-name", "Application"]
        arguments += ["-package-name", "application", "-diagnostic-style=llvm"]
        arguments += ["-load-plugin-executable", plugin.path + "#SwiftDataMacros"]
        arguments += ["-I", modules.path] + TypeChecker.moduleMaps
        if files.count == 1 {
            arguments += ["-Xfrontend", "-serialize-diagnostics-path", "-Xfrontend", serialized.path]
        } else {
            arguments.append("-wmo")
        }
        process.arguments = arguments + flags + files.map(\.path)
        let handle = try FileHandle(forWritingTo: log)
        process.standardError = handle
        process.standardOutput = handle
        try process.run()
        process.waitUntilExit()
        return Output(
            log: try String(contentsOf: log, encoding: .utf8), serialized: (try? Data(contentsOf: serialized)) ?? Data()
        )
    }

    /// Type-checks a text.
    static func check(_ text: String, mode: String = "6", flags: [String] = []) throws -> Output {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("Source.swift")
        try Data(text.utf8).write(to: file)
        return try check([file], mode: mode, flags: flags)
    }
}

extension MacroCompiler.Output {
    struct Diagnostic: Equatable {
        let line: Int
        /// `error: …` or `warning: …`, without what the compiler adds to a macro's message.
        let message: String
    }

    /// The errors and warnings in files, those in expansions included with line 0.
    var diagnostics: [Diagnostic] {
        log.split(separator: "\n").compactMap { line in
            guard let kind = [": error: ", ": warning: "].compactMap({ line.range(of: $0) }).first else { return nil }
            let place = line[..<kind.lowerBound].split(separator: ":")
            let isFile = place.first?.hasSuffix("Source.swift") == true
            var message = line[kind.lowerBound...].dropFirst(2)
            if let source = message.range(of: " (from macro ") { message = message[..<source.lowerBound] }
            return Diagnostic(
                line: isFile && place.count > 1 ? Int(place[1]) ?? 0 : 0, message: String(message))
        }
    }

    /// Whether a message or a fix-it of the diagnostics is, or contains, the text.
    func serializes(_ text: String) -> Bool { serialized.range(of: Data(text.utf8)) != nil }
}
