import Foundation
import Testing

/// What the README shows is what `Examples/Apps` builds and tests, so that it cannot rot.
@Suite struct ReadmeTests {
    private struct Block {
        var language: String
        var text: String
    }

    private static func text(of path: String) throws -> String {
        try String(contentsOf: Repository.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The fenced blocks of the README.
    private static func blocks() throws -> [Block] {
        var blocks: [Block] = []
        var open: Block?
        for line in try text(of: "README.md").split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let block = open { blocks.append(block) }
                open = open == nil ? Block(language: String(line.dropFirst(3)), text: "") : nil
            } else {
                open?.text += line + "\n"
            }
        }
        return blocks
    }

    private static func swift() throws -> [String] { try blocks().filter { $0.language == "swift" }.map(\.text) }

    private static func manifest() throws -> String {
        try #require(try swift().first { $0.hasPrefix("// swift-tools-version") })
    }

    @Test func exampleIsTheProgramThatIsBuiltAndRun() throws {
        let program = try Self.text(of: "Examples/Apps/Sources/Groceries/main.swift")
        #expect(try Self.swift().contains(program))
    }

    @Test func modelsInSwiftDataAreThoseThatAreBuiltAndTested() throws {
        let models = try Self.text(of: "Examples/Apps/Sources/GroceriesInSwiftData/GroceryList.swift")
        #expect(try Self.swift().filter { $0.hasPrefix(Self.swiftData) } == [models])
    }

    /// How a block with models in SwiftData begins.
    private static let swiftData = "import Foundation\nimport SwiftData\n"

    @Test func modelIsTheExamples() throws {
        let model = try Self.text(
            of: "Examples/Apps/Sources/Groceries/Groceries.xcdatamodeld/Groceries.xcdatamodel/contents")
        #expect(try Self.blocks().contains { $0.language == "xml" && $0.text == model })
    }

    @Test func targetIsTheExamples() throws {
        let manifest = try Self.manifest()
        let start = try #require(manifest.range(of: "        .executableTarget("))
        let end = try #require(manifest.range(of: "\n    ]", range: start.upperBound..<manifest.endIndex))
        let target = manifest[start.lowerBound..<end.lowerBound]
        #expect(try Self.text(of: "Examples/Apps/Package.swift").contains(target))
    }

    @Test func modelInSwiftIsTested() throws {
        let start = "try NSManagedObjectModel {"
        let spans = try Self.text(of: "README.md").split(separator: "`").filter { $0.hasPrefix(start) }
        let tests = try Self.text(of: "Examples/Apps/Tests/GroceriesTests/GroceriesTests.swift")
        #expect(!spans.isEmpty && spans.allSatisfy { tests.contains($0) })
    }

    /// The manifest as it stands, and each target that is shown without one.
    @Test(.enabled(if: Toolchain.isThere, "needs swift in PATH"))
    func everyManifestIsOne() throws {
        let manifest = try Self.manifest()
        var manifests = [manifest]
        for target in try Self.swift().filter({ $0.hasPrefix(".target(") }) {
            let start = try #require(manifest.range(of: "        .executableTarget("))
            let end = try #require(manifest.range(of: "\n    ]", range: start.upperBound..<manifest.endIndex))
            manifests.append(manifest.replacingCharacters(in: start.lowerBound..<end.lowerBound, with: target))
        }
        #expect(manifests.count == 2)
        for manifest in manifests {
            let package = try Toolchain.package(describedBy: manifest)
            #expect(package.contains("OpenCoreData"), "\(manifest)")
        }
    }

    /// What else is Swift would be checked by none of these.
    @Test func everySwiftBlockIsChecked() throws {
        #expect(
            try Self.swift().allSatisfy { text in
                ["import CoreData\n", Self.swiftData, "// swift-tools-version", ".target("].contains {
                    text.hasPrefix($0)
                }
            })
    }
}

/// The package manager beside which the tests run.
private enum Toolchain {
    static let isThere = (try? run(["--version"], in: FileManager.default.temporaryDirectory)) != nil

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The package as JSON: the manifest was compiled and run, nothing else.
    static func package(describedBy manifest: String) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(manifest.utf8).write(to: folder.appendingPathComponent("Package.swift"))
        return try run(["package", "dump-package"], in: folder)
    }

    private static func run(_ arguments: [String], in folder: URL) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["swift"] + arguments
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: text) }
        return text
    }
}
