import Foundation
import TestSupport
import Testing

/// `coredata model diff`, `graph` and `doc`.
@Suite struct ModelLookTests {
    private static let old =
        #"<entity name="Book"><attribute name="title" optional="YES" attributeType="String"/></entity>"#
    private static let new = #"""
        <entity name="Book"><attribute name="title" attributeType="String"/>
        <attribute name="pages" optional="YES" attributeType="Integer 16"/></entity>
        """#

    // MARK: diff

    @Test func differencesAreToldWithTheirConsequences() throws {
        let scratch = try Scratch()
        let old = try modelFile(Self.old, named: "Old.xcdatamodel", in: scratch)
        let new = try modelFile(Self.new, named: "New.xcdatamodel", in: scratch)
        let run = try CommandRun.coredata("model", "diff", old, new)
        #expect(run.status == 1)
        #expect(
            run.output == """
                Old → New
                  Book: attribute 'pages' was added (Integer 16, optional)
                  Book.title: optional → required

                Stores must be migrated: the version hash differs of Book.
                No lightweight migration can be inferred (error 134190), because
                  Book.title: becomes required and has no default [required-without-default]

                """)
        let same = try CommandRun.coredata("model", "diff", old, old)
        #expect(same.status == 0 && same.output == "Old → Old: no difference\n")
    }

    @Test func versionsOfOneModelAreCompared() throws {
        let scratch = try Scratch()
        _ = try modelFile(Self.old, named: "M.xcdatamodeld/M.xcdatamodel", in: scratch)
        _ = try modelFile(Self.new, named: "M.xcdatamodeld/M 2.xcdatamodel", in: scratch)
        let run = try CommandRun.coredata(
            "model", "diff", scratch.path("M.xcdatamodeld"), "--from", "M 2", "--to", "M", "--format", "json")
        let report = try #require(try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
        let migration = try #require(report["migration"] as? [String: Any])
        #expect(
            report["from"] as? String == "M 2" && report["to"] as? String == "M" && report["isSame"] as? Bool == false)
        #expect(migration["isNeeded"] as? Bool == true && migration["canBeInferred"] as? Bool == true)
        #expect(migration["differingHashes"] as? [String] == ["Book"])
        let usage = try CommandRun.coredata("model", "diff", scratch.path("M.xcdatamodeld"))
        #expect(usage.status == 2 && usage.error.contains("--from"))
    }

    @Test func aStoreIsComparedByTheModelThatItKeeps() throws {
        let scratch = try Scratch()
        let store = try scratch.makeStore()
        let run = try CommandRun.coredata("model", "diff", store, CommandRun.exampleModel)
        #expect(run.output.contains("Version hashes are equal") || run.status == 0, "\(run.output)\(run.error)")
        let other = try CommandRun.coredata("model", "diff", store, modelFile(Self.old, in: scratch))
        #expect(other.status == 1 && other.output.contains("Item: entity was removed"))
        let text = try scratch.write("no store", to: "text.sqlite")
        #expect(try CommandRun.coredata("model", "diff", text, CommandRun.exampleModel).status == 2)
    }

    /// Whoever compiled the source, for whichever module: what comes out is the same model, and so is what a store keeps.
    @Test(
        .enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"),
        arguments: Trials.some(of: [[], ["--module", "Lib"]]))
    func aSourceDiffersNotFromWhatIsMadeOfIt(options: [String]) throws {
        let scratch = try Scratch()
        func check(_ arguments: String...) throws {
            let run = try CommandRun.run(CommandRun.executable(), ["model", "diff"] + arguments)
            #expect(run.status == 0, "\(run.output)\(run.error)")
        }
        let models = [
            "unclouded-notes/UnCloudNotesDataModel.xcdatamodeld", "sample-model/SampleModel.xcdatamodeld",
            "composite-models/CoreDataEvolutionIntegrationModel.xcdatamodeld", "bookmarks/BookmarksModel.xcdatamodeld",
            "mogenerator-models/MogenSwiftTest.xcdatamodeld", "recipes/Recipes.xcdatamodeld",
        ]
        for model in Trials.some(of: models, atLeast: 2) {
            let source = Fixtures.url(model).path
            let compile = ["model", "compile", source, "--output", scratch.folder.path] + options
            try #require(CommandRun.run(CommandRun.executable(), compile).status == 0)
            let name = URL(fileURLWithPath: model).deletingPathExtension().lastPathComponent
            let compiled = scratch.path("\(name).momd")
            let versions = try FileManager.default.contentsOfDirectory(atPath: source)
                .filter { $0.hasSuffix(".xcdatamodel") }.map { String($0.dropLast(".xcdatamodel".count)) }
            for version in versions {
                try check(source, compiled, "--from", version, "--to", version)
                try check(compiled, source, "--from", version, "--to", version)
                let store = scratch.path("\(version).sqlite")
                let create = ["store", "create", store, "--model", compiled, "--model-version", version]
                try #require(CommandRun.run(CommandRun.executable(), create).status == 0)
                try check(source, store, "--from", version)
            }
        }
        // What Apple's compiler and framework made of it.
        let sample = Fixtures.url("sample-model/SampleModel.xcdatamodeld").path
        for version in ["SampleModel", "SampleModel2", "SampleModel3"] {
            try check(
                sample, Fixtures.url("sample-model/SampleModel.momd").path, "--from", version, "--to", version)
        }
        try check(Fixtures.url("sample-model/SampleModel_V1.sqlite").path, sample, "--to", "SampleModel")
    }

    // MARK: graph

    @Test(arguments: [("svg", "<svg "), ("mermaid", "classDiagram"), ("dot", "digraph model {")])
    func graphsAreWritten(format: String, start: String) throws {
        let run = try CommandRun.coredata("model", "graph", CommandRun.exampleModel, "--format", format)
        #expect(run.status == 0 && run.output.hasPrefix(start) && run.output.contains("LocationAtShop"))
    }

    @Test func filesAreWrittenWholeOrNotAtAll() throws {
        let scratch = try Scratch()
        let file = scratch.path("model.svg")
        #expect(try CommandRun.coredata("model", "graph", CommandRun.exampleModel, "--output", file).status == 0)
        #expect(try scratch.read("model.svg") == CommandRun.coredata("model", "graph", CommandRun.exampleModel).output)
        let broken = try modelFile("<entity name=\"A\"", in: scratch)
        let run = try CommandRun.coredata("model", "graph", broken, "--output", scratch.path("broken.svg"))
        #expect(run.status == 2 && !FileManager.default.fileExists(atPath: scratch.path("broken.svg")))
    }

    @Test(arguments: ["graph", "doc"]) func whatIsThereIsReplacedIfThatIsAskedFor(command: String) throws {
        let scratch = try Scratch()
        let file = try scratch.write("something else", to: "page")
        let refused = try CommandRun.coredata("model", command, CommandRun.exampleModel, "--output", file)
        #expect(refused.status == 2)
        #expect(refused.error == "error: There is something at \(file) already; --force replaces it.\n")
        #expect(try scratch.read("page") == "something else")
        let run = try CommandRun.coredata("model", command, CommandRun.exampleModel, "--output", file, "--force")
        #expect(run.status == 0, "\(run.error)")
        #expect(try scratch.read("page").contains("LocationAtShop"))
    }

    /// The picture of the documentation is that of the example, as it is now.
    @Test func thePictureInTheDocumentationIsUpToDate() throws {
        let picture = CommandRun.packageRoot.appendingPathComponent("docs/images/grocery-dude.svg")
        let drawn = try CommandRun.coredata("model", "graph", CommandRun.exampleModel).output
        #expect(try String(contentsOf: picture, encoding: .utf8) == drawn, "draw it again: see docs/model-tools.md")
    }

    // MARK: doc

    @Test func pagesNameColumnsAndTables() throws {
        let scratch = try Scratch()
        let file = scratch.path("model.html")
        #expect(try CommandRun.coredata("model", "doc", CommandRun.exampleModel, "-o", file).status == 0)
        let html = try scratch.read("model.html")
        for text in ["<!DOCTYPE html>", "<code>ZLOCATIONATHOME</code>", "<code>ZITEM_PHOTO</code>", "<svg "] {
            #expect(html.contains(text), "\(text)")
        }
    }

    @Test(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
    func fixturesOfEveryFormAreRead() throws {
        for model in [
            "sample-model/SampleModel.xcdatamodeld", "sample-model/SampleModel.momd",
            "sample-model/SampleModel.momd/SampleModel2.mom", "twitter-seed/RKTwitterCoreData.xcdatamodel",
        ] {
            for command in ["lint", "graph", "doc"] {
                let run = try CommandRun.coredata("model", command, Fixtures.url(model).path)
                #expect(run.status == 0 && !run.output.isEmpty, "\(command) \(model): \(run.error)")
            }
        }
        let store = Fixtures.url("sample-model/SampleModel_V1.sqlite").path
        let run = try CommandRun.coredata("model", "diff", store, Fixtures.url("sample-model/SampleModel.momd").path)
        #expect(run.status != 2, "\(run.error)")
    }
}
