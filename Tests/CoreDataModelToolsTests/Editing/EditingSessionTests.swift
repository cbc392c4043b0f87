import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel
@testable import CoreDataModelTools

/// Files, versions and undo of a model that is edited.
@Suite struct EditingSessionTests {
    static func newSession() throws -> EditingSession {
        let url = try Fixtures.temporaryFolder().appendingPathComponent("Library.xcdatamodeld")
        var session = try EditingSession(newModelAt: url)
        try session.perform(.edit(version: "Library", [.addEntity("Book")]))
        let outcome = try session.save()
        #expect(outcome == .saved([".xccurrentversion", "Library.xcdatamodel/contents"]))
        return session
    }

    static func text(_ session: EditingSession, _ path: String) throws -> String {
        try String(contentsOf: session.url.appendingPathComponent(path), encoding: .utf8)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"), arguments: Fixtures.models)
    func publicModelsOpenWithoutAChange(path: String) throws {
        var session = try EditingSession(Fixtures.url(path))
        #expect(session.unsavedFiles == [])
        let outcome = try session.save()
        #expect(outcome == .saved([]))
        let versions = try ModelReader.read(contentsOf: Fixtures.url(path))
        #expect(session.bundle.versions.map(\.name) == versions.versions.map(\.name))
        #expect(session.bundle.currentName == versions.currentName)
        #expect(session.bundle.isEditable == session.bundle.versions.contains { $0.files["contents"] != nil })
    }

    @Test func everyCommandCanBeUndoneAndRedone() throws {
        var session = try Self.newSession()
        let commands: [ModelCommand] = [
            .edit(version: "Library", [.addProperty(.attribute, name: "title", entity: "Book")]),
            .edit(version: "Library", [.rename(.entity("Book"), to: "Volume", keepsIdentity: true)]),
            .addVersion("Library 2", copyOf: "Library"),
            .edit(version: "Library 2", [.delete(.property(entity: "Volume", name: "title"))]),
            .setCurrentVersion("Library"),
        ]
        var states = [session.bundle.files]
        for command in commands {
            let isApplied = try session.perform(command)
            #expect(isApplied)
            states.append(session.bundle.files)
        }
        #expect(session.undoTitle == "Make 'Library' the current version")
        for state in states.dropLast().reversed() {
            let isUndone = session.undo()
            #expect(isUndone)
            #expect(session.bundle.files == state)
        }
        #expect(session.bundle["Library"]?.document.entities.map(\.name) == ["Book"])
        for state in states.dropFirst() {
            let isRedone = session.redo()
            #expect(isRedone)
            #expect(session.bundle.files == state)
        }
        let isRedoneAgain = session.redo()
        #expect(!isRedoneAgain)
        #expect(session.revision == 2 + commands.count + 2 * (commands.count))
    }

    @Test func aCommandIsAppliedCompletelyOrNotAtAll() throws {
        var session = try Self.newSession()
        let before = session.bundle.files
        #expect(throws: ModelFailure.self) {
            try session.perform(.edit(version: "Library", [.addEntity("Author"), .addEntity("Book")]))
        }
        #expect(session.bundle.files == before)
        #expect(session.undoTitle == "Add entity 'Book'")
    }

    @Test func aCommandForAFormerRevisionIsNotApplied() throws {
        var session = try Self.newSession()
        let shown = session.revision
        let isApplied = try session.perform(.edit(version: "Library", [.addEntity("Author")]), revision: shown)
        #expect(isApplied)
        let isLateApplied = try session.perform(.edit(version: "Library", [.delete(.entity("Book"))]), revision: shown)
        #expect(!isLateApplied)
        #expect(session.bundle["Library"]?.document.entities.map(\.name) == ["Author", "Book"])
    }

    @Test func aCommandWithoutEffectIsNoStep() throws {
        var session = try Self.newSession()
        let revision = session.revision
        let isApplied = try session.perform(.edit(version: "Library", [.set(.entity("Book"), .isAbstract, "NO")]))
        #expect(isApplied)
        #expect(session.revision == revision)
    }

    // MARK: Versions

