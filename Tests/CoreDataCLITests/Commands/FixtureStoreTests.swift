import Foundation
import TestSupport
import Testing

/// Every store that Apple's tools wrote, through the tool.
@Suite(.enabled(if: Fixtures.isAvailable, "\(Fixtures.missing)"))
struct FixtureStoreTests {
    private static let withModels = [
        ("grocery-dude/DefaultData-5-entities.sqlite", ["Item": 399, "Location": 35, "Unit": 8]),
        ("bookmarks/Bookmarks_V1.sqlite", ["BookmarkEntity": 10]),
        ("bookmarks/Bookmarks_V2.sqlite", ["BookmarkEntity": 10]),
        ("bookmarks/Bookmarks_V4.sqlite", ["BookmarkEntity": 10]),
        ("sample-model/SampleModel_V1.sqlite", ["Car": 125, "SportCar": 10, "Person": 20]),
        ("sample-model/SampleModel_V2.sqlite", ["Car": 125, "LuxuryCar": 5, "Person": 20]),
        ("sample-model-2/SampleModel2_V2.sqlite", ["Book": 3, "Page": 119, "Writer": 1]),
    ]

    /// Objects by entity, subentities included.
    @Test(arguments: Trials.some(of: withModels, atLeast: 2))
    func storeWithAModelIsDescribedSoundAndReadable(store: String, counts: [String: Int]) throws {
        let path = Fixtures.url(store).path
        let info = try CommandRun.coredata("store", "info", path, "--json")
        #expect(info.status == 0, "\(info.error)")
        #expect(info.output.contains("\"hasCachedModel\" : true"))
        let verified = try CommandRun.coredata("store", "verify", path)
        #expect(verified.status == 0, "\(verified.output)")
        for (entity, count) in counts {
            #expect(try CommandRun.coredata("query", path, entity, "--count").output == "\(count)\n", "\(entity)")
            let rows = try CommandRun.coredata("query", path, entity, "--format", "ndjson")
            #expect(rows.lines.count == count, "\(entity): \(rows.error)")
            #expect(rows.error == "")
        }
    }

    @Test(
        arguments: Trials.some(
            of: [
                ("core-data-books/CoreDataBooks.CDBStore", "Book", 11),
                ("recipes/Recipes.sqlite", "Recipe", 7),
                ("twitter-seed/RKSeedDatabase.sqlite", "Tweet", 0),
                ("surf-journal/SurfJournalModel.sqlite", "JournalEntry", 5_000),
            ], atLeast: 2))
    func oldStoreOpensWithItsModel(store: String, entity: String, count: Int) throws {
        let path = Fixtures.url(store).path
        let refused = try CommandRun.coredata("query", path, entity, "--count")
        #expect(refused.status == 2)
        #expect(refused.error.contains("keeps no copy of its model"))
        let fitting = try Self.models(beside: store).compactMap { model -> (String, String)? in
            let run = try CommandRun.coredata("query", path, entity, "--count", "--model", model)
            return run.status == 0 ? (model, run.output) : nil
        }
        let (model, output) = try #require(fitting.first, "no model beside \(store) fits")
        #expect(output == "\(count)\n")
        let rows = try CommandRun.coredata(
            "query", path, entity, "--model", model, "--format", "ndjson", "--limit", "100")
        #expect(rows.lines.count == min(count, 100), "\(rows.error)")
    }

    /// The models in the folder of a fixture, version by version.
    private static func models(beside store: String) -> [String] {
        let root = Fixtures.url(store).deletingLastPathComponent()
        let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".xcdatamodel") || $0.hasSuffix(".mom") }.sorted()
            .map { root.appendingPathComponent($0).path }
    }
}
