import CoreDataPrimitives
import Foundation
import TestSupport
import Testing

@testable import CoreDataModel

@Suite struct ModelReaderTests {
    @Test func aMissingFileIsReported() {
        #expect(throws: ModelFailure(diagnostics: [Diagnostic(.error, "there is no file at '/nowhere/A.xcdatamodel'")]))
        {
            try ModelReader.read(contentsOf: URL(fileURLWithPath: "/nowhere/A.xcdatamodel"))
        }
    }

    @Test func versionsAreSortedAndTheCurrentOneIsMarked() throws {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let bundle = folder.appendingPathComponent("Library.xcdatamodeld")
        for name in ["Library 10", "Library", "Library 2"] {
            let version = bundle.appendingPathComponent(name + ".xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            let xml = "<model><entity name=\"Book\"/></model>"
            try Data(xml.utf8).write(to: version.appendingPathComponent("contents"))
        }
        #expect(try ModelReader.read(contentsOf: bundle).currentName == "Library")

        let marker = bundle.appendingPathComponent(".xccurrentversion")
        func mark(_ name: String) throws {
            let plist = ["_XCCurrentVersionName": name]
            try PropertyListSerialization.data(fromPropertyList: plist, format: .xml, options: 0).write(to: marker)
        }
        try mark("Library 2.xcdatamodel")
        let versions = try ModelReader.read(contentsOf: bundle)
        #expect(versions.name == "Library")
        #expect(versions.versions.map(\.name) == ["Library", "Library 2", "Library 10"])
        #expect(versions.currentName == "Library 2")
        #expect(versions.current?.name == "Library 2")
        #expect(versions["Library 10"]?.entities.map(\.name) == ["Book"])
    }
}

/// Every source model of the fixtures, in every version.
@Suite(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
struct FixtureModelTests {
    @Test(arguments: [
        ("bookmarks/BookmarksModel.xcdatamodeld", 6, "BookmarksModel 6", 1),
        ("browser-models/BrowsingHistory.xcdatamodeld", 1, "BrowsingHistory", 2),
        ("browser-models/PrivacyStats.xcdatamodeld", 1, "PrivacyStats", 1),
        ("browser-models/RemoteMessaging.xcdatamodeld", 1, "RemoteMessaging", 2),
        ("composite-models/CoreDataEvolutionIntegrationModel.xcdatamodeld", 1, "CoreDataEvolutionIntegrationModel", 2),
        ("composite-models/GeneratedFlowModel.xcdatamodeld", 1, "GeneratedFlowModel", 2),
        ("composite-models/TestModel.xcdatamodeld", 1, "TestModel", 1),
        ("grocery-dude/Model.xcdatamodeld", 8, "Model", 1),
        ("mogenerator-models/MogenSwiftTest.xcdatamodeld", 1, "MogenSwiftTest", 3),
        ("mogenerator-models/test.xcdatamodel", 1, "test", 9),
        ("sample-model/SampleModel.xcdatamodeld", 3, "SampleModel", 4),
        ("surf-journal/SurfJournalDatabase.xcdatamodeld", 1, "SurfJournalDatabase", 1),
        ("surf-journal/SurfJournalModel.xcdatamodeld", 1, "SurfJournalModel", 1),
        ("unclouded-notes/UnCloudNotesDataModel.xcdatamodeld", 4, "UnCloudNotesDataModel", 1),
    ])
    func everySourceModelReadsAndCompiles(path: String, versions: Int, current: String, entities: Int) throws {
        let model = try ModelReader.read(contentsOf: Fixtures.url(path))
        #expect(model.versions.count == versions)
        #expect(model.currentName == current)
        for version in model.versions {
            #expect(ModelCompiler.diagnose(version.document).filter { $0.severity == .error } == [])
            let compiled = try ModelCompiler.compile(version.document)
            if version.name == current { #expect(compiled.entities.count == entities) }
        }
    }
}
