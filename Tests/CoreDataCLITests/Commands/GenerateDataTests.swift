import Foundation
import TestSupport
import Testing

@Suite struct GenerateDataTests {
    @Test func aStoreIsMadeAndFilledTheSameWayEachTime() throws {
        let scratch = try Scratch()
        var exports: [String] = []
        for name in ["a.sqlite", "b.sqlite"] {
            let run = try CommandRun.coredata(
                "generate-data", scratch.path(name), "--model", CommandRun.exampleModel, "--count", "Item=300",
                "--count",
                "Unit=6", "--members", "Unit.items=10-20", "--seed", "7", "--json")
            #expect(run.status == 0, "\(run.error)")
            #expect(run.output.hasPrefix(#"{"objects": {"Item": 300, "Unit": 6}, "links": "#))
            exports.append(
                try CommandRun.coredata(
                    "export", scratch.path(name), "--entity", "Item", "--no-ids", "--unique", "Unit.name", "--format",
                    "csv"
                ).output)
        }
        #expect(exports[0] == exports[1] && exports[0].split(separator: "\n").count == 301)
        #expect(try CommandRun.coredata("store", "verify", scratch.path("a.sqlite")).status == 0)
        // Others are made beside those that are there.
        let more = try CommandRun.coredata("generate-data", scratch.path("a.sqlite"), "--count", "Item=1,200")
        #expect(more.status != 0 && more.error.contains("--count takes Entity=number"))
        let added = try CommandRun.coredata("generate-data", scratch.path("a.sqlite"), "--count", "Item=20")
        #expect(added.output.hasPrefix("20 objects made"), "\(added.error)")
        let count = try CommandRun.coredata("query", scratch.path("a.sqlite"), "Item", "--count")
        #expect(count.output == "320\n", "\(count.output)\(count.error)")
    }

    @Test(arguments: [
        (["--count", "Itm=3"], "did you mean 'Item'?"), (["--count", "Location=3"], "is abstract"),
        (["--count", "Item=3", "--members", "Unit.item=1-2"], "did you mean 'items'?"),
        (["--count", "Item=3", "--members", "Unit.items=5-2"], "--members takes"), ([], "--count Item=1000"),
        (["--count", "Item=3", "--batch-size", "0"], "--batch-size takes"),
        (["--count", "Unit=9", "--count", "Item=3", "--members", "Unit.items=1-2"], "needs 1 members for each of 9"),
    ])
    func mistakesAreTold(arguments: [String], message: String) throws {
        let scratch = try Scratch()
        let run = try CommandRun.run(
            CommandRun.executable(),
            ["generate-data", scratch.path("a.sqlite"), "--model", CommandRun.exampleModel] + arguments)
        #expect(run.status != 0 && run.error.contains(message), "\(run.error)")
    }

    @Test func aStoreThatIsNotThereNeedsAModel() throws {
        let scratch = try Scratch()
        let run = try CommandRun.coredata("generate-data", scratch.path("a.sqlite"), "--count", "Item=1")
        #expect(run.status == 2 && run.error.contains("--model"))
        #expect(!FileManager.default.fileExists(atPath: scratch.path("a.sqlite")))
    }
}
