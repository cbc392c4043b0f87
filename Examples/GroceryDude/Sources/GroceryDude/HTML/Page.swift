/// A page: what is around its content, and what its script needs to know.
struct Page {
    /// Where the page belongs in the navigation.
    enum Tab: String, CaseIterable {
        case prepare, shop, units
        case homeLocations = "home-locations"
        case shopLocations = "shop-locations"
        case backups
        case settings, more

        static func of(_ kind: PlaceKind) -> Tab { Tab(rawValue: kind.rawValue) ?? .more }

        var title: HTML {
            switch self {
            case .prepare: "Prepare"
            case .shop: "Shop"
            case .units: "Units"
            case .homeLocations: "Home locations"
            case .shopLocations: "Shop locations"
            case .backups: "Backups"
            case .settings: "Settings"
            case .more: "More"
            }
        }

        /// Whether it stands in the bar at the bottom of a phone.
        var isInBar: Bool { self == .prepare || self == .shop || self == .more }
    }

    /// Which list's changes the page shows, and up to where it has seen them.
    struct Live {
        let list: String
        let position: String
    }

    var title: String
    var tab: Tab
    var counts = OpenCounts()
    var live: Live?
    /// Whether the page is read again every second.
    var refreshes = false
    var hasNavigation = true
    /// The content of the main landmark, with one heading of the first level.
    var content: HTML
    /// Where the page's forms carry the token.
    static func token(_ token: String) -> HTML { "<input type=hidden name=token value=\"\(token)\">" }

    func html(_ visit: Visit) -> HTML {
        let open: HTML = counts.open > 0 ? "(\(counts.open)) " : ""
        let live: HTML = live.map { " data-list=\"\($0.list)\" data-at=\"\($0.position)\"" } ?? ""
        return """
            <!doctype html>
            <html lang=en>
            <meta charset=utf-8>
            <meta name=viewport content="width=device-width,initial-scale=1,viewport-fit=cover">
            <meta name=color-scheme content="light dark">
            \("<meta http-equiv=refresh content=1>", if: refreshes)<title>\(open)\(title) – Grocery Dude</title>
            <link rel=icon href=/favicon.svg type=image/svg+xml>
            <link rel=stylesheet href="\(Assets.style)">
            <script src="\(Assets.script)" defer></script>
            <body\(live)>
            <a class=skip href=#main>Skip to content</a>
            \(navigation, if: hasNavigation)
            <main id=main tabindex=-1>
            \(content)
            </main>
            <p id=offline class=bar hidden role=status>No connection. Changes show when it is back.</p>
            <div id=flash role=status aria-live=polite>\(visit.flash.map { Self.flash($0, token: visit.token) })</div>
            <p id=news class=sr aria-live=polite></p>
            <form id=undo method=post action=/undo hidden>\(Self.token(visit.token))</form>
            <dialog id=keys aria-labelledby=keys-title>\(Self.keys)</dialog>

            """
    }

    private var navigation: HTML {
        """
        <nav aria-label=Main>
        <p class=brand>\(Icon.logo) Grocery Dude</p>
        \(Tab.allCases.map(link))
        </nav>
        """
    }

    private func link(_ tab: Tab) -> HTML {
        let isHere = tab == self.tab || tab == .more && !self.tab.isInBar
        let current: HTML = tab == self.tab ? " aria-current=page" : isHere ? " class=here" : ""
        let place: HTML = tab == .more ? " data-bar=only" : tab.isInBar ? "" : " data-bar=no"
        let badge: HTML =
            tab == .shop
            ? " <b class=badge id=open aria-label=\"\(counts.open) to buy\"\(" hidden", if: counts.open == 0)>\(counts.open)</b>"
            : ""
        return "<a href=\"/\(tab.rawValue)\"\(current)\(place)>\(Icon.of(tab))<span>\(tab.title)</span>\(badge)</a>\n"
    }

    /// A message, with Undo where there is something to undo.
    static func flash(_ flash: Flash, token: String) -> HTML {
        var action: HTML = ""
        if let step = flash.step {
            action = """
                <form method=post action=/undo>\(Self.token(token))\
                <input type=hidden name=step value=\(step)><button class=link>Undo</button></form>
                """
        } else if flash.redo {
            action = "<form method=post action=/redo>\(Self.token(token))<button class=link>Redo</button></form>"
        }
        let kind: HTML = flash.kind == .problem ? "problem" : "done"
        return "<div class=\"flash \(kind)\"><span>\(flash.text)</span>\(action)</div>"
    }

    private static let keys: HTML = """
        <h2 id=keys-title>Keys</h2>
        <dl>
        <dt><kbd>/</kbd><dd>Search
        <dt><kbd>n</kbd><dd>New item
        <dt><kbd>↑</kbd> <kbd>↓</kbd><dd>Move through the list
        <dt><kbd>Space</kbd><dd>Tick
        <dt><kbd>Enter</kbd><dd>Open
        <dt><kbd>Delete</kbd><dd>Delete
        <dt><kbd>Ctrl</kbd> <kbd>Z</kbd><dd>Undo
        <dt><kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>Z</kbd><dd>Redo
        <dt><kbd>?</kbd><dd>This list
        </dl>
        <form method=dialog><button>Close</button></form>
        """
}
