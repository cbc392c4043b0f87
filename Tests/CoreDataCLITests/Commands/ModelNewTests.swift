import CoreDataModel
import Foundation
import Testing

@testable import CoreDataCLI

/// `coredata model new` and `coredata model add-version`.
@Suite struct ModelNewTests {
    private let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func coredata(_ arguments: String...) throws -> CommandRun {
        try CommandRun.run(CommandRun.executable(), ["model"] + arguments)
    }

    @Test func aNewModelIsAsXcodeMakesIt() throws {
        let path = scratch.path("Shop.xcdatamodeld")
        let made = try coredata("new", scratch.path("Shop"))
        #expect(made.status == 0 && made.output == "Made \(path) with the version 'Shop'\n", "\(made.error)")
        let contents = try scratch.read("Shop.xcdatamodeld/Shop.xcdatamodel/contents")
        #expect(contents.hasPrefix(#"<?xml version="1.0" encoding="UTF-8" standalone="yes"?>"# + "\n<model "))
        #expect(contents.contains(#"userDefinedModelVersionIdentifier="""#))
        let marker = try scratch.read("Shop.xcdatamodeld/.xccurrentversion")
        #expect(marker.contains("<key>_XCCurrentVersionName</key>\n\t<string>Shop.xcdatamodel</string>"))
        let versions = try ModelReader.read(contentsOf: URL(fileURLWithPath: path))
        #expect(versions.currentName == "Shop" && versions.current?.diagnostics.isEmpty == true)
        let again = try coredata("new", path)
        #expect(again.status == 2 && again.error.contains("There is something at \(path) already; model new replaces"))
    }

    @Test func aVersionIsACopyOfTheCurrentOneAndBecomesIt() throws {
        let path = try LibrarySource.write(to: scratch)
        let second = try scratch.read("Library.xcdatamodeld/Library 2.xcdatamodel/contents")
        let first = try scratch.read("Library.xcdatamodeld/Library.xcdatamodel/contents")
        let added = try coredata("add-version", path)
        #expect(
            added.output == "Added 'Library 3' to \(path), a copy of 'Library 2'; it is the current version now\n",
            "\(added.error)")
        #expect(try scratch.read("Library.xcdatamodeld/Library 3.xcdatamodel/contents") == second)
        let named = try coredata("add-version", path, "--name", "Old", "--from", "Library", "--json")
        #expect(named.output.contains(#""copyOf" : "Library""#), "\(named.error)")
        #expect(try scratch.read("Library.xcdatamodeld/Old.xcdatamodel/contents") == first)
        let versions = try ModelReader.read(contentsOf: URL(fileURLWithPath: path))
        #expect(versions.versions.map(\.name) == ["Library", "Library 2", "Library 3", "Old"])
        #expect(versions.currentName == "Old" && versions.namesCurrentVersion && versions.diagnostics.isEmpty)
        // Nothing else is left in the folder.
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).count == 5)
        for (arguments, message) in [
            (["--from", "Libary"], "has no version 'Libary'; did you mean 'Library'?"),
            (["--name", "library 2"], "has a version 'library 2' already"),
            (["--name", "a/b"], "'a/b' is no name of a version"),
        ] {
            let run = try CommandRun.run(CommandRun.executable(), ["model", "add-version", path] + arguments)
            #expect(run.status == 2 && run.error.contains(message), "\(run.error)")
        }
    }

    @Test(arguments: [
        (["Shop"], "Shop 2"), (["Shop", "Shop 2", "Shop 10"], "Shop 11"), (["Shop", "Other 7", "Shop two"], "Shop 2"),
        (["First"], "Shop 2"),
    ])
    func theNextVersionHasTheNextNumber(names: [String], next: String) {
        #expect(ModelVersionName.next(after: names, of: "Shop") == next)
    }
}
