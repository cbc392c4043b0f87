import CoreDataModel
import Foundation
import TestSupport
import Testing

/// `coredata model compile`, `decompile`, `hash`, `fmt` and `convert`, as a user runs them.
@Suite struct ModelCommandTests {
    private let scratch: Scratch
    private let model: String

    init() throws {
        scratch = try Scratch()
        model = try LibrarySource.write(to: scratch)
    }

    private func coredata(_ arguments: String...) throws -> CommandRun {
        try CommandRun.run(CommandRun.executable(), ["model"] + arguments)
    }

    @Test func aModelIsCompiledOnce() throws {
        let output = scratch.path("out")
        let first = try coredata("compile", model, "--output", output, "--module", "Shop")
        #expect(first.output == "Compiled \(output)/Library.momd, 2 versions\n" && first.status == 0)
        let again = try coredata("compile", model, "--output", output, "--module", "Shop")
        #expect(again.output == "\(output)/Library.momd is up to date, 2 versions\n")
        let json = try coredata("compile", model, "--output", output, "--module", "Shop", "--json")
        #expect(json.output.contains(#""isNew" : false"#) && json.output.contains(#""Library 2""#), "\(json.output)")
        let book = try #require(ModelReader.read(contentsOf: URL(fileURLWithPath: output + "/Library.momd")).current)
        #expect(book.entities.map(\.className) == ["Shop.Author", "Shop.Book", "Novel"])
    }

    @Test func aSingleVersionBecomesAMom() throws {
        let run = try coredata("compile", model + "/Library.xcdatamodel", "-o", scratch.folder.path)
        #expect(run.output == "Compiled \(scratch.path("Library.mom")), 1 version\n")
        let source = try coredata("decompile", scratch.path("Library.mom"), "-o", scratch.path("back"))
        #expect(source.output.hasSuffix("Library.xcdatamodeld, 1 version, current: Library\n"))
    }

    @Test func brokenModelsAreNotCompiled() throws {
        let broken = LibrarySource.second.replacing("parentEntity=\"Book\"", with: "parentEntity=\"Bok\"")
        try broken.write(
            toFile: model + "/Library 2.xcdatamodel/contents", atomically: true, encoding: .utf8)
        let run = try coredata("compile", model, "-o", scratch.path("out"))
        #expect(run.status == 2 && run.error.contains("Library 2.xcdatamodel/contents:"))
        #expect(run.error.contains("Bok"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("out")))
    }

