import Foundation
import Testing

@Suite struct ModelGenerateTests {
    private func model(_ scratch: Scratch, attribute: String = "name") throws -> String {
        let folder = scratch.folder.appendingPathComponent("Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let contents = """
            <model>
                <entity name="Item" representedClassName="Item" codeGenerationType="class">
                    <attribute name="\(attribute)" optional="YES" attributeType="String"/>
                </entity>
                <entity name="Unit" representedClassName="Unit"/>
            </model>
            """
        try contents.write(to: folder.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        return folder.path
    }

    private func files(_ scratch: Scratch) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path("out")).sorted()
    }

    @Test func whatTheModelAsksForIsWritten() throws {
        let scratch = try Scratch()
        let out = scratch.path("out")
        let first = try CommandRun.coredata("model", "generate", try model(scratch), "--output", out)
        #expect(first.status == 0, "\(first.error)")
        #expect(try files(scratch) == ["Item+CoreDataClass.swift", "Item+CoreDataProperties.swift"])
        #expect(first.lines.last == "2 written" && first.lines.first == "wrote \(out)/Item+CoreDataClass.swift")
        let second = try CommandRun.coredata("model", "generate", try model(scratch), "--output", out)
        #expect(second.lines == ["0 written, 2 unchanged"])
        let third = try CommandRun.coredata(
            "model", "generate", try model(scratch, attribute: "title"), "--output", out)
        #expect(third.lines.last == "2 written")
        #expect(try scratch.read("out/Item+CoreDataClass.swift").contains("public var title: String?"))
    }

    @Test func authorsFilesAreKept() throws {
        let scratch = try Scratch()
        let out = scratch.path("out")
        let arguments = ["--output", out, "--human-machine", "--access-level", "internal"]
        func generate(attribute: String) throws -> CommandRun {
            try CommandRun.run(
                CommandRun.executable(), ["model", "generate", try model(scratch, attribute: attribute)] + arguments)
        }
        #expect(try generate(attribute: "name").lines.last == "4 written")
        #expect(try files(scratch) == ["Item.swift", "Unit.swift", "_Item.swift", "_Unit.swift"])
        _ = try scratch.write("// mine\n", to: "out/Item.swift")
        let run = try generate(attribute: "title")
        #expect(run.lines == ["wrote \(out)/_Item.swift", "1 written, 1 unchanged, 2 kept"])
        #expect(try scratch.read("out/Item.swift") == "// mine\n")
        #expect(try scratch.read("out/_Item.swift").contains("\n    var title: String? {"))

        _ = try scratch.write("// mine too\n", to: "out/_Unit.swift")
        let warned = try generate(attribute: "title")
        #expect(warned.error.contains("warning: \(out)/_Unit.swift was not generated"))
        #expect(try scratch.read("out/_Unit.swift") == "// mine too\n")
    }

    @Test func aWrongModelWritesNothing() throws {
        let scratch = try Scratch()
        let path = try model(scratch, attribute: "objectID")
        let run = try CommandRun.coredata("model", "generate", path, "--output", scratch.path("out"))
        #expect(run.status == 2)
        #expect(run.error.contains("/contents:3:9: error: property 'Item.objectID' has the name of a method"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("out")))
    }
}
