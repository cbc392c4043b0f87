import Foundation
import Hummingbird

/// The app behind its pages.
@MainActor final class App {
    let groceries: Groceries
    let feed: LiveFeed
    let lists: LiveLists
    let desk: Desk

    /// Puts a backup in the place of the store; whoever serves the app does it.
    var onRestore: (@MainActor (URL) async throws -> Void)?

    var counts: OpenCounts { lists.counts }

    /// Opens the store and what pages show of it.
    ///
    /// - Parameter desk: the server's, since messages outlive an app whose store a backup takes the place of.
    init(store url: URL, desk: Desk) throws {
        self.desk = desk
        groceries = try Groceries(at: url)
        feed = LiveFeed()
        lists = try LiveLists(groceries, feed)
    }

    func close() {
        feed.close()
        lists.close()
        groceries.close()
    }

    func page(_ title: String, _ tab: Page.Tab, live: String? = nil, _ content: HTML) -> Page {
        Page(
            title: title, tab: tab, counts: counts,
            live: Page.Live(list: live ?? "none", position: feed.position), content: content)
    }
}
