import Foundation
import Hummingbird

/// What shows while a store of an older version is brought to the present one.
@MainActor struct OpeningPages {
    private let opening: Opening
    private let desk: Desk

    init(_ opening: Opening, _ desk: Desk) {
        self.opening = opening
        self.desk = desk
    }

    func addPages(to router: Router<BasicRequestContext>) {
        let (opening, home) = (opening, desk.site.home)
        for path in ["/", "/:a", "/:a/:b"] { desk.get(router, RouterPath(path)) { self.page($0) } }
        desk.post(router, "/migration/cancel") { _ in
            opening.cancel()
            return .redirect(home)
        }
        desk.post(router, "/migration/again") { _ in
            opening.begin()
            return .redirect(home)
        }
    }

    private func page(_ visit: Visit) -> Reply {
        let percent = Int(opening.progress * 100)
        let token = Page.token(visit.token)
        let content: HTML
        switch opening.state {
        case .running, .done:
            content = """
                <h1>Bringing your list up to date</h1>
                <p>It was made by an older version of \(desk.site.name).</p>
                <p><progress max=100 value=\(percent) aria-label=Progress></progress> \(percent) %</p>
                <form method=post action=/migration/cancel>\(token)<button>Cancel</button></form>
                """
        case .cancelled:
            content = """
                <h1>Cancelled</h1><p>Your list is as it was. It has to be brought up to date before it can be shown.</p>
                <form method=post action=/migration/again>\(token)<button class=main>Begin again</button></form>
                """
        case .failed:
            content = """
                <h1>That did not work</h1><p>Your list is as it was. The server's log has the reason.</p>
                <form method=post action=/migration/again>\(token)<button class=main>Try again</button></form>
                """
        }
        let isBusy = opening.state == .running || opening.state == .done
        return .page(
            Page(
                site: desk.site, title: "One moment", tab: "", refreshes: isBusy, hasNavigation: false,
                content: "<div class=card>\(content)</div>"), status: 503)
    }
}
