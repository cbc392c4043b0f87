import Foundation
import Hummingbird

/// What shows while a store of an older version is brought to the present one.
@MainActor final class MigrationPages {
    private let migration: Migration
    private let desk: Desk
    private let again: @MainActor () -> Void

    init(_ migration: Migration, _ desk: Desk, again: @escaping @MainActor () -> Void) {
        self.migration = migration
        self.desk = desk
        self.again = again
    }

    func router(_ hosts: Set<String>) -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: Guard(hosts: hosts))
        desk.addFiles(to: router)
        for path in ["/", "/:a", "/:a/:b"] { desk.get(router, RouterPath(path)) { self.page($0) } }
        desk.post(router, "/migration/cancel") { _ in
            self.migration.cancel()
            return .redirect("/prepare")
        }
        desk.post(router, "/migration/again") { _ in
            if self.migration.status.state != .running { self.again() }
            return .redirect("/prepare")
        }
        return router
    }

    private func page(_ visit: Visit) -> Reply {
        let status = migration.status
        let percent = Int(status.progress * 100)
        let token = Page.token(visit.token)
        let content: HTML
        switch status.state {
        case .running, .done:
            content = """
                <h1>Bringing your list up to date</h1>
                <p>It was made by an older version of Grocery Dude. \(status.step)</p>
                <p><progress max=100 value=\(percent) aria-label=Progress></progress> \(percent) %</p>
                <form method=post action=/migration/cancel>\(token)<button>Cancel</button></form>
                """
        case .cancelled:
            content = """
                <h1>Cancelled</h1><p>Your list is as it was. It has to be brought up to date before it can be shown.</p>
                <form method=post action=/migration/again>\(token)<button class=main>Begin again</button></form>
                """
        case .failed(let reason):
            content = """
                <h1>That did not work</h1><p>Your list is as it was. \(reason)</p>
                <form method=post action=/migration/again>\(token)<button class=main>Try again</button></form>
                """
        }
        let isBusy = status.state == .running || status.state == .done
        return .page(
            Page(
                title: "One moment", tab: .more, refreshes: isBusy, hasNavigation: false,
                content: "<div class=card>\(content)</div>"), status: 503)
    }
}
