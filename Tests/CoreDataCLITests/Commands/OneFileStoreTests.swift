import Foundation
import TestSupport
import Testing

/// The commands that look into stores, on stores of one file; and links to stores.
@Suite struct OneFileStoreTests {
    /// A store of 40 items and 4 units, of the type that the name says.
    private func store(_ scratch: Scratch, _ name: String) throws -> String {
        let database = scratch.path("made.sqlite")
        try FileManager.default.copyItem(atPath: Self.items.get(), toPath: database)
        let store = scratch.path(name)
        let run = try CommandRun.coredata("store", "copy", database, store)
        try #require(run.status == 0, "\(run.error)")
        return store
    }

    private static let items = Result { () throws -> String in
        let database = try Fixtures.temporaryFolder().appendingPathComponent("made.sqlite").path
        let made = try CommandRun.coredata(
            "generate-data", database, "--model", CommandRun.exampleModel, "--count", "Item=40", "--count", "Unit=4",
            "--members", "Unit.items=5-9", "--seed", "3")
        try #require(made.status == 0, "\(made.error)")
        return database
    }

    @Test(arguments: [("a.xml", "XML"), ("a.binary", "Binary")])
    func aStoreOfOneFileIsLookedInto(name: String, type: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch, name)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let info = try CommandRun.coredata("store", "info", store)
        #expect(info.status == 0, "\(info.error)")
        #expect(info.lines.contains { $0.hasPrefix("Type") && $0.hasSuffix(" \(type)") }, "\(info.output)")
        #expect(info.lines.contains { $0.hasPrefix("Item ") && $0.contains(" 40 ") }, "\(info.output)")
        #expect(info.lines.contains { $0.hasPrefix("LocationAtHome ") && $0.contains(" 0 ") }, "\(info.output)")
        let json = try CommandRun.coredata("store", "info", store, "--json")
        #expect(json.output.contains("\"rowCount\" : 40") && json.output.contains("\"type\" : \"\(type)\""))
        let entities = try CommandRun.coredata("query", store)
        #expect(entities.lines.contains { $0.hasPrefix("Unit ") && $0.hasSuffix(" 4") }, "\(entities.output)")

