import Foundation
import TestSupport
import Testing

/// Which model a store is read with.
@Suite struct ModelChoiceTests {
    private static func version(_ attributes: String...) -> String {
        let lines = attributes.map { "<attribute name=\"\($0)\" optional=\"YES\" attributeType=\"String\"/>" }
        return "<entity name=\"Book\">\(lines.joined())</entity>"
    }

    private func model(in scratch: Scratch, _ versions: [(name: String, entities: String)]) throws -> String {
        for version in versions {
            let folder = scratch.folder.appendingPathComponent("Library.xcdatamodeld/\(version.name).xcdatamodel")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(version.entities)</model>
            """.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        return scratch.path("Library.xcdatamodeld")
    }

    private func store(_ scratch: Scratch, model: String, version: String) throws -> String {
        let path = scratch.path("\(version).sqlite")
        let run = try CommandRun.coredata("store", "create", path, "--model", model, "--model-version", version)
        try #require(run.status == 0, "\(run.error)")
        return path
    }

    @Test func theVersionThatFitsTheStoreIsTakenAndNamed() throws {
        let scratch = try Scratch()
        let model = try model(
            in: scratch,
            [
                ("Library", Self.version("title")), ("Library 2", Self.version("title", "isbn")),
                ("Library 3", Self.version("title", "isbn", "year")),
            ])
        for version in ["Library", "Library 2", "Library 3"] {
            let store = try store(scratch, model: model, version: version)
            for command in ["query", "export"] {
                let run = try CommandRun.run(
                    CommandRun.executable(),
                    [command, store] + (command == "query" ? ["Book"] : []) + ["--model", model])
                #expect(run.status == 0)
                #expect(run.error == "note: version '\(version)' of \(model) fits the store\n")
            }
            #expect(try CommandRun.coredata("store", "verify", store, "--model", model).status == 0)
        }
        let wrong = try CommandRun.coredata(
            "query", scratch.path("Library.sqlite"), "Book", "--model", model, "--model-version", "Library 2")
        #expect(wrong.status == 2 && wrong.error.contains("was made with another version of the model"))
        #expect(wrong.error.hasSuffix("leave --model out to use it.\n"))
    }

    @Test func theNearestVersionIsNamedWhereNoneFits() throws {
        let scratch = try Scratch()
        let other = try Scratch()
        let store = try other.makeStore(entities: Self.version("title", "pages") + "<entity name=\"Shelf\"/>")
        let model = try model(
            in: scratch,
            [
                ("Library", Self.version("title")), ("Library 2", Self.version("title") + "<entity name=\"Shelf\"/>"),
                ("Library 3", "<entity name=\"Broken\" parentEntity=\"None\"/>"),
            ])
        let run = try CommandRun.coredata("query", store, "Book", "--model", model)
        #expect(run.status == 2)
        #expect(run.error.contains("No version of \(model) has the version hashes of \(store)."))
        #expect(run.error.contains("Nearest is 'Library 2': changed: Book."))
    }

    @Test func aStoreOfAConfigurationOpensWithTheWholeModel() throws {
        let scratch = try Scratch()
        let entities =
            Self.version("title") + "<entity name=\"Note\"/><configuration name=\"Shop\"><memberEntity name=\"Book\"/>"
            + "</configuration>"
        let model = try model(in: scratch, [("Library", entities)])
        // A store of the entity alone has the hashes of that configuration.
        let alone = try Scratch()
        let store = try alone.makeStore(entities: Self.version("title"))
        #expect(try CommandRun.coredata("query", store, "Book", "--model", model, "--count").output == "0\n")
    }

    /// A model that is only wrong is not mended by another one.
    @Test func onlyAMissingModelAsksForOne() throws {
        let scratch = try Scratch()
        let text = try scratch.write("no store", to: "text.sqlite")
        for command in [["query", text, "Book"], ["export", text], ["store", "verify", text]] {
            let run = try CommandRun.run(CommandRun.executable(), command)
            #expect(run.status == 2)
            #expect(!run.error.contains("--model"), "\(run.error)")
        }
    }

    @Test(.enabled(if: getuid() == 0, "only the superuser can become another one"))
    func aFileThatMayNotBeReadSaysSo() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.version("title"))
        let folder = scratch.folder.appendingPathComponent("closed")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let hidden = folder.appendingPathComponent("hidden.sqlite").path
        try FileManager.default.copyItem(atPath: store, toPath: hidden)
        try FileManager.default.setAttributes([.posixPermissions: 0o000], ofItemAtPath: store)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.folder.path)
        for (path, message) in [
            (store, "No permission to read \(store)."), (hidden, "No permission to look into \(folder.path)"),
        ] {
            let command = "'\(try CommandRun.executable().path)' query '\(path)' Book"
            let run = try CommandRun.run(URL(fileURLWithPath: "/bin/su"), ["nobody", "-s", "/bin/sh", "-c", command])
            #expect(run.status == 2)
            #expect(run.error.contains(message), "\(run.error)")
            #expect(!run.error.contains("--model"))
        }
    }

    // MARK: Stores as models

    @Test(arguments: ["lint", "graph", "doc", "hash"])
    func modelCommandsTakeTheModelOfAStore(command: String) throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let run = try CommandRun.coredata("model", command, store)
        #expect(run.status == 0, "\(run.error)")
        if command == "hash" {
            let hashes = try CommandRun.coredata("model", "hash", CommandRun.exampleModel)
            #expect(run.lines.dropLast() == hashes.lines.dropLast())
            #expect(run.lines.last?.split(separator: " ").last == hashes.lines.last?.split(separator: " ").last)
        } else if command != "lint" {
            #expect(run.output.contains("LocationAtShop"))
        }
    }

    @Test func aStoresModelBecomesSourceAndANewStore() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let source = try CommandRun.coredata("model", "decompile", store, "-o", scratch.path("out"))
        #expect(source.status == 0, "\(source.error)")
        let again = scratch.path("out/store.xcdatamodeld")
        #expect(try CommandRun.coredata("model", "diff", store, again).status == 0)
        #expect(try CommandRun.coredata("model", "diff", again, store).status == 0)
        let empty = scratch.path("empty.sqlite")
        #expect(try CommandRun.coredata("store", "create", empty, "--model", store).status == 0)
        #expect(try CommandRun.coredata("model", "diff", store, empty).status == 0)
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func hashesOfAStoreWithoutModelAreThoseThatItRecords() throws {
        let store = Fixtures.url("recipes/Recipes.sqlite").path
        let model = Fixtures.url("recipes/Recipes.xcdatamodeld").path
        let recorded = try CommandRun.coredata("model", "hash", store)
        #expect(recorded.status == 0, "\(recorded.error)")
        #expect(
            try recorded.lines.dropLast()
                == CommandRun.coredata("model", "hash", model, "--version", "Recipes").lines.dropLast())
    }
}
