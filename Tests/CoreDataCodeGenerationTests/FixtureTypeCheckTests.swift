import CoreDataModel
import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataCodeGeneration

/// Whether what is generated of real models compiles, without a warning.
@Suite(
    .enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)),
    .enabled(if: TypeChecker.isAvailable, "no swiftc, or module CoreData has not been built"))
struct FixtureTypeCheckTests {
    /// Every model of the fixtures, current versions only: the others differ in little.
    private static let models: [String] = {
        guard let folder = Fixtures.folder, let files = FileManager.default.enumerator(atPath: folder.path) else {
            return []
        }
        let paths = files.compactMap { $0 as? String }
        return paths.filter { path in
            path.hasSuffix(".xcdatamodeld") || (path.hasSuffix(".xcdatamodel") && !path.contains(".xcdatamodeld/"))
        }.sorted()
    }()

    @Test(arguments: models)
    func generatedClassesCompile(model: String) throws {
        let document = try #require(try ModelReader.read(contentsOf: Fixtures.url(model)).current)
        let options = GenerationOptions(includesManual: true)
        let generation = try ClassGeneration(document, modelName: model, options: options)
        #expect(!generation.entityNames.isEmpty)
        let problems = try TypeChecker.problems(
            in: generation.files + [Self.authorsClasses(of: document, generated: generation.files)])
        #expect(problems == "")
    }

    @Test func classesForHumansCompile() throws {
        let document = try #require(try ModelReader.read(contentsOf: Fixtures.url(Self.models[0])).current)
        let options = GenerationOptions(.humanMachine, access: .internal)
        let generation = try ClassGeneration(document, modelName: "Model", options: options)
        #expect(try TypeChecker.problems(in: generation.files) == "")
    }

    /// What the application that the model is from has beside the generated classes.
    private static func authorsClasses(of document: ModelDocument, generated: [GeneratedFile]) -> GeneratedFile {
        var names: Set<String> = []
        for entity in document.entities {
            if entity.codeGenerationType == "category", let name = SwiftNames.className(entity.className) {
                names.insert(name)
            }
            for case .attribute(let attribute) in entity.properties.map(\.kind) {
                guard let name = SwiftNames.customType(attribute.customClassName), !name.hasPrefix("NS") else {
                    continue
                }
                names.insert(name)
            }
        }
        let classes = names.sorted().map { "public class \($0): NSManagedObject {}" }
        return GeneratedFile(name: "Authors.swift", text: (["import CoreData"] + classes).joined(separator: "\n"))
    }
}

/// Checks Swift against the module CoreData that was built with this test.
enum TypeChecker {
    private static let products = URL(fileURLWithPath: CommandLine.arguments.first ?? "").deletingLastPathComponent()
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Sources")

    private static let compiler: URL? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return path.split(separator: ":").map { URL(fileURLWithPath: String($0)).appendingPathComponent("swiftc") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    static var isAvailable: Bool {
        let module = products.appendingPathComponent("Modules/CoreData.swiftmodule")
        return compiler != nil && FileManager.default.fileExists(atPath: module.path)
    }

    /// What the compiler has to say about the files.
    static func problems(in files: [GeneratedFile]) throws -> String {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        for file in files { _ = try file.write(into: folder) }
        let log = folder.appendingPathComponent("log")
        try Data().write(to: log)
        let maps =
            [products.appendingPathComponent("CObjectRuntime.build")]
            + ["CSQLite", "CZlib", "CCrypto", "CExpat"].map { sources.appendingPathComponent($0) }
        let process = Process()
        process.executableURL = compiler
        process.arguments =
            ["-typecheck", "-swift-version", "6", "-warnings-as-errors", "-module-name", "Application"]
            + ["-I", products.appendingPathComponent("Modules").path]
            + maps.flatMap { ["-Xcc", "-fmodule-map-file=" + $0.appendingPathComponent("module.modulemap").path] }
            + files.map { folder.appendingPathComponent($0.name).path }
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
        process.waitUntilExit()
        return try String(contentsOf: log, encoding: .utf8)
    }
}
