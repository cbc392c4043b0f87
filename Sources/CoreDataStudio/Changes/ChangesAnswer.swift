import CoreDataStoreTools
import Foundation

/// The answer to a page that watches the store: the state of its files, which differs after a write of any process.
struct ChangesAnswer: Sendable {
    let browser: StoreBrowser

    private struct State: Encodable {
        /// `nil` for a store on a server: the page then reads itself again each time.
        var stamp: String?
    }

    func response(_ visit: Visit) async throws -> StudioResponse {
        try .json(State(stamp: StoreStamp(of: browser.url)?.text))
    }
}
