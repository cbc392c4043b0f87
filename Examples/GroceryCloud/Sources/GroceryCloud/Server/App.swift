import CoreData
import CoreDataAccounts
import CoreDataService
import Foundation
import Hummingbird
import LivePages

/// The app behind its pages: accounts and households of the service, and a store that each account sees through its own context.
@MainActor final class App: ServedApp {
    let store: CloudStore
    let accounts: Accounts
    let views: AccountViews
    let cookies: SessionCookies
    let desk: Desk
    let settings: CloudSettings
    private let service: EmbeddedService
    /// Households whose objects are deleted.
    private var purged: Set<UUID> = []

    var onRestore: (@MainActor (_ backup: String) async throws -> Void)?
    var sharedStore: LiveStore? { nil }

    init(store url: URL, _ settings: CloudSettings, desk: Desk) async throws {
        self.desk = desk
        self.settings = settings
        store = try await Task.detached { try CloudStore(at: url) }.value
        do { accounts = try Accounts(at: settings.accountsStore, settings: settings.accounts) } catch {
            store.close()
            throw error
        }
        let isBehindProxy = settings.publicAddress != nil
        service = try EmbeddedService(
            coordinator: store.coordinator, store: store.store, rules: store.rules, accounts: accounts,
            name: "Grocery Cloud", isBehindProxy: isBehindProxy)
        views = AccountViews(store, accounts)
        cookies = SessionCookies(accounts: accounts, usesTLS: isBehindProxy)
        desk.sessions = cookies
        desk.isBehindProxy = isBehindProxy
        // What a crash has left of households that were deleted.
        try await purge()
    }

    /// How a server opens the app.
    static func opener(_ store: URL, _ settings: CloudSettings) -> Opener<App> {
        Opener {
            false
        } open: { desk, _ in
            try await App(store: store, settings, desk: desk)
        }
    }

    /// What answers programs: the REST interface of the service, with the same accounts and the same rules.
    var interface: ProgrammingInterface? {
        let service = service
        return { [weak self] request, source in
            guard EmbeddedService.answers(request.uri.path) else { return nil }
            let response = try await service.respond(to: request, source: source)
            let path = request.uri.path
            if request.method != .get, request.method != .head, !path.hasPrefix("/api") {
                // Accounts and households may be other ones by now.
                await self?.views.check()
            }
            if path == "/accounts/me/deletion" || path.hasPrefix("/groups/") && request.method == .delete {
                try await self?.purge()
            }
            return response
        }
    }

    /// Deletes the objects of households that were deleted.
    func purge() async throws {
        let new = try await accounts.deletedGroups().subtracting(purged)
        try await store.purge(new)
        purged.formUnion(new)
    }

    func restore(_ backup: String) async throws {}

    func beat() { views.beat() }

    func endStreams() { views.endAll() }

    func close() {
        views.close()
        store.close()
    }

    // MARK: Pages

    func page(
        _ title: String, _ tab: String, in frame: Frame, live: String? = nil, isDetail: Bool = false,
        view: AccountView?, _ content: HTML
    ) -> Page {
        let counts = frame.list?.counts
        return Page(
            site: frame.site, title: title, tab: tab, badges: counts?.badges ?? [:], open: counts?.open ?? 0,
            live: view.map { Page.Live(list: live ?? "none", position: $0.feed.position) }, isDetail: isDetail,
            content: content)
    }

    /// A page for visitors who are not signed in.
    func openPage(_ title: String, status: Int = 200, _ content: HTML) -> Reply {
        .page(
            Page(site: .groceryCloud, title: title, tab: "", hasNavigation: false, content: content), status: status)
    }

    /// What does not exist, or not for this account: the answers are the same.
    func missing(_ text: String) -> Reply { .page(ErrorPage.page(.groceryCloud, 404, text), status: 404) }

    /// The answer if the object was deleted after the page was made.
    static let gone = Flash(kind: .problem, text: "Another user has deleted this meanwhile.")
}
