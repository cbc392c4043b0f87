import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

@Suite struct ModelCompilationTests {
    private static let first = """
        <model>
            <entity name="Book" representedClassName=".Book"><attribute name="title" attributeType="String"/></entity>
            <entity name="Novel" representedClassName="Novel" codeGenerationType="class" parentEntity="Book"/>
            <entity name="Loan" representedClassName="Loan"/>
            <entity name="Shelf" representedClassName="Other.Shelf" codeGenerationType="category"/>
            <entity name="Copy" representedClassName="Other.Copy" codeGenerationType="class"/>
            <entity name="Note" representedClassName="NSManagedObject"/>
        </model>
        """

    private func library(_ contents: [String: String], current: String?) throws -> URL {
        let folder = try Fixtures.temporaryFolder().appendingPathComponent("Library.xcdatamodeld")
        for (version, text) in contents {
            let place = folder.appendingPathComponent("\(version).xcdatamodel")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: place.appendingPathComponent("contents"))
        }
        if let current {
            let plist =
                "<plist version=\"1.0\"><dict><key>_XCCurrentVersionName</key><string>\(current).xcdatamodel</string></dict></plist>"
            try Data(plist.utf8).write(to: folder.appendingPathComponent(".xccurrentversion"))
        }
        return folder
    }

    @Test func versionsBecomeFilesOfOneFolder() throws {
        let source = try library(["Library": Self.first, "Library 2": "<model/>"], current: "Library 2")
        let compilation = try ModelCompilation(of: source, module: "Shop")
        #expect(compilation.fileName == "Library.momd")
        #expect(compilation.files.keys.sorted() == ["Library 2.mom", "Library.mom", "VersionInfo.plist"])

        let url = source.deletingLastPathComponent().appendingPathComponent("out/Library.momd")
        #expect(try compilation.write(to: url))
        #expect(try !compilation.write(to: url), "an unchanged model is not written again")
        let read = try ModelReader.read(contentsOf: url)
        #expect(read.currentName == "Library 2")
        let hashes = try ModelCompiler.compile(try #require(read["Library"])).entities.map(\.versionHash)
        #expect(hashes == (try ModelCompiler.compile(compilation.versions["Library"]!).entities.map(\.versionHash)))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path) == [
                "Library.momd"
            ])
    }

    @Test func aNewCompilationReplacesTheOldOne() throws {
        let source = try library(["Library": Self.first, "Library 2": "<model/>"], current: nil)
        let url = source.deletingLastPathComponent().appendingPathComponent("Library.momd")
        try ModelCompilation(of: source).write(to: url)
        try FileManager.default.removeItem(at: source.appendingPathComponent("Library 2.xcdatamodel"))
        #expect(try ModelCompilation(of: source).write(to: url))
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
        #expect(names == ["Library.mom", "VersionInfo.plist"])
    }

    @Test func classesAreNamedWithTheirModule() throws {
        let source = try library(["Library": Self.first], current: nil)
        func classes(module: String?) throws -> [String: String?] {
            let document = try #require(try ModelCompilation(of: source, module: module).versions.current)
            return Dictionary(uniqueKeysWithValues: document.entities.map { ($0.name, $0.className) })
        }
        #expect(
            try classes(module: "Shop") == [
                "Book": "Shop.Book", "Novel": "Shop.Novel", "Loan": "Loan", "Shelf": "Other.Shelf",
                "Copy": "Shop.Copy", "Note": "NSManagedObject",
            ])
        #expect(
            try classes(module: nil) == [
                "Book": "Book", "Novel": "Novel", "Loan": "Loan", "Shelf": "Other.Shelf", "Copy": "Other.Copy",
                "Note": "NSManagedObject",
            ])
    }

    @Test func errorsOfAllVersionsAreTold() throws {
        let broken = "<model>\n<entity name=\"A\" parentEntity=\"Nobody\"/>\n</model>"
        let source = try library(["Library": broken, "Library 2": broken], current: nil)
        do {
            _ = try ModelCompilation(of: source)
            Issue.record("a broken model compiled")
        } catch {
            #expect(error.diagnostics.compactMap(\.location?.line) == [2, 2])
            #expect(Set(error.diagnostics.compactMap(\.location?.file)).count == 2)
        }
    }

    @Test func aModelWithoutVersionsIsOneFile() throws {
        let source = try library(["Library": Self.first], current: nil)
            .appendingPathComponent("Library.xcdatamodel")
        let compilation = try ModelCompilation(of: source)
        let url = source.deletingLastPathComponent().appendingPathComponent(compilation.fileName)
        try compilation.write(to: url)
        #expect(url.lastPathComponent == "Library.mom")
        #expect(try ModelReader.read(contentsOf: url).current?.entities.count == 6)
    }

    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func versionInfoIsThatOfApplesCompiler() throws {
        let folder = Fixtures.url("sample-model")
        let compilation = try ModelCompilation(of: folder.appendingPathComponent("SampleModel.xcdatamodeld"))
        let ours = try PropertyListValue(propertyList: try #require(compilation.files["VersionInfo.plist"]))
        let apples = try PropertyListValue(
            propertyList: Data(contentsOf: folder.appendingPathComponent("SampleModel.momd/VersionInfo.plist")))
        for key in ["NSManagedObjectModel_VersionHashes", "NSManagedObjectModel_CurrentVersionName"] {
            let value: PropertyListValue = try #require(ours[key])
            #expect(value == apples[key])
        }
        if let checksums = apples["NSManagedObjectModel_VersionChecksums"] {
            #expect(ours["NSManagedObjectModel_VersionChecksums"] == checksums)
        }
    }
}
