/// A page: what is around its content, and what its script needs to know.
package struct Page {
    /// Which list's changes the page shows, and up to where it has seen them.
    package struct Live {
        let list: String
        let position: String

        package init(list: String, position: String) {
            self.list = list
            self.position = position
        }
    }

    package var site: Site
    package var title: String
    /// The path of the tab where the page belongs in the navigation.
    package var tab: String
    /// By the key of the tab.
    package var badges: [String: Badge]
    /// The number before the title.
    package var open: Int
    package var live: Live?
    /// Whether the page can stand beside a list.
    package var isDetail: Bool
    /// Whether the page is read again every second.
    package var refreshes: Bool
    package var hasNavigation: Bool
    /// The content of the main landmark, with one heading of the first level.
    package var content: HTML

    package init(
        site: Site, title: String, tab: String, badges: [String: Badge] = [:], open: Int = 0, live: Live? = nil,
        isDetail: Bool = false, refreshes: Bool = false, hasNavigation: Bool = true, content: HTML
    ) {
        self.site = site
        self.title = title
        self.tab = tab
        self.badges = badges
        self.open = open
        self.live = live
        self.isDetail = isDetail
        self.refreshes = refreshes
        self.hasNavigation = hasNavigation
        self.content = content
    }

    /// Where the page's forms carry the token.
    package static func token(_ token: String) -> HTML { "<input type=hidden name=token value=\"\(token)\">" }

    /// A key that is made with the page, for a form that adds something: sent twice, it adds once; see ``RecentAnswers``.
    package static var once: HTML { "<input type=hidden name=once value=\"\(Secret.make())\">" }

    package func html(_ visit: Visit) -> HTML {
        let open: HTML = open > 0 ? "(\(open)) " : ""
        let live: HTML =
            live.map { " data-list=\"\($0.list)\" data-at=\"\($0.position)\" data-stream=\"\(Assets.stream)\"" } ?? ""
        return """
            <!doctype html>
            <html lang=en>
            <meta charset=utf-8>
            <meta name=viewport content="width=device-width,initial-scale=1,viewport-fit=cover">
            <meta name=color-scheme content="light dark">
            \("<meta http-equiv=refresh content=1>", if: refreshes)<title>\(open)\(title) – \(site.name)</title>
            <meta name=theme-color content="#1f7a4d">
            <link rel=icon href=/favicon.svg type=image/svg+xml>
            <link rel=apple-touch-icon href=/icon-192.png>
            <link rel=manifest href=/manifest.webmanifest>
            <link rel=stylesheet href="\(Assets.style)">
            <script src="\(Assets.script)" defer></script>
            <script src="\(Assets.keeper)" defer></script>
            <body\(live) data-home="\(site.home)" data-new="\(site.newPath)" data-keep="\(site.kept.joined(separator: " "))"\(" data-detail", if: isDetail)>
            <a class=skip href=#main>Skip to content</a>
            \(navigation, if: hasNavigation)
            <main id=main tabindex=-1>
            \(content)
            </main>
            <p id=offline class=bar hidden role=status>No connection. Changes show when it is back.<span id=waiting></span></p>
            <div id=flash role=status aria-live=polite>\(visit.flash.map { Self.flash($0, token: visit.token) })</div>
            <p id=news class=sr aria-live=polite></p>
            <form id=undo method=post action=/undo hidden>\(Self.token(visit.token))</form>
            <dialog id=keys aria-labelledby=keys-title>\(keys)</dialog>

            """
    }

    private var navigation: HTML {
        """
        <nav aria-label=Main>
        <p class=brand>\(Icon.logo) \(site.name)</p>
        \(site.tabs.map(link))
        </nav>
        """
    }

    private func link(_ tab: Site.Tab) -> HTML {
        let isHere = tab.path == self.tab
        let isBehind = tab.place == .bar && site.tabs.contains { $0.path == self.tab && $0.place == .column }
        let current: HTML = isHere ? " aria-current=page" : isBehind ? " class=here" : ""
        let place: HTML = tab.place == .bar ? " data-bar=only" : tab.place == .column ? " data-bar=no" : ""
        let badge: HTML = badges[tab.key].map { " \($0.html(tab.key))" } ?? ""
        return "<a href=\"/\(tab.path)\"\(current)\(place)>\(tab.icon)<span>\(tab.title)</span>\(badge)</a>\n"
    }

    /// A message, with Undo where there is something to undo.
    package static func flash(_ flash: Flash, token: String) -> HTML {
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

    private var keys: HTML {
        """
        <h2 id=keys-title>Keys</h2>
        <dl>
        <dt><kbd>/</kbd><dd>Search
        \(site.keys.map { "<dt><kbd>\($0.key)</kbd><dd>\($0.meaning)\n" as HTML })<dt><kbd>↑</kbd> <kbd>↓</kbd><dd>Move through the list
        <dt><kbd>o</kbd><dd>Open
        <dt><kbd>Delete</kbd><dd>Delete, or take off the list
        <dt><kbd>Ctrl</kbd> <kbd>Z</kbd><dd>Undo
        <dt><kbd>Ctrl</kbd> <kbd>Shift</kbd> <kbd>Z</kbd><dd>Redo
        <dt><kbd>?</kbd><dd>This list
        </dl>
        <form method=dialog><button>Close</button></form>
        """
    }
}

/// Numbers of things, in words.
package enum Count {
    package static func of(_ count: Int, _ noun: String) -> String { count == 1 ? "1 \(noun)" : "\(count) \(noun)s" }
}
