import CoreData
import Foundation

/// The exact number of a query's objects, which the script fills in after the page.
struct CountText: Sendable {
    let browser: StoreBrowser
    let query: RowQuery

    func response() async throws -> StudioResponse {
        let (browser, query) = (browser, query)
        let count = try await browser.read { context in
            try browser.fetch(query, of: try browser.entity(query.entity), in: context).count(limit: 0)
        }
        return .html("\(GroupedNumber.text(count, "object"))")
    }
}
