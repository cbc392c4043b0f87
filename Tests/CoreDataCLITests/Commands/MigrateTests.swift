import Foundation
import TestSupport
import Testing

@Suite struct MigrateTests {
    private static let old = """
        <entity name="Book"><attribute name="title" optional="YES" attributeType="String"/></entity>
        """
    private static let new = """
        <entity name="Book"><attribute name="name" elementID="title" optional="YES" attributeType="String"/>
        <attribute name="isbn" optional="YES" attributeType="String"/></entity>
        """
    private static let impossible = """
        <entity name="Book"><attribute name="title" optional="YES" attributeType="Integer 64"/></entity>
        """

    /// A model of versions, the last of them the current one.
    private func makeModel(_ scratch: Scratch, _ versions: [(String, String)]) throws -> String {
        let folder = scratch.folder.appendingPathComponent("Library.xcdatamodeld")
        for (name, entities) in versions {
            let version = folder.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            let contents = """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entities)</model>
                """
            try contents.write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        }
        let current = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0"><dict><key>_XCCurrentVersionName</key><string>\(versions.last?.0 ?? "").xcdatamodel</string></dict></plist>
            """
        try current.write(
            to: folder.appendingPathComponent(".xccurrentversion"), atomically: true, encoding: .utf8)
        return folder.path
    }

    @Test func aStoreIsMigratedAndPutBack() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.old)
        let titles = try scratch.write(#"[{"title": "One"}, {"title": "Two"}]"#, to: "books.json")
        try CommandRun.coredata("import", store, "--entity", "Book", titles)
        let model = try makeModel(scratch, [("Library", Self.old), ("Library 2", Self.new)])

        let plan = try CommandRun.coredata("migrate", "plan", store, "--model", model, "--sql")
        #expect(plan.status == 0, "\(plan.error)")
        #expect(plan.lines.first == "Book: isbn is new; name was title")
        #expect(plan.output.contains("INSERT OR FAIL INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT"))
        let rehearsal = try CommandRun.coredata("migrate", "run", store, "--model", model, "--dry-run")
        #expect(rehearsal.output == "\(store) can be migrated: a copy was, and is sound\n", "\(rehearsal.error)")

        let run = try CommandRun.coredata("migrate", "run", store, "--model", model)
        #expect(run.status == 0, "\(run.error)")
        #expect(try CommandRun.coredata("store", "verify", store).output == "\(store) is sound\n")
        #expect(try CommandRun.coredata("query", store, "Book", "--sort", "name").output.contains("One"))
        #expect(
            try CommandRun.coredata("migrate", "run", store, "--model", model).output
                == "\(store) is of that model already\n")

        let rollback = try CommandRun.coredata("migrate", "rollback", store)
        #expect(rollback.status == 0, "\(rollback.error)")
        #expect(try CommandRun.coredata("query", store, "Book", "--where", "title == 'One'").output.contains("One"))
        #expect(try CommandRun.coredata("migrate", "rollback", store).status == 2)
        #expect(!FileManager.default.fileExists(atPath: store + ".before-migration"))
    }

    @Test func whatAKilledRunLeftIsReplacedAndNothingStays() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.old)
        let titles = try scratch.write(#"[{"title": "One"}]"#, to: "books.json")
        try CommandRun.coredata("import", store, "--entity", "Book", titles)
        let model = try makeModel(scratch, [("Library", Self.old), ("Library 2", Self.new)])
        let manager = FileManager.default
        let before = try manager.contentsOfDirectory(atPath: scratch.folder.path).sorted()
        // As a process leaves them that dies while it makes the copy, or while it migrates.
        let half = scratch.path(".migrating-\(UUID().uuidString)-store.sqlite.before-migration")
        try manager.createDirectory(atPath: half, withIntermediateDirectories: true)
        try Data("half".utf8).write(to: URL(fileURLWithPath: half + "/store.sqlite.before-migration"))
        try Data().write(to: URL(fileURLWithPath: half + "/store.sqlite.before-migration-journal"))
        let nothing = try CommandRun.coredata("migrate", "rollback", store)
        #expect(nothing.status == 2 && nothing.error.contains("There is no copy at"), "\(nothing.error)")
        #expect(try manager.contentsOfDirectory(atPath: scratch.folder.path).sorted() == before)
        try manager.createDirectory(atPath: half, withIntermediateDirectories: true)
        let run = try CommandRun.coredata("migrate", "run", store, "--model", model)
        #expect(run.status == 0, "\(run.error)")
        let copy = "store.sqlite.before-migration"
        #expect(try manager.contentsOfDirectory(atPath: scratch.folder.path).sorted() == (before + [copy]).sorted())
        try Data().write(to: URL(fileURLWithPath: scratch.path(".migrating-store")))
        let rollback = try CommandRun.coredata("migrate", "rollback", store)
        #expect(rollback.status == 0, "\(rollback.error)")
        #expect(try manager.contentsOfDirectory(atPath: scratch.folder.path).sorted() == before)
        #expect(try CommandRun.coredata("query", store, "Book", "--count").output == "1\n")
    }

    @Test func theCopyOfAnotherStoreIsNotPutBack() throws {
        let (scratch, elsewhere) = (try Scratch(), try Scratch())
        let store = try scratch.makeStore(entities: Self.old)
        let other = try elsewhere.makeStore(entities: Self.old)
        let copy = store + ".before-migration"
        try FileManager.default.copyItem(atPath: other, toPath: copy)
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let run = try CommandRun.coredata("migrate", "rollback", store)
        #expect(run.status == 2 && run.error.contains("is a copy of another store: its UUID is "), "\(run.error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        #expect(FileManager.default.fileExists(atPath: copy))
        // Where there is no store any more, it is whose name it has.
        try FileManager.default.removeItem(atPath: store)
        #expect(try CommandRun.coredata("migrate", "rollback", store).status == 0)
        #expect(try CommandRun.coredata("store", "verify", store).status == 0)
    }

    /// A store in XML, with a book of each title, of the model's first version.
    private func makeFile(_ scratch: Scratch, of model: String, titles: [String]) throws -> String {
        let hashes = try CommandRun.coredata("model", "hash", model, "--version", "Library", "--json").output
        let found = try #require(hashes.range(of: #""Book" : "[^"]+""#, options: .regularExpression))
        let hash = hashes[found].split(separator: "\"").last ?? ""
        let books = titles.enumerated().map { index, title in
            """
            <object type="BOOK" id="z\(102 + index)"><attribute name="title" type="string">\(title)</attribute></object>
            """
        }
        return try scratch.write(
            """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">
            <database><databaseInfo><version>134481920</version><UUID>AB</UUID><nextObjectID>110</nextObjectID>
            <metadata><plist version="1.0"><dict><key>NSStoreModelVersionHashes</key>
            <dict><key>Book</key><data>\(hash)</data></dict></dict></plist></metadata></databaseInfo>
            \(books.joined())
            </database>
            """, to: "Library.xml")
    }

    @Test func storesOfOneFileAreMigratedAndPutBack() throws {
        let scratch = try Scratch()
        let model = try makeModel(scratch, [("Library", Self.old), ("Library 2", Self.new)])
        let store = try makeFile(scratch, of: model, titles: ["One", "Two"])
        let before = try Data(contentsOf: URL(fileURLWithPath: store))
        let plan = try CommandRun.coredata("migrate", "plan", store, "--model", model)
        #expect(plan.lines.first == "Book: isbn is new; name was title", "\(plan.error)")
        let rehearsal = try CommandRun.coredata("migrate", "run", store, "--model", model, "--dry-run")
        #expect(rehearsal.status == 0, "\(rehearsal.error)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: store)) == before)
        let run = try CommandRun.coredata("migrate", "run", store, "--model", model)
        #expect(run.status == 0, "\(run.error)")
        let text = try String(contentsOfFile: store, encoding: .utf8)
        #expect(
            text.contains(#"<attribute name="name" type="string">Two</attribute>"#) && text.contains("<UUID>AB</UUID>"))
        #expect(
            try CommandRun.coredata("migrate", "run", store, "--model", model).output
                == "\(store) is of that model already\n")
        #expect(try CommandRun.coredata("migrate", "rollback", store).status == 0)
        // What it was, in the form in which such stores are written.
        let restored = try String(contentsOfFile: store, encoding: .utf8)
        for title in ["One", "Two"] {
            #expect(restored.contains(#"<attribute name="title" type="string">\#(title)</attribute>"#), "\(restored)")
        }
        #expect(restored.contains("<UUID>AB</UUID>") && !restored.contains("isbn"), "\(restored)")
    }

    @Test func versionsThatLieBetweenArePassed() throws {
        let scratch = try Scratch()
        let without = #"<entity name="Book"><attribute name="note" optional="YES" attributeType="String"/></entity>"#
        let model = try makeModel(
            scratch, [("Library", Self.old), ("Library 2", without), ("Library 3", Self.impossible)])
        let store = try makeFile(scratch, of: model, titles: ["One"])
        #expect(try CommandRun.coredata("migrate", "plan", store, "--model", model).status == 2)
        let plan = try CommandRun.coredata("migrate", "plan", store, "--model", model, "--progressive")
        #expect(
            plan.lines.filter { !$0.hasPrefix(" ") } == [
                "1. Library → Library 2: inferred", "2. Library 2 → Library 3: inferred",
            ],
            "\(plan.error)")
        // A mapping model that no step could follow would be left out without a word.
        let elsewhere = try Scratch()
        defer { withExtendedLifetime(elsewhere) {} }
        let other = try makeModel(elsewhere, [("Library", Self.old), ("Library 2", Self.new)])
        let file = scratch.folder.appendingPathComponent("Other.cdm").path
        _ = try CommandRun.coredata("mapping", "infer", other, "--from", "Library", "--output", file)
        let idle = try CommandRun.coredata(
            "migrate", "run", store, "--model", model, "--progressive", "--mapping", file)
        #expect(idle.status == 2 && idle.error.contains("Other.cdm leads from no version"), "\(idle.error)")
        let run = try CommandRun.coredata(
            "migrate", "run", store, "--model", model, "--progressive", "--allow-loss", "Book.title")
        #expect(run.status == 0, "\(run.error)")
        let again = try CommandRun.coredata("migrate", "plan", store, "--model", model, "--progressive")
        #expect(again.output == "\(store) is of that model already\n")
        #expect(try CommandRun.coredata("migrate", "plan", store, "--model", model, "--mapping", "x").status != 0)
    }

    @Test func mappingsAreInferredShownAndCompiled() throws {
        let scratch = try Scratch()
        let model = try makeModel(scratch, [("Library", Self.old), ("Library 2", Self.new)])
        let inferred = try CommandRun.coredata("mapping", "infer", model, "--from", "Library")
        #expect(inferred.status == 0, "\(inferred.error)")
        #expect(inferred.lines == ["IEM_Transform_Book: Book → Book (transform)", "  name = $source.title"])
        let file = scratch.folder.appendingPathComponent("One.cdm").path
        #expect(
            try CommandRun.coredata("mapping", "infer", model, "--from", "Library", "--output", file).output
                == "Wrote \(file)\n")
        #expect(try CommandRun.coredata("mapping", "show", file).lines == inferred.lines)
        let json = try CommandRun.coredata("mapping", "show", file, "--json")
        #expect(json.output.contains("\"value\" : \"$source.title\""), "\(json.output)")
        let compiled = try CommandRun.coredata(
            "mapping", "compile", file, "--output", scratch.folder.appendingPathComponent("out").path)
        #expect(compiled.output.hasPrefix("Compiled ") && compiled.output.hasSuffix("One.cdm, 1 entity mapping\n"))
        #expect(try CommandRun.coredata("mapping", "show", model + ".none").status == 2)
        let impossible = try makeModel(scratch, [("Library", Self.old), ("Library 2", Self.impossible)])
        let refused = try CommandRun.coredata("mapping", "infer", impossible, "--from", "Library")
        #expect(refused.status == 1 && refused.error.contains("Book.title changes its type"))
    }

    /// What the build-tool plugin runs for a mapping model, and what a migration makes of that.
    @Test func mappingModelsAreCompiledWhileAProgramIsBuilt() throws {
        let scratch = try Scratch()
        let typed = #"<entity name="Book"><attribute name="title" optional="YES" attributeType="String"/></entity>"#
        let changed = """
            <entity name="Book"><attribute name="title" optional="YES" attributeType="Integer 64"/>
            <attribute name="isbn" optional="YES" attributeType="String"/></entity>
            """
        let model = try makeModel(scratch, [("Library", typed), ("Library 2", changed)])
        let store = try makeFile(scratch, of: model, titles: ["One", "Two"])
        // The title is left behind: nothing of it fits.
        let source = """
            <?xml version="1.0" standalone="yes"?>
            <database><databaseInfo><version>134481920</version><UUID>U</UUID></databaseInfo>
            <object type="XDDEVMAPPINGMODEL" id="z102">
            <attribute name="sourcemodelpath" type="string">Library.xcdatamodeld/Library.xcdatamodel</attribute>
            <attribute name="destinationmodelpath" type="string">Library.xcdatamodeld/Library 2.xcdatamodel</attribute>
            </object>
            <object type="XDDEVENTITYMAPPING" id="z103">
            <attribute name="sourcename" type="string">Book</attribute>
            <attribute name="destinationname" type="string">Book</attribute>
            <relationship name="attributemappings" type="0/0" destination="XDDEVATTRIBUTEMAPPING" idrefs="z104"></relationship>
            </object>
            <object type="XDDEVATTRIBUTEMAPPING" id="z104"><attribute name="name" type="string">isbn</attribute></object>
            </database>
            """
        let folder = scratch.folder.appendingPathComponent("Library1to2.xcmappingmodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try source.write(to: folder.appendingPathComponent("xcmapping.xml"), atomically: true, encoding: .utf8)
        let tool = try CommandRun.executable().deletingLastPathComponent().appendingPathComponent("coredata-modelc")
        try #require(
            FileManager.default.isExecutableFile(atPath: tool.path),
            "the tool has not been built: swift build --product coredata-modelc")
        let file = scratch.folder.appendingPathComponent("Library1to2.cdm").path
        let built = try CommandRun.run(tool, [folder.path, "--compiled", file])
        #expect(built.status == 0, "\(built.error)")
        #expect(try CommandRun.coredata("mapping", "show", file).lines.first == "BookToBook: Book → Book (transform)")
        let plan = try CommandRun.coredata(
            "migrate", "plan", store, "--model", model, "--progressive", "--mapping", file)
        #expect(plan.output == "1. Library → Library 2: by Library1to2.cdm\n", "\(plan.error)")
        let run = try CommandRun.coredata(
            "migrate", "run", store, "--model", model, "--progressive", "--mapping", file)
        #expect(run.status == 0, "\(run.error)")
        #expect(try String(contentsOfFile: store, encoding: .utf8).split(separator: "type=\"BOOK\"").count == 3)
        // A model that is not there is a mistake of the source, told before anything is written.
        try FileManager.default.removeItem(atPath: model)
        try FileManager.default.removeItem(atPath: file)
        let broken = try CommandRun.run(tool, [folder.path, "--compiled", file])
        #expect(broken.status == 1 && broken.error.contains("'Book'"), "\(broken.error)")
        #expect(!FileManager.default.fileExists(atPath: file))
    }

    @Test func everyVersionIsChecked() throws {
        let scratch = try Scratch()
        let model = try makeModel(
            scratch, [("Library", Self.old), ("Library 2", Self.impossible), ("Library 3", Self.new)])
        let run = try CommandRun.coredata("migrate", "check", model)
        #expect(run.status == 1)
        #expect(run.lines.first == "Library → Library 3: ok", "\(run.error)")
        #expect(run.lines.last?.contains("Book.name changes its type") == true)
        let good = try CommandRun.coredata("migrate", "check", model, "--to", "Library", "--json")
        #expect(good.status == 1)
        let results = try JSONSerialization.jsonObject(with: Data(good.output.utf8)) as? [[String: Any]]
        #expect(results?.map { $0["from"] as? String } == ["Library 2", "Library 3"])
        #expect(results?.first?["isMigrated"] as? Bool == false && results?.first?["problem"] is String)
    }

    @Test(.enabled(if: Fixtures.isAvailable, Comment(rawValue: Fixtures.missing)))
    func versionsOfApplesModelsAreChecked() throws {
        let run = try CommandRun.coredata(
            "migrate", "check", Fixtures.url("bookmarks/BookmarksModel.xcdatamodeld").path)
        #expect(run.output.contains("→"), "\(run.error)")
    }

    @Test func whatCannotBeInferredIsToldAndNothingIsLeft() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore(entities: Self.old)
        let model = try makeModel(scratch, [("Library", Self.impossible)])
        for command in ["plan", "run"] {
            let run = try CommandRun.coredata("migrate", command, store, "--model", model)
            #expect(run.status == 2)
            #expect(run.error.contains("Book.title changes its type from String to Integer 64"))
        }
        #expect(!FileManager.default.fileExists(atPath: store + ".before-migration"))
    }
}
