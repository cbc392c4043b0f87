/// A page: its content, and the navigation around it.
///
///     let page = Page(title: "Item", section: .store, content: "<h1>Item</h1>")
///     return .html(page.html(for: visit))
package struct Page: Sendable {
    package enum Section: String, Sendable {
        case model, store
    }

    /// A link to a page above this one.
    package struct Crumb: Sendable {
        package var title: String
        package var address: Address

        package init(_ title: String, _ address: Address) {
            self.title = title
            self.address = address
        }
    }

    package var title: String
    package var section: Section?
    package var crumbs: [Crumb]
    /// The list at the side of wide screens.
    package var side: HTML?
    /// Whether tables use the whole width of the screen.
    package var isWide: Bool
    /// The content of the main landmark, with one heading of the first level.
    package var content: HTML

    package init(
        title: String, section: Section?, crumbs: [Crumb] = [], side: HTML? = nil, isWide: Bool = false, content: HTML
    ) {
        self.title = title
        self.section = section
        self.crumbs = crumbs
        self.side = side
        self.isWide = isWide
        self.content = content
    }

    package func html(for visit: Visit) -> HTML {
        // The script asks for the content alone.
        if visit.isFragment { return content }
        return html(message: visit.message)
    }

    package func html(message: String? = nil) -> HTML {
        let kind: HTML = side == nil ? "" : " class=sided"
        return """
            <!doctype html>
            <html lang=en>
            <meta charset=utf-8>
            <meta name=viewport content="width=device-width,initial-scale=1">
            <meta name=color-scheme content="light dark">
            <title>\(title) – Studio</title>
            <link rel=icon href="\(Assets.icon)" type="image/svg+xml">
            <link rel=stylesheet href="\(Assets.style)">
            <script src="\(Assets.script)" defer></script>
            <body\(kind)>
            <a class=skip href="#main">Skip to content</a>
            <header class=bar>
            <a class=brand href="/">Studio</a>
            <nav aria-label=Main>\(link(.model, "Model"))\(link(.store, "Store"))</nav>
            <button type=button class=keys data-keys hidden aria-haspopup=dialog>Keys</button>
            </header>
            \(side.map { side -> HTML in "<aside class=side>\(side)</aside>" })
            <main id=main tabindex=-1\(" class=wide", if: isWide)>
            \(trail)
            <div id=message role=status aria-live=polite>\(message.map { text -> HTML in "<p class=message>\(text)</p>" })</div>
            \(content)
            </main>
            <div id=beside hidden></div>
            \(Self.keys)

            """
    }

    private func link(_ section: Section, _ title: HTML) -> HTML {
        let current: HTML = section == self.section ? " aria-current=page" : ""
        return "<a href=\"\(Address(section.rawValue))\"\(current)>\(title)</a>"
    }

    private var trail: HTML {
        guard !crumbs.isEmpty else { return "" }
        let links = crumbs.map { crumb -> HTML in "<li><a href=\"\(crumb.address)\">\(crumb.title)</a>" }
        return "<nav aria-label=Breadcrumbs><ol class=crumbs>\(links)</ol></nav>"
    }

    private static let keys: HTML = """
        <dialog id=keys aria-labelledby=keys-title><h2 id=keys-title>Keys</h2><dl>
        <dt><kbd>/</kbd><dd>Go to the predicate or search field
        <dt><kbd>j</kbd> <kbd>k</kbd><dd>Next and previous row
        <dt><kbd>Enter</kbd><dd>Open the row
        <dt><kbd>n</kbd> <kbd>p</kbd><dd>Next and previous page
        <dt><kbd>g</kbd> <kbd>m</kbd><dd>Go to the model
        <dt><kbd>g</kbd> <kbd>s</kbd><dd>Go to the store
        <dt><kbd>Esc</kbd><dd>Close what is open
        <dt><kbd>?</kbd><dd>This list
        </dl><form method=dialog><button>Close</button></form></dialog>
        """
}
