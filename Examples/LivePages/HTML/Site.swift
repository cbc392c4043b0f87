import Foundation

/// What the pages of an app have in common.
package struct Site: Sendable {
    /// The app's name.
    package let name: HTML
    /// An SVG.
    package let icon: Data
    /// PNGs by the length of their sides, for who installs the app.
    package let icons: [Int: Data]
    /// Where the app begins.
    package let home: String
    package let tabs: [Tab]
    /// The page that makes a new one, for the key `n`.
    package let newPath: String
    /// The pages that show without a connection, as they were last.
    package let kept: [String]
    /// Keys beside those of all apps, and what they do.
    package let keys: [(key: HTML, meaning: HTML)]

    package init(
        name: HTML, icon: Data, icons: [Int: Data], home: String, tabs: [Tab], newPath: String, kept: [String],
        keys: [(key: HTML, meaning: HTML)]
    ) {
        self.name = name
        self.icon = icon
        self.icons = icons
        self.home = home
        self.tabs = tabs
        self.newPath = newPath
        self.kept = kept
        self.keys = keys
    }

    /// A place in the navigation.
    package struct Tab: Sendable {
        /// Where a tab stands on a phone, whose bar at the bottom has room for a few.
        package enum Place: Sendable {
            case everywhere
            /// Where there is room for all.
            case column
            /// On phones, in place of those that find no room.
            case bar
        }

        /// Its address without the slash.
        package let path: String
        package let title: HTML
        package let icon: HTML
        package let place: Place
        /// The name of its badge.
        package let key: String

        package init(path: String, title: HTML, icon: HTML, place: Place = .everywhere, key: String? = nil) {
            self.path = path
            self.key = key ?? path
            self.title = title
            self.icon = icon
            self.place = place
        }
    }
}

/// A number beside a tab.
package struct Badge: Sendable, Equatable {
    package let count: Int
    /// "3 to buy".
    package let label: String

    package init(count: Int, label: String) {
        self.count = count
        self.label = label
    }

    func html(_ tab: String) -> HTML {
        """
        <b class=badge id="badge-\(tab)" data-part aria-label="\(label)"\(" hidden", if: count == 0)>\(count)</b>
        """
    }
}

/// What all pages show that follows the data: badges, the number in the title, and pieces of pages by their IDs.
package struct LiveParts: Encodable, Equatable, Sendable {
    /// The number before the title.
    package let title: Int
    /// Markup by the ID of the element that it replaces, where a page has it; each has the attribute `data-part`.
    package let parts: [String: String]
    /// The beginning of the names of the lists whose pages they are for; `nil` for all pages.
    package let list: String?

    package init(title: Int, badges: [String: Badge], parts: [String: HTML] = [:], list: String? = nil) {
        self.title = title
        self.list = list
        var all = parts.mapValues(\.text)
        for (tab, badge) in badges { all["badge-\(tab)"] = badge.html(tab).text }
        self.parts = all
    }
}
