import CoreData
import CoreDataModel
import CoreDataStudio
import Foundation
import TestSupport
import Testing

/// Pages of a store with a million rows; the test prints what they take.
@Suite(.enabled(if: Trials.isLong, "a million rows are made: set COREDATA_LONG_TESTS=1")) struct MillionRowsTests {
    private static let model = TestSupport.model(
        entity("Row", attribute("name"), attribute("number", .integer64), attribute("note"))
            .with { entity in
                for name in ["name", "number"] {
                    var index = FetchIndexElement(name: "by\(name)")
                    index.elements = [.init(propertyName: name)]
                    entity.fetchIndexes.append(index)
                }
            })

    @Test func pagesFarFromTheBeginningAreFast() async throws {
        let store = try StudioStore.make(Self.model) { context in
            var index = 0
            let request = NSBatchInsertRequest(
                entityName: "Row",
                dictionaryHandler: { row in
                    guard index < 1_000_000 else { return true }
                    row["name"] = "row \(index % 100_000)"
                    row["number"] = index / 2
                    row["note"] = "note \(index)"
                    index += 1
                    return false
                })
            try context.execute(request)
        }
        let client = try await StudioStore.client(store)
        _ = try await client.get("/store")
        for address in [
            "/store/rows/Row", "/store/rows/Row?last=1", "/store/rows/Row?after=500000",
            "/store/rows/Row?sort=name&after=1:row+50000", "/store/rows/Row?sort=-number&after=1:250000",
            "/store/rows/Row?sort=name&last=1", "/store/rows/Row?where=number+%3E+400000&sort=number",
        ] {
            var best = Duration.seconds(60)
            for _ in 0..<3 {
                let start = ContinuousClock.now
                let page = try await client.get(address)
                best = min(best, ContinuousClock.now - start)
                #expect(page.status == 200 && page.text.matches(of: #/<tr data-row=/#).count == 50)
            }
            print("\(address): \(best)")
        }
    }
}
