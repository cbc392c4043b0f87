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

    @Test func everyVersionIsChecked() throws {
        let scratch = try Scratch()
        let model = try makeModel(
            scratch, [("Library", Self.old), ("Library 2", Self.impossible), ("Library 3", Self.new)])
        let run = try CommandRun.coredata("migrate", "check", model)
        #expect(run.status == 1)
        #expect(run.lines.first == "Library → Library 3: ok", "\(run.error)")
        #expect(run.lines.last?.contains("Book.name changes its type") == true)
        let good = try CommandRun.coredata("migrate", "check", model, "--to", "Library")
        #expect(good.status == 1)
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
