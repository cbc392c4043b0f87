import Foundation
import TestSupport
import Testing

@Suite struct VerifyTests {
    @Test func aDamagedFileIsFound() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        try CommandRun.coredata(
            "import", store, "--entity", "Item", CommandRun.exampleData,
            "--unique", "Item.name,Unit.name,LocationAtHome.storedIn,LocationAtShop.aisle")
        #expect(try CommandRun.coredata("store", "verify", store).output == "\(store) is sound\n")
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: store))
        try handle.seek(toOffset: 40_960)
        try handle.write(contentsOf: Data(repeating: 0x5A, count: 8_192))
        try handle.close()
        let run = try CommandRun.coredata("store", "verify", store, "--model", CommandRun.exampleModel)
        #expect(run.status != 0)
        #expect((run.output + run.error).contains("error: "))
        #expect(!(run.output + run.error).contains("is sound"))
    }

    /// Of each page in turn, so that what the store says of its model and its metadata is damaged too.
    @Test func damageIsAFindingWhereverItIs() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.albums)
        let albums = (1...300).map { #"{"title": "Album \#($0) \#(String(repeating: "x", count: 60))"}"# }
        let file = try scratch.write("[\(albums.joined(separator: ","))]", to: "albums.json")
        try CommandRun.coredata("import", store, "--entity", "Album", file)
        let sound = try Data(contentsOf: URL(fileURLWithPath: store))
        for page in 1..<sound.count / 4_096 {
            var damaged = sound
            damaged.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: Data(repeating: 0x5A, count: 4_096))
            try damaged.write(to: URL(fileURLWithPath: store))
            let run = try CommandRun.coredata("store", "verify", store)
            #expect(run.status == 1, "page \(page): \(run.output)\(run.error)")
            #expect(run.lines.first?.hasPrefix("error: ") == true, "page \(page): \(run.output)")
            #expect(run.lines.last?.contains("problem") == true && run.error == "", "page \(page): \(run.error)")
        }
    }

    /// What is wrong is a problem; what only could be better is none.
    @Test func onlyProblemsFail() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.albums)
        let file = try scratch.write(#"[{"title": "Summer"}]"#, to: "albums.json")
        try CommandRun.coredata("import", store, "--entity", "Album", file)
        let sound = try CommandRun.coredata("store", "verify", store)
        #expect(sound.status == 0 && sound.output == "\(store) is sound\n")
        // No row names it.
        let folder = scratch.path(".store_SUPPORT/_EXTERNAL_DATA")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/3F2504E0-4F89-11D3-9A0C-0305E82C3301"))
        let warned = try CommandRun.coredata("store", "verify", store)
        #expect(warned.status == 0)
        #expect(warned.lines.first?.hasPrefix("warning: ") == true)
        #expect(warned.lines.last == "\(store) is sound, with 1 warning")
    }

    private static let albums = """
        <entity name="Album">
            <attribute name="title" optional="YES" attributeType="String"/>
            <attribute name="cover" optional="YES" attributeType="Binary" allowsExternalBinaryDataStorage="YES"/>
        </entity>
        """

    @Test func aMissingFileCostsItsValueAlone() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.albums)
        let cover = Data(repeating: 65, count: 150 << 10).base64EncodedString()
        let file = try scratch.write(
            #"[{"title": "Summer", "cover": "\#(cover)"}, {"title": "Winter", "cover": "QUE="}]"#, to: "albums.json")
        let imported = try CommandRun.coredata("import", store, "--entity", "Album", file)
        #expect(imported.status == 0, "\(imported.error)")
        let folder = scratch.path(".store_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
        try FileManager.default.removeItem(atPath: folder + "/" + name)
        let warning = "warning: 'cover' of Album 1 could not be read: The external data file '\(folder)/\(name)'"
        for arguments in [
            ["export", store, "--entity", "Album", "--format", "ndjson"],
            ["query", store, "Album", "--sort", "title", "--format", "ndjson"],
        ] {
            let run = try CommandRun.run(CommandRun.executable(), arguments)
            #expect(run.status == 0, "\(run.error)")
            #expect(run.lines.count == 2)
            #expect(run.output.contains("Summer") && run.output.contains("Winter") && run.output.contains("QUE="))
            #expect(!run.output.contains(cover.prefix(100)))
            #expect(run.error.hasPrefix(warning), "\(run.error)")
        }
        let verified = try CommandRun.coredata("store", "verify", store)
        #expect(verified.status == 1)
        #expect(
            verified.lines.first == "error: Album.cover of row 1: its file \(name) is missing (the value is lost)")
        #expect(verified.lines.last == "\(store): 1 problem")
    }

    private static let stepDown = "/usr/bin/setpriv"

    /// Nobody may make the index of the log there, so SQLite reads the file alone.
    @Test(
        .enabled(if: geteuid() != 0 || FileManager.default.isExecutableFile(atPath: stepDown), "root writes everywhere")
    )
    func theJournalOfAStoreThatCannotBeWrittenIsTold() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.albums)
        let tool = try CommandRun.executable()
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: store)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: scratch.folder.path)
        defer { try? FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: scratch.folder.path) }
        let run =
            geteuid() != 0
            ? try CommandRun.run(tool, ["store", "info", store])
            : try CommandRun.run(
                URL(fileURLWithPath: Self.stepDown),
                ["--reuid=65534", "--regid=65534", "--clear-groups", tool.path, "store", "info", store])
        #expect(run.status == 0, "\(run.error)")
        #expect(run.lines.contains { $0.hasPrefix("Journal") && $0.hasSuffix(" wal") }, "\(run.output)")
    }

    @Test func anotherModelIsAFinding() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let other = try Scratch()
        _ = try other.makeStore(entities: ImportTests.everything)
        let model = other.path("Model.xcdatamodel")
        let run = try CommandRun.coredata("store", "verify", store, "--model", model, "--json")
        #expect(run.status == 1)
        #expect(run.output.contains("\"severity\" : \"error\""))
        #expect(run.output.contains("made with another version of the model"))
        let query = try CommandRun.coredata("query", store, "Thing", "--model", model)
        #expect(query.status == 2)
        #expect(query.error.contains("(error 134100)"))
    }
}
