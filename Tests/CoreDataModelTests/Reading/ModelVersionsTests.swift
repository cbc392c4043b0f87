import CoreDataPrimitives
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataModel

/// A model in a folder of its own, gone after the test.
private final class ModelFolder {
    let url: URL

    init(_ name: String = "Library.xcdatamodeld") throws {
        url = try Fixtures.temporaryFolder().appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    func add(_ version: String, _ contents: String? = "<model><entity name=\"Book\"/></model>") throws {
        let folder = url.appendingPathComponent(version + ".xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        guard let contents else { return }
        try Data(contents.utf8).write(to: folder.appendingPathComponent("contents"))
    }

    func mark(_ text: String) throws {
        try Data(text.utf8).write(to: url.appendingPathComponent(".xccurrentversion"))
    }

    func mark(current: String) throws {
        try mark("<plist><dict><key>_XCCurrentVersionName</key><string>\(current)</string></dict></plist>")
    }
}

/// The files that a reader asked for.
private final class FileLog: Sendable {
    private let paths = Mutex<[String]>([])

    var read: ModelReader.ReadFile {
        { url in
            self.paths.withLock { $0.append(url.pathComponents.suffix(2).joined(separator: "/")) }
            return try Data(contentsOf: url)
        }
    }

    /// What was read since the last call.
    func take() -> [String] { paths.withLock { paths in (paths, paths = []).0 } }
}

@Suite struct ModelVersionsTests {
    @Test func onlyTheVersionsThatAreAskedForAreRead() throws {
        let model = try ModelFolder()
        try model.add("Library")
        for number in 2...117 { try model.add("Library \(number)") }
        try model.mark(current: "Library 117.xcdatamodel")
        let log = FileLog()

        let versions = try ModelReader.read(contentsOf: model.url, with: log.read)
        #expect(versions.versions.map(\.name) == ["Library"] + (2...117).map { "Library \($0)" })
        #expect(versions.currentName == "Library 117")
        #expect(log.take() == ["Library.xcdatamodeld/.xccurrentversion"])
        #expect(versions.current?.entities.map(\.name) == ["Book"])
        #expect(versions.current?.name == "Library 117")
        #expect(log.take() == ["Library 117.xcdatamodel/contents"], "each once")
        _ = versions["Library 3"]
        #expect(log.take() == ["Library 3.xcdatamodel/contents"])

        let compiled = model.url.deletingLastPathComponent().appendingPathComponent("Library.momd")
        try ModelCompilation(of: versions, isFolder: true).write(to: compiled)
        #expect(log.take().count == 115)
        let again = try ModelReader.read(contentsOf: compiled, with: log.read)
        #expect(again.versions.count == 117)
        #expect(log.take() == ["Library.momd/VersionInfo.plist"])
        #expect(again.current?.entities.first?.knownVersionHash?.count == 32)
        #expect(log.take() == ["Library.momd/Library 117.mom"])
    }

    @Test func theOnlyVersionIsCurrent() throws {
        let model = try ModelFolder()
        try model.add("Other")
        #expect(try ModelReader.read(contentsOf: model.url).currentName == "Other")
        try model.mark("<plist><dict/></plist>")
        let versions = try ModelReader.read(contentsOf: model.url)
        #expect(versions.currentName == "Other" && !versions.namesCurrentVersion && versions.diagnostics == [])
    }

    private static func marker(_ name: String) -> String {
        "<plist><dict><key>_XCCurrentVersionName</key>\(name)</dict></plist>"
    }

    /// The file, and what is said of it.
    @Test(
        arguments: [
            (nil, nil), ("<plist><dict/></plist>", "names no current version"),
            (marker("<string></string>"), "names no current version"),
            (marker("<integer>2</integer>"), "names no current version"),
            (marker("<string>Library 9.xcdatamodel</string>"), "names 'Library 9' as current, which is not there"),
            ("nonsense", "is not a property list"), ("", "is not a property list"),
            ("<plist><dict>\n<<<<<<< HEAD\n", "is not a property list"),
        ] as [(String?, String?)])
    func aModelThatNamesNoCurrentVersionFallsBack(marker: String?, problem: String?) throws {
        let model = try ModelFolder()
        for name in ["Library 2", "Library 10"] { try model.add(name) }
        if let marker { try model.mark(marker) }
        var versions = try ModelReader.read(contentsOf: model.url)
        #expect(versions.currentName == "Library 2", "the first by name")
        #expect(!versions.namesCurrentVersion)
        let expected = problem.map { ["'\(model.url.path)/.xccurrentversion' \($0); 'Library 2' is taken"] }
        #expect(versions.diagnostics.map(\.message) == expected ?? [])
        #expect(versions.diagnostics.allSatisfy { $0.severity == .warning && $0.rule == "no-current-version" })

        try model.add("Library")
        versions = try ModelReader.read(contentsOf: model.url)
        #expect(versions.currentName == "Library")
    }

    @Test(arguments: ["Library", "Book 2", "Other"])
    func theFoldersNameDoesNotTellWhichVersionIsCurrent(name: String) throws {
        let model = try ModelFolder()
        for version in ["Book", "Book 2", "Book 10"] { try model.add(version) }
        let other = model.url.deletingLastPathComponent().appendingPathComponent("copies/\(name).xcdatamodeld")
        try FileManager.default.createDirectory(
            at: other.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: model.url, to: other)
        #expect(try ModelReader.read(contentsOf: other).currentName == "Book")
    }

    @Test(arguments: [nil, "", "<model", "<model><entity name=\"A\" parentEntity=\"Nobody\"/></model>"])
    func aBadVersionKeepsNobodyFromTheOthers(contents: String?) throws {
        let model = try ModelFolder()
        try model.add("Library", contents)
        try model.add("Library 2")
        try model.mark(current: "Library 2")
        let versions = try ModelReader.read(contentsOf: model.url)
        #expect(try ModelCompiler.compile(#require(versions.current)).entities.count == 1)
        let bad = try #require(versions["Library"])
        #expect(throws: ModelFailure.self) { try ModelCompiler.compile(bad) }

        let compilation = try ModelCompilation(of: model.url)
        #expect(compilation.files.keys.sorted() == ["Library 2.mom", "VersionInfo.plist"])
        #expect(compilation.versions.versions.map(\.name) == ["Library 2"])
        #expect(compilation.errors.count == 1)
        #expect(compilation.errors.allSatisfy { $0.rendered.contains("Library.xcdatamodel") })

        try model.mark(current: "Library")
        #expect(throws: ModelFailure.self) { try ModelCompilation(of: model.url) }
    }

    @Test func aCompiledModelWithoutItsCurrentVersionHasTheOthers() throws {
        let model = try ModelFolder()
        for name in ["Library", "Library 2"] { try model.add(name) }
        try model.mark(current: "Library 2")
        let compiled = model.url.deletingLastPathComponent().appendingPathComponent("Library.momd")
        try ModelCompilation(of: model.url).write(to: compiled)
        try FileManager.default.removeItem(at: compiled.appendingPathComponent("Library 2.mom"))
        let versions = try ModelReader.read(contentsOf: compiled)
        #expect(versions.currentName == "Library 2" && versions.current == nil)
        #expect(versions["Library"]?.entities.count == 1)
        #expect(throws: ModelFailure.self) { try ModelCompilation(of: compiled) }

        try Data("nonsense".utf8).write(to: compiled.appendingPathComponent("VersionInfo.plist"))
        #expect(try ModelReader.read(contentsOf: compiled).currentName == "Library")
    }
}