        let count = try CommandRun.coredata("query", store, "Item", "--model", CommandRun.exampleModel, "--count")
        #expect(count.output == "40\n", "\(count.error)")
        let verify = try CommandRun.coredata("store", "verify", store, "--model", CommandRun.exampleModel)
        #expect(verify.status == 0 && verify.output == "\(store) is sound\n", "\(verify.output)\(verify.error)")
        // What needs a model says so.
        for arguments in [["query", store, "Item"], ["store", "verify", store], ["export", store]] {
            let run = try CommandRun.run(CommandRun.executable(), arguments)
            #expect(run.status == 2 && run.error.contains("as no \(type) store does: --model names it"), "\(run.error)")
        }
        let inferred = try CommandRun.coredata("query", store, "Item", "--infer")
        #expect(inferred.status == 2 && inferred.error.contains("--model names its model"), "\(inferred.error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).sorted() == [name, "made.sqlite"])
    }

    @Test(arguments: [("a.xml", "XML"), ("a.binary", "Binary"), ("a.sqlite", "SQLite")])
    func aStoreIsMadeOfTheTypeThatItsNameSays(name: String, type: String) throws {
        let scratch = try Scratch()
        for (made, arguments) in [
            ("made-" + name, ["store", "create"]), ("filled-" + name, ["generate-data", "--count", "Unit=3"]),
        ] {
            let store = scratch.path(made)
            let run = try CommandRun.run(
                CommandRun.executable(), arguments + [store, "--model", CommandRun.exampleModel])
            #expect(run.status == 0, "\(run.error)")
            let info = try CommandRun.coredata("store", "info", store)
            #expect(info.lines.contains { $0.hasPrefix("Type") && $0.hasSuffix(" \(type)") }, "\(info.output)")
            let verified = try CommandRun.coredata("store", "verify", store, "--model", CommandRun.exampleModel)
            #expect(verified.status == 0, "\(verified.error)")
        }
    }

    @Test(arguments: ["a.sqlite", "a.xml", "a.binary"]) func noOutputReplacesAStore(name: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch, name)
        let link = scratch.path("link.json")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        for output in [store, link] {
            for arguments in [
                ["export", store, "--model", CommandRun.exampleModel, "--entity", "Unit", "--format", "json"],
                ["model", "doc", CommandRun.exampleModel], ["model", "graph", CommandRun.exampleModel],
                ["model", "convert", scratch.path("made.sqlite"), "--to", "json"],
            ] {
                let run = try CommandRun.run(CommandRun.executable(), arguments + ["--output", output, "--force"])
                #expect(run.status == 2 && run.error.contains("there is a store"), "\(arguments) \(run.error)")
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
    }

    @Test(arguments: ["a.xml", "a.binary"]) func aStoreOfOneFileIsWrittenTo(name: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch, name)
        let file = try scratch.write(#"[{"name": "a new one"}]"#, to: "units.json")
        let run = try CommandRun.coredata(
            "import", store, "--model", CommandRun.exampleModel, "--entity", "Unit", file)
        #expect(run.status == 0, "\(run.error)")
        let exported = try CommandRun.coredata(
            "export", store, "--model", CommandRun.exampleModel, "--entity", "Unit", "--format", "csv")
        #expect(exported.output.contains("a new one"), "\(exported.error)")
        let more = try CommandRun.coredata(
            "generate-data", store, "--model", CommandRun.exampleModel, "--count", "Unit=3", "--seed", "9")
        #expect(more.status == 0, "\(more.error)")
        let count = try CommandRun.coredata("query", store, "Unit", "--model", CommandRun.exampleModel, "--count")
        #expect(count.output == "8\n", "\(count.error)")
    }

    @Test(arguments: ["a.xml", "a.binary"]) func whatIsWrongWithAStoreOfOneFileIsFound(name: String) throws {
        let scratch = try Scratch()
        let store = try store(scratch, name)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        bytes.removeLast(bytes.count / 4)
        try bytes.write(to: URL(fileURLWithPath: store))
        let run = try CommandRun.coredata("store", "verify", store, "--model", CommandRun.exampleModel)
        #expect(run.status == 1, "\(run.output)\(run.error)")
        #expect(run.output.contains("error: ") && run.output.contains("coredata store recover"), "\(run.output)")
        for arguments in [["store", "info", store], ["query", store, "Unit", "--model", CommandRun.exampleModel]] {
            let run = try CommandRun.run(CommandRun.executable(), arguments)
            let end = ": coredata store recover \(store) NEW --model MODEL\n"
            #expect(run.status == 2 && run.error.hasSuffix(end), "\(run.error)")
        }
        let other = try Scratch()
        _ = try other.makeStore(entities: ImportTests.everything)
        let sound = try self.store(other, name)
        let differs = try CommandRun.coredata(
            "store", "verify", sound, "--model", other.path("Model.xcdatamodel"))
        #expect(
            differs.status != 0 && differs.output.contains("another version of the model"),
            "\(differs.output)\(differs.error)")
    }

    @Test func aStoreBehindALinkIsMigratedAndPutBack() throws {
        let scratch = try Scratch()
        let real = scratch.folder.appendingPathComponent("real")
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: true)
        let old = """
            <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/></entity>
            """
        let made = try scratch.makeStore(entities: old)
        let cover = Data(repeating: 7, count: 200 << 10).base64EncodedString()
        let record = try scratch.write("[{\"title\": \"One\", \"cover\": \"\(cover)\"}]", to: "books.json")
        let store = real.appendingPathComponent("Library.sqlite")
        try FileManager.default.moveItem(atPath: made, toPath: store.path)
        let link = scratch.path("link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "real/Library.sqlite")
        #expect(try CommandRun.coredata("import", link, "--entity", "Book", record).status == 0)
        let newer = try Scratch()
        _ = try newer.makeStore(
            entities: old.replacingOccurrences(
                of: "</entity>", with: "<attribute name=\"isbn\" optional=\"YES\" attributeType=\"String\"/></entity>"))
        let run = try CommandRun.coredata("migrate", "run", link, "--model", newer.path("Model.xcdatamodel"))
        #expect(run.status == 0, "\(run.error)")
        func names(_ folder: URL) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        }
        let support = [".Library.sqlite_SUPPORT", ".Library_SUPPORT"]
        #expect(try names(real) == support + ["Library.sqlite", "Library.sqlite.before-migration"])
        #expect(try names(scratch.folder) == ["Model.xcdatamodel", "books.json", "link.sqlite", "real"])
        #expect(try CommandRun.coredata("store", "verify", link).output == "\(link) is sound\n")
        #expect(try CommandRun.coredata("migrate", "rollback", store.path).status == 0)
        #expect(try CommandRun.coredata("store", "verify", link).output == "\(link) is sound\n")
        #expect(try CommandRun.coredata("export", link).output.contains(cover.prefix(100)))
    }
}
