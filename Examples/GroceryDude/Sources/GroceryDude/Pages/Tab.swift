import Foundation
import LivePages

/// Where a page belongs.
enum Tab: String, CaseIterable {
    case prepare, shop, units
    case homeLocations = "home-locations"
    case shopLocations = "shop-locations"
    case sync, backups
    case settings, more

    static func of(_ kind: PlaceKind) -> Tab { Tab(rawValue: kind.rawValue) ?? .more }

    var title: HTML {
        switch self {
        case .prepare: "Prepare"
        case .shop: "Shop"
        case .units: "Units"
        case .homeLocations: "Home locations"
        case .shopLocations: "Shop locations"
        case .sync: "Sync"
        case .backups: "Backups"
        case .settings: "Settings"
        case .more: "More"
        }
    }

    /// The list from which an item was opened, as its address tells.
    static func origin(of visit: Visit) -> Tab { visit.query["from"] == "shop" ? .shop : .prepare }

    /// Behind the address of an item that was opened from this list: Back leads to it again.
    var query: HTML { self == .shop ? "?from=shop" : "" }

    /// Whether it stands in the bar at the bottom of a phone.
    var isInBar: Bool { self == .prepare || self == .shop || self == .more }

    var icon: HTML {
        switch self {
        case .prepare: Icon.svg("<path d=\"M4 6h2M4 12h2M4 18h2M10 6h10M10 12h10M10 18h10\"/>")
        case .shop:
            Icon.svg("<path d=\"M3 4h2l2.4 11h10.2L20 7H6\"/><circle cx=9 cy=19 r=1.5 /><circle cx=16 cy=19 r=1.5 />")
        case .units: Icon.svg("<path d=\"M4 8h16v8H4zM8 8v4M12 8v5M16 8v4\"/>")
        case .homeLocations: Icon.svg("<path d=\"M4 11l8-7 8 7M6 10v10h12V10\"/>")
        case .shopLocations: Icon.svg("<path d=\"M5 10v10h14V10M3 10l2-6h14l2 6zM10 20v-5h4v5\"/>")
        case .sync:
            Icon.svg("<path d=\"M20 12a8 8 0 0 1-14.5 4.6M4 12a8 8 0 0 1 14.5-4.6M18.5 3v4.4h-4.4M5.5 21v-4.4h4.4\"/>")
        case .backups: Icon.svg("<path d=\"M4 5h16v4H4zM6 9v11h12V9M10 13h4\"/>")
        case .settings:
            Icon.svg("<path d=\"M4 7h10M18 7h2M4 17h2M10 17h10\"/><circle cx=16 cy=7 r=2 /><circle cx=8 cy=17 r=2 />")
        case .more:
            Icon.svg("<circle cx=5 cy=12 r=1.5 /><circle cx=12 cy=12 r=1.5 /><circle cx=19 cy=12 r=1.5 />")
        }
    }
}

extension Site {
    static let groceryDude = Site(
        name: "Grocery Dude", icon: OwnFiles.data("favicon.svg"),
        icons: [192: OwnFiles.data("icon-192.png"), 512: OwnFiles.data("icon-512.png")], home: "/prepare",
        tabs: GroceryDude.Tab.allCases.map { tab in
            Site.Tab(
                path: tab.rawValue, title: tab.title, icon: tab.icon,
                place: tab == .more ? .bar : tab.isInBar ? .everywhere : .column)
        },
        newPath: "/items/new", kept: ["/prepare", "/shop"], keys: [("n", "New item"), ("Space", "Tick")])
}

/// Files that come with the app.
enum OwnFiles {
    static func url(_ name: String) -> URL? {
        Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Assets")
    }

    static func data(_ name: String) -> Data { url(name).flatMap { try? Data(contentsOf: $0) } ?? Data() }
}
