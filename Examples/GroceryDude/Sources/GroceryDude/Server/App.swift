import CoreDataToolkit
import Foundation
import Hummingbird
import LivePages

/// The app behind its pages.
@MainActor final class App: WebApp {
    let groceries: Groceries
    let feed: LiveFeed
    let lists: LiveLists
    private let thumbnails: MissingThumbnails
    let desk: Desk

    var onRestore: (@MainActor (_ backup: String) async throws -> Void)?

    var live: LiveStore { groceries.live }

    var counts: OpenCounts { lists.counts }

    /// Opens the store and what pages show of it.
    ///
    /// - Parameter desk: the server's, since messages outlive an app whose store a backup takes the place of.
    init(store url: URL, desk: Desk, progress: ProgressHandler? = nil) async throws {
        self.desk = desk
        groceries = try await Groceries(at: url, progress: progress)
        feed = LiveFeed()
        lists = try LiveLists(groceries, feed)
        thumbnails = try MissingThumbnails(groceries.live, of: "Item", picture: "photo")
        live.onRollback = { [weak lists = self.lists] in lists?.fetchAgain() }
    }

    /// How a server opens the app.
    static func opener(_ store: URL) -> Opener<App> {
        Opener {
            try Versions.needMigration(at: store)
        } open: { desk, progress in
            Groceries.adoptBackups(of: store)
            return try await Versions.keepingBackup(of: store) {
                try await App(store: store, desk: desk) { progress($0.fractionCompleted) }
            }
        }
    }

    func restore(_ backup: String) async throws { try await groceries.backup.restore(backup) }

    func close() {
        feed.close()
        lists.close()
        thumbnails.end()
        groceries.live.close()
    }

    func page(
        _ title: String, _ tab: Tab, live: String? = nil, isDetail: Bool = false, _ content: HTML
    ) -> Page {
        Page(
            site: desk.site, title: title, tab: tab.rawValue, badges: counts.badges, open: counts.open,
            live: Page.Live(list: live ?? "none", position: feed.position), isDetail: isDetail, content: content)
    }

    /// What is not there, or no longer.
    func missing(_ text: String) -> Reply {
        .page(ErrorPage.page(desk.site, 404, text, badges: counts.badges), status: 404)
    }
}
