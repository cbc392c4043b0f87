import Foundation
import TestSupport
import Testing

@testable import CoreDataStore

/// S2, U4: files of a store that is in use while it is copied.
@Suite struct ExternalDataCopyTests {
    private let source: ExternalData
    private let target: ExternalData

    init() throws {
        let folder = try Fixtures.temporaryFolder()
        source = ExternalData(storePath: folder.appendingPathComponent("Shop.sqlite").path)
        target = ExternalData(storePath: folder.appendingPathComponent("Copy.sqlite").path)
    }

    @discardableResult
    private func add(_ text: String, to data: ExternalData) throws -> String {
        let (name, folder) = (UUID().uuidString, try #require(data.folder))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
        return name
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: try #require(target.path(of: name)), encoding: .utf8)
    }

    @Test("S2: a file that a save makes and another gives up while the store is copied is in the copy")
    func madeAndGivenUp() throws {
        try add("first", to: source)
        var copy = ExternalDataCopy(from: source, to: target)
        try copy.run()
        // The source's state is held from here on.
        let name = try add("second", to: source)
        FormerFiles.remove([try #require(source.path(of: name))], of: source)
        #expect(FileSize.of(source.path(of: name)) == nil)
        try copy.runHoldingSource()
        #expect(try text(name) == "second")
        #expect(copy.names.count == 2)
    }

    @Test("S2: where the first file came while the store is copied, all begins anew")
    func firstFile() throws {
        var copy = ExternalDataCopy(from: source, to: target)
        try copy.run()
        let name = try add("first", to: source)
        #expect(throws: ExternalDataCopy.SourceChanged.self) { try copy.runHoldingSource() }
        FormerFiles.remove([try #require(source.path(of: name))], of: source)
        try copy.runHoldingSource()
        #expect(try text(name) == "first")
    }

    @Test("S2: what was given up before is not copied, and what was copied goes where the copy fails")
    func undone() throws {
        let former = try add("former", to: source)
        let reader = FormerFiles(keepingFilesOf: source)
        FormerFiles.remove([try #require(source.path(of: former))], of: source)
        let known = try add("known", to: source)
        var copy = ExternalDataCopy(from: source, to: target)
        try copy.run()
        try copy.runHoldingSource()
        #expect(copy.names == [known])
        withExtendedLifetime(reader) {}
        copy.undo()
        #expect(FileSize.of(target.path(of: known)) == nil)
    }

    @Test("S2: half a file that a process left goes, one that somebody is at work on stays")
    func leavings() throws {
        let known = try add("known", to: source)
        try add("other", to: target)
        let folder = try #require(target.folder)
        let (left, used) = ("\(folder)/.copying-\(UUID().uuidString)", "\(folder)/.copying-\(UUID().uuidString)")
        for path in [left, used] { try Data("half".utf8).write(to: URL(fileURLWithPath: path)) }
        let file = open(used, O_RDWR)
        defer { close(file) }
        try #require(flock(file, LOCK_EX | LOCK_NB) == 0)
        var copy = ExternalDataCopy(from: source, to: target)
        try copy.run()
        #expect(FileSize.of(left) == nil)
        #expect(FileSize.of(used) == 4)
        #expect(try text(known) == "known")
    }
}