    @Test func aBrokenVersionIsLeftOutAndTheOthersAreWritten() throws {
        let broken = LibrarySource.first.replacing("attributeType=\"String\"", with: "attributeType=\"Sting\"")
        try broken.write(toFile: model + "/Library.xcdatamodel/contents", atomically: true, encoding: .utf8)
        let run = try coredata("compile", model, "-o", scratch.path("out"))
        #expect(run.status == 1)
        #expect(run.output == "Compiled \(scratch.path("out/Library.momd")), 1 version\n")
        #expect(run.error.contains("Library.xcdatamodel/contents:") && run.error.contains("Sting"))
        #expect(run.error.hasSuffix("error: 1 of 2 versions left out\n"))
        let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("out/Library.momd")).sorted()
        #expect(names == ["Library 2.mom", "VersionInfo.plist"])
        #expect(try coredata("hash", model).status == 0)
        #expect(try coredata("lint", model, "--version", "Library 2").error == "")
        #expect(try coredata("hash", model, "--version", "Library").status == 2)
        let converted = try coredata("convert", model, "--to", "momd", "-o", scratch.path("L.momd"))
        #expect(converted.status == 2 && converted.error.contains("Sting"), "a conversion leaves nothing out")
    }

    @Test func aBuildFailsForABrokenVersion() throws {
        let broken = LibrarySource.first.replacing("attributeType=\"String\"", with: "attributeType=\"Sting\"")
        try broken.write(toFile: model + "/Library.xcdatamodel/contents", atomically: true, encoding: .utf8)
        let tool = try CommandRun.executable().deletingLastPathComponent().appendingPathComponent("coredata-modelc")
        try #require(
            FileManager.default.isExecutableFile(atPath: tool.path),
            "the tool has not been built: swift build --product coredata-modelc")
        let run = try CommandRun.run(
            tool,
            [model, "--module", "Shop", "--compiled", scratch.path("L.momd"), "--classes", scratch.path("L.swift")])
        #expect(run.status == 1 && run.error.contains("Library.xcdatamodel/contents:"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("L.momd")))
    }

    @Test func aModelWithoutCurrentVersionIsAFinding() throws {
        try "<plist><dict/></plist>".write(toFile: model + "/.xccurrentversion", atomically: true, encoding: .utf8)
        let run = try coredata("lint", model, "--strict")
        #expect(run.status == 1)
        #expect(
            run.output.contains("names no current version; 'Library' is taken")
                && run.output.contains("[no-current-version]"))
        let compiled = try coredata("compile", model, "-o", scratch.path("out"))
        #expect(compiled.status == 0 && compiled.error.contains("names no current version; 'Library' is taken"))
    }

    @Test func decompilingBringsEveryVersionBack() throws {
        try #expect(coredata("compile", model, "-o", scratch.path("out")).status == 0)
        let run = try coredata("decompile", scratch.path("out/Library.momd"), "-o", scratch.path("back"))
        #expect(run.status == 0 && run.output.hasSuffix("2 versions, current: Library 2\n"))
        let hashes = try coredata("hash", model, "--json")
        let back = scratch.path("back/Library.xcdatamodeld")
        #expect(try coredata("hash", back, "--json").output == hashes.output)
        let again = try coredata("decompile", scratch.path("out/Library.momd"), "-o", scratch.path("back"))
        #expect(again.status == 2 && again.error.contains("--force replaces it"))
        let forced = try coredata("decompile", scratch.path("out/Library.momd"), "-o", scratch.path("back"), "--force")
        #expect(forced.status == 0)
    }

    @Test func hashesArePrintedInBase64() throws {
        let run = try coredata("hash", model, "--version", "Library")
        #expect(run.status == 0)
        let compiled = try ModelCompiler.compile(
            #require(ModelReader.read(contentsOf: URL(fileURLWithPath: model))["Library"]))
        #expect(run.output.contains("Book    \(compiled.entities[0].versionHash.base64EncodedString())"))
        let checksum = CompiledModel.versionChecksum(entities: compiled.entities)
        #expect(run.output.contains("checksum of 'Library': \(checksum)"))
        let unknown = try coredata("hash", model, "--version", "Library 3")
        #expect(unknown.status == 2 && unknown.error.contains("has no version 'Library 3'; did you mean 'Library 2'?"))
    }

    @Test func anOptimisedCopyStandsForTheModelBesideIt() throws {
        let alone = try scratch.write("momv2$", to: "Library.omo")
        let run = try coredata("hash", alone)
        #expect(run.status == 2 && run.error.contains("its model is in 'Library.mom', which is not beside it"))
        try #expect(coredata("compile", model + "/Library.xcdatamodel", "-o", scratch.folder.path).status == 0)
        #expect(try coredata("hash", alone).output == coredata("hash", scratch.path("Library.mom")).output)
    }

    @Test func formattingSortsAndKeepsTheModel() throws {
        let hashes = try coredata("hash", model, "--json").output
        #expect(try coredata("fmt", model, "--check").status == 0, "the model is in order")
        let path = model + "/Library 2.xcdatamodel/contents"
        let author = try #require(LibrarySource.second.range(of: "    <entity name=\"Author\""))
        let book = try #require(LibrarySource.second.range(of: "    <entity name=\"Book\""))
        let end = try #require(LibrarySource.second.range(of: "    <entity name=\"Novel\""))
        let mixed =
            LibrarySource.second[..<author.lowerBound] + LibrarySource.second[book.lowerBound..<end.lowerBound]
            + LibrarySource.second[author.lowerBound..<book.lowerBound] + LibrarySource.second[end.lowerBound...] + "\n"
        try mixed.write(toFile: path, atomically: true, encoding: .utf8)

        let check = try coredata("fmt", model, "--check")
        #expect(check.status == 1 && check.output == path + "\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == mixed, "--check changes nothing")
        #expect(try coredata("fmt", model).output == path + "\n")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == LibrarySource.second)
        #expect(try coredata("fmt", model).output.isEmpty, "what is in order is not touched")
        #expect(try coredata("hash", model, "--json").output == hashes)
    }

    @Test func formattingRefusesWhatItWouldLose() throws {
        let path = model + "/Library.xcdatamodel/contents"
        let commented = LibrarySource.first.replacing("</model>", with: "<!-- mine --></model>")
        try commented.write(toFile: path, atomically: true, encoding: .utf8)
        let run = try coredata("fmt", model)
        #expect(run.status == 2 && run.error.contains("contents:6:1: error: a comment would be lost"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == commented)
        let compiled = try coredata("fmt", "x.momd")
        #expect(compiled.status == 2)
    }

    @Test func everyFormLeadsBackToTheSource() throws {
        let (json, compiled, source) = (scratch.path("a.json"), scratch.path("a.momd"), scratch.path("a.xcdatamodeld"))
        #expect(try coredata("convert", model, "--to", "json", "-o", json).output == "Wrote \(json), 2 versions\n")
        #expect(try coredata("convert", json, "--to", "xcdatamodeld", "-o", source).status == 0)
        for path in [".xccurrentversion", "Library.xcdatamodel/contents", "Library 2.xcdatamodel/contents"] {
            let original = try Data(contentsOf: URL(fileURLWithPath: model + "/" + path))
            #expect(try Data(contentsOf: URL(fileURLWithPath: source + "/" + path)) == original, "\(path)")
        }
        #expect(try coredata("convert", json, "--to", "momd", "-o", compiled).status == 0)
        #expect(try coredata("hash", compiled, "--json").output.contains("checksum"))
        let twice = try coredata("convert", model, "--to", "json", "-o", json)
        #expect(twice.status == 2 && twice.error.contains("There is something at"))
        let folder = try coredata("convert", model, "--to", "momd")
        #expect(folder.status == 2 && folder.error.contains("--to momd writes a folder: give --output."))
    }

    @Test(
        .enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"),
        arguments: Trials.some(of: Fixtures.models.filter { $0.contains("xcdatamodel") }, atLeast: 6))
    func formattingKeepsTheHashesOfEveryModel(path: String) throws {
        let copy = scratch.folder.appendingPathComponent(URL(fileURLWithPath: path).lastPathComponent)
        try FileManager.default.copyItem(at: Fixtures.url(path), to: copy)
        let before = try ModelReader.read(contentsOf: copy)
        let isOld = before.versions.contains { $0.document.toolAttributes.isEmpty }
        let run = try coredata("fmt", copy.path)
        if isOld {
            #expect(run.status == 2 && run.error.contains("before Xcode 4"))
            return
        }
        #expect(run.status == 0, "\(run.error)")
        let after = try ModelReader.read(contentsOf: copy)
        for version in before.versions {
            func hashes(_ document: ModelDocument?) throws -> [String: Data] {
                let entities = try ModelCompiler.compile(#require(document)).entities
                return Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.versionHash) })
            }
            #expect(try hashes(after[version.name]) == hashes(version.document))
        }
        #expect(try coredata("fmt", copy.path, "--check").status == 0, "formatting is done at once")
    }
}
