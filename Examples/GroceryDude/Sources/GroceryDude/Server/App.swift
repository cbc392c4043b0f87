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
    let synchroniser: Synchroniser
    /// Places that browsers have chosen and that have files already, until the question is answered; by the browser's token.
    var candidates: [String: SyncCandidate] = [:]
    /// Whether browsers may choose the place to synchronise through. If other people reach the server, they could have it write to any
    /// folder of the machine, or to any server. Then only the options of the command line choose.
    let mayChoosePlace: Bool
    let desk: Desk
    /// The parts about synchronisation that open pages got last, by the part's ID.
    var toldSync: [String: String] = [:]
    var toldBadge = Badge(count: 0, label: "0 conflicts")

    var onRestore: (@MainActor (_ backup: String) async throws -> Void)?

    var live: LiveStore { groceries.live }

    var counts: OpenCounts { lists.counts }

    var badges: [String: Badge] { counts.badges.merging([Tab.sync.rawValue: syncBadge]) { $1 } }

    /// Opens the store and what pages show of it.
    ///
    /// - Parameter desk: the server's, since messages outlive an app whose store a backup takes the place of.
    init(
        store url: URL, desk: Desk, mayChoosePlace: Bool = true, progress: ProgressHandler? = nil
    ) async throws {
        self.desk = desk
        self.mayChoosePlace = mayChoosePlace
        groceries = try await Groceries(at: url, progress: progress)
        feed = LiveFeed()
        lists = try LiveLists(groceries, feed)
        thumbnails = try MissingThumbnails(groceries.live, of: "Item", picture: "photo")
        synchroniser = Synchroniser(groceries)
        live.onRollback = { [weak lists = self.lists] in lists?.fetchAgain() }
        synchroniser.onChange = { [weak self] in self?.tellSync(isOtherPhase: $0) }
        synchroniser.resume()
    }

    /// How a server opens the app.
    static func opener(_ store: URL) -> Opener<App> { opener(store, mayChoosePlace: true) }

    static func opener(_ store: URL, mayChoosePlace: Bool) -> Opener<App> {
        Opener {
            try Versions.needMigration(at: store)
        } open: { desk, progress in
            Groceries.adoptBackups(of: store)
            return try await Versions.keepingBackup(of: store) {
                try await App(store: store, desk: desk, mayChoosePlace: mayChoosePlace) {
                    progress($0.fractionCompleted)
                }
            }
        }
    }

    func restore(_ backup: String) async throws {
        await synchroniser.stop()
        try await groceries.backup.restore(backup)
    }

    func close() {
        synchroniser.end()
        feed.close()
        lists.close()
        thumbnails.end()
        groceries.live.close()
    }

    func page(
        _ title: String, _ tab: Tab, live: String? = nil, isDetail: Bool = false, _ content: HTML
    ) -> Page {
        Page(
            site: desk.site, title: title, tab: tab.rawValue, badges: badges, open: counts.open,
            live: Page.Live(list: live ?? "none", position: feed.position), isDetail: isDetail, content: content)
    }

    /// What is not there, or no longer.
    func missing(_ text: String) -> Reply {
        .page(ErrorPage.page(desk.site, 404, text, badges: badges), status: 404)
    }
}
