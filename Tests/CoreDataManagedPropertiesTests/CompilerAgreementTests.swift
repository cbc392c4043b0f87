import CoreDataManagedProperties
import Foundation
import Testing

/// The symbols that the companion defines are those that the compiler leaves undefined, for some thousand declarations
/// and whatever the optimisation.
@Suite struct CompilerAgreementTests {
    private static let flags: [[String]] = [
        ["-Onone"], ["-O"], ["-O", "-wmo"], ["-O", "-wmo", "-enable-cmo-everything"],
        ["-O", "-wmo", "-cross-module-optimization"],
    ]

    @Test(.enabled(if: Toolchain.isThere, "needs swiftc and nm in PATH"), .timeLimit(.minutes(5)))
    func companionDefinesWhatTheCompilerWants() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let objects = folder.appendingPathComponent("objects")
        try FileManager.default.createDirectory(at: objects, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let dependency = folder.appendingPathComponent("Shapes.swift")
        try Data(DeclarationZoo.dependency.utf8).write(to: dependency)
        try Toolchain.run(
            "swiftc",
            [
                "-emit-module", "-parse-as-library", "-module-name", DeclarationZoo.dependencyName, dependency.path,
                "-emit-module-path", folder.appendingPathComponent("\(DeclarationZoo.dependencyName).swiftmodule").path,
            ], in: folder)
        var sources: [ModuleSources.File] = []
        for file in DeclarationZoo.files {
            let url = folder.appendingPathComponent(file.name)
            try Data(file.text.utf8).write(to: url)
            sources.append(.init(path: url.path, text: file.text))
        }
        let companion = Companion(
            target: ModuleSources(name: DeclarationZoo.moduleName, files: sources),
            dependencies: [
                ModuleSources(
                    name: DeclarationZoo.dependencyName,
                    files: [.init(path: dependency.path, text: DeclarationZoo.dependency)])
            ])
        #expect(companion.diagnostics.map(\.rendered) == [])
        #expect(companion.symbols.count > 1000)

        for flags in Self.flags {
            try Toolchain.run(
                "swiftc",
                ["-swift-version", "5", "-emit-object", "-parse-as-library", "-module-name", DeclarationZoo.moduleName]
                    + ["-I", folder.path] + flags + sources.map(\.path), in: objects)
            let wanted = try Toolchain.undefinedSymbols(in: objects).filter { symbol in
                symbol.contains("9DataModel") && ["vg", "vs", "vM", "F"].contains { symbol.hasSuffix($0) }
            }
            #expect(Set(companion.symbols).subtracting(wanted).sorted() == [], "\(flags): not wanted")
            #expect(wanted.subtracting(companion.symbols).sorted() == [], "\(flags): not defined")
        }
    }
}

/// The compiler beside which the tests run.
private enum Toolchain {
    static let isThere = (try? run("swiftc", ["--version"])) != nil && (try? run("nm", ["--version"])) != nil

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    @discardableResult
    static func run(_ tool: String, _ arguments: [String], in folder: URL? = nil) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [tool] + arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        let text = String(decoding: data, as: UTF8.self)
        guard process.terminationStatus == 0 else { throw Failure(description: "\(tool): \(text)") }
        return text
    }

    /// What the object files need and none of them has; the files are removed.
    static func undefinedSymbols(in folder: URL) throws -> Set<String> {
        var undefined: Set<String> = []
        var defined: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil) {
            for line in try run("nm", [file.path]).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count >= 2, let name = words.last else { continue }
                if words[words.count - 2] == "U" {
                    undefined.insert(String(name))
                } else {
                    defined.insert(String(name))
                }
            }
            try FileManager.default.removeItem(at: file)
        }
        return undefined.subtracting(defined)
    }
}
