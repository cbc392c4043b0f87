import Foundation
import TestSupport
import Testing

@testable import CoreDataCodeGeneration

@Suite struct GeneratedFileWritingTests {
    private func modified(_ url: URL) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date
    }

    @Test func onlyGeneratedFilesAreWrittenAgain() throws {
        let folder = try Fixtures.temporaryFolder().appendingPathComponent("new/folder")
        let url = folder.appendingPathComponent("A.swift")
        var file = GeneratedFile(name: "A.swift", text: ClassGeneration.mark + "\n1\n")
        #expect(try file.write(into: folder) == .written)
        let first = try modified(url)
        #expect(try file.write(into: folder) == .unchanged)
        #expect(try modified(url) == first)
        file.text = ClassGeneration.mark + "\n2\n"
        #expect(try file.write(into: folder) == .written)
        #expect(try String(contentsOf: url, encoding: .utf8) == file.text)

        try Data("// mine\n".utf8).write(to: url)
        #expect(try file.write(into: folder) == .kept)
        #expect(try String(contentsOf: url, encoding: .utf8) == "// mine\n")
    }

    @Test func filesForHumansAreWrittenOnce() throws {
        let folder = try Fixtures.temporaryFolder()
        var file = GeneratedFile(name: "A.swift", text: "class A {}\n", isWrittenOnce: true)
        #expect(try file.write(into: folder) == .written)
        file.text = "class A { }\n"
        #expect(try file.write(into: folder) == .kept)
    }

    @Test func optionsAreRead() throws {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("CoreDataModelPlugin.json")
        func options(_ text: String) throws -> GenerationOptions {
            try Data(text.utf8).write(to: url)
            return try GenerationOptions(contentsOf: url)
        }
        #expect(try options(#"{"accessLevel": "internal"}"#).accessLevel == .internal)
        #expect(try options("{}").accessLevel == .public)
        for wrong in [#"{"accessLevel": "secret"}"#, #"{"access": "internal"}"#, "[]", ""] {
            #expect(throws: (any Error).self) { try options(wrong) }
        }
    }
}