    @Test func aVersionIsAddedAndUndoneOnDisk() throws {
        var session = try Self.newSession()
        let name = session.bundle.nextVersionName
        try session.perform(.addVersion(name, copyOf: "Library"))
        let added = try session.save()
        #expect(added == .saved([".xccurrentversion", "Library 2.xcdatamodel/contents"]))
        #expect(try ModelReader.read(contentsOf: session.url).currentName == "Library 2")
        #expect(
            try Self.text(session, "Library 2.xcdatamodel/contents")
                == Self.text(session, "Library.xcdatamodel/contents"))
        session.undo()
        let removed = try session.save()
        #expect(removed == .saved([".xccurrentversion", "Library 2.xcdatamodel/contents"]))
        let read = try ModelReader.read(contentsOf: session.url)
        #expect(read.versions.map(\.name) == ["Library"] && read.namesCurrentVersion)
        let names = try FileManager.default.contentsOfDirectory(atPath: session.url.path)
        #expect(names.sorted() == [".xccurrentversion", "Library.xcdatamodel"])
    }

    static let badNames = ["", ".hidden", "a/b", "../../etc", "a:b", "a\nb", "LIBRARY", "a\u{0}b"]

    @Test(arguments: badNames) func badVersionNamesAreRefused(name: String) throws {
        var session = try Self.newSession()
        #expect(throws: ModelFailure.self) { try session.perform(.addVersion(name, copyOf: "Library")) }
    }

    @Test func theMarkerOfTheCurrentVersionKeepsItsOtherText() throws {
        var session = try Self.newSession()
        try session.perform(.addVersion("Library 2", copyOf: "Library"))
        _ = try session.save()
        let marker = try Self.text(session, ".xccurrentversion")
        let edited = marker.replacing("<dict>", with: "<dict><!-- ours -->")
        try Data(edited.utf8).write(to: session.url.appendingPathComponent(".xccurrentversion"))
        var second = try EditingSession(session.url)
        try second.perform(.setCurrentVersion("Library"))
        _ = try second.save()
        #expect(
            try Self.text(second, ".xccurrentversion")
                == edited.replacing("Library 2.xcdatamodel", with: "Library.xcdatamodel"))
    }

    // MARK: Other programs

    @Test func aFileThatChangedOnDiskIsNotOverwritten() throws {
        var session = try Self.newSession()
        let path = "Library.xcdatamodel/contents"
        let theirs = try Self.text(session, path).replacing("Book", with: "Volume")
        try Data(theirs.utf8).write(to: session.url.appendingPathComponent(path))
        try session.perform(.edit(version: "Library", [.addEntity("Author")]))
        let mine = session.bundle.files[path]
        let refused = try session.save()
        #expect(refused == .conflict([FileConflict(path: path, mine: mine, theirs: Data(theirs.utf8))]))
        #expect(try Self.text(session, path) == theirs)

        var taking = session
        try taking.reload()
        #expect(taking.bundle["Library"]?.document.entities.map(\.name) == ["Volume"])
        let taken = try taking.save()
        #expect(taken == .saved([]))
        taking.undo()
        #expect(taking.bundle.files[path] == mine)

        try session.acceptReplacing()
        let replaced = try session.save()
        #expect(replaced == .saved([path]))
        #expect(try Data(contentsOf: session.url.appendingPathComponent(path)) == mine)
    }

    @Test func aVersionThatAnotherProgramAddedIsKept() throws {
        var session = try Self.newSession()
        var other = try EditingSession(session.url)
        try other.perform(.addVersion("Library 2", copyOf: "Library"))
        _ = try other.save()
        try session.perform(.edit(version: "Library", [.addEntity("Author")]))
        guard case .conflict(let conflicts) = try session.save() else {
            Issue.record("the change was not noticed")
            return
        }
        #expect(conflicts.map(\.path) == [".xccurrentversion", "Library 2.xcdatamodel/contents"])
        try session.acceptReplacing()
        _ = try session.save()
        let read = try ModelReader.read(contentsOf: session.url)
        #expect(read.versions.map(\.name) == ["Library", "Library 2"])
        #expect(read["Library"]?.entities.map(\.name) == ["Author", "Book"])
    }

    @Test func aFolderThatCannotBeWrittenIsAnError() throws {
        var session = try Self.newSession()
        let folder = session.url.appendingPathComponent("Library 2.xcdatamodel")
        try Data().write(to: folder)
        try session.perform(.addVersion("Library 2", copyOf: "Library"))
        #expect(throws: ModelFailure.self) { try session.save() }
        #expect(session.unsavedFiles.contains("Library 2.xcdatamodel/contents"))
        #expect(try ModelReader.read(contentsOf: session.url).currentName == "Library")
    }

    @Test func modelsWithoutSourceAreShownOnly() throws {
        let document = try EditingSessionTests.newSession().bundle.versions[0].document
        let versions = ModelVersions(name: "M", versions: [.init(name: "M", document: document)], currentName: "M")
        var session = EditingSession(showing: versions, at: URL(fileURLWithPath: "/M.momd"), reason: "it is compiled")
        #expect(!session.bundle.isEditable)
        let failure = #expect(throws: ModelFailure.self) {
            try session.perform(.edit(version: "M", [.addEntity("A")]))
        }
        #expect(failure?.diagnostics.first?.hint == "it is compiled")
        let outcome = try session.save()
        #expect(outcome == .saved([]))
    }

    @Test func newModelsReplaceNothing() throws {
        let session = try Self.newSession()
        #expect(throws: ModelFailure.self) { try EditingSession(newModelAt: session.url) }
    }
}
