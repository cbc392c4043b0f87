import CoreDataAccounts
import Foundation
import LivePages

/// The pages of a list.
enum ListTab: String {
    case prepare, shop

    /// The page from which an item was opened, as its address tells.
    static func origin(of visit: Visit) -> ListTab { visit.query["from"] == "shop" ? .shop : .prepare }

    /// Behind the address of an item that was opened from this page: Back refers to it.
    var query: HTML { self == .shop ? "?from=shop" : "" }

    var title: HTML { self == .shop ? "Shop" : "Prepare" }
}

/// Where a page belongs: the household and the list that its navigation is about.
struct Frame {
    var household: Membership?
    var list: ListView?

    static let none = Frame()

    /// The address of a page of the list, without the slash.
    @MainActor func path(_ tab: ListTab) -> String {
        list.map { "lists/\($0.id.path)/\(tab.rawValue)" } ?? "households"
    }

    /// The address of a page of the household, without the slash.
    func path(_ page: String) -> String { household.map { "households/\($0.groupID.path)/\(page)" } ?? "households" }

    /// The navigation of the page.
    @MainActor var site: Site {
        var tabs: [Site.Tab] = []
        if let list {
            tabs.append(.init(path: path(.prepare), title: "Prepare", icon: Icon.prepare))
            tabs.append(.init(path: path(.shop), title: "Shop", icon: Icon.cart, key: "shop"))
            for kind in PlaceKind.allCases {
                tabs.append(.init(path: path(kind.rawValue), title: kind.markup, icon: kind.icon, place: .column))
            }
            tabs.append(.init(path: path("history"), title: "Who did what", icon: Icon.clock, place: .column))
            tabs.append(.init(path: "households", title: "Households", icon: Icon.house, place: .column))
            tabs.append(.init(path: "account", title: "Account", icon: Icon.person, place: .column))
            tabs.append(.init(path: "lists/\(list.id.path)/more", title: "More", icon: Icon.more, place: .bar))
        } else {
            tabs = Site.groceryCloud.tabs
        }
        let home = list == nil ? "/households" : "/\(path(.prepare))"
        return Site(
            name: "Grocery Cloud", icon: Site.groceryCloud.icon, icons: Site.groceryCloud.icons, home: home, tabs: tabs,
            newPath: list.map { "/lists/\($0.id.path)/items/new" } ?? "/households",
            kept: list == nil ? [] : ["/\(path(.prepare))", "/\(path(.shop))"], keys: Site.groceryCloud.keys)
    }
}

extension Site {
    /// What shows where there is no list.
    static let groceryCloud = Site(
        name: "Grocery Cloud", icon: OwnFiles.data("favicon.svg"),
        icons: [192: OwnFiles.data("icon-192.png"), 512: OwnFiles.data("icon-512.png")], home: "/",
        tabs: [
            .init(path: "households", title: "Households", icon: Icon.house),
            .init(path: "account", title: "Account", icon: Icon.person),
        ],
        newPath: "/", kept: [], keys: [("n", "New item"), ("Space", "Tick")])
}

/// Files that come with the app.
enum OwnFiles {
    static func data(_ name: String) -> Data {
        Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Assets")
            .flatMap { try? Data(contentsOf: $0) } ?? Data()
    }
}

extension PlaceKind {
    var markup: HTML {
        switch self {
        case .unit: "Units"
        case .home: "Home locations"
        case .shop: "Shop locations"
        }
    }

    var icon: HTML {
        switch self {
        case .unit: Icon.svg("<path d=\"M4 8h16v8H4zM8 8v4M12 8v5M16 8v4\"/>")
        case .home: Icon.svg("<path d=\"M4 11l8-7 8 7M6 10v10h12V10\"/>")
        case .shop: Icon.svg("<path d=\"M5 10v10h14V10M3 10l2-6h14l2 6zM10 20v-5h4v5\"/>")
        }
    }

    /// What a new one might be called.
    var example: String {
        switch self {
        case .unit: "kg"
        case .home: "Fridge"
        case .shop: "Dairy"
        }
    }
}

extension Icon {
    static let prepare = svg("<path d=\"M4 6h2M4 12h2M4 18h2M10 6h10M10 12h10M10 18h10\"/>")
    static let cart = svg(
        "<path d=\"M3 4h2l2.4 11h10.2L20 7H6\"/><circle cx=9 cy=19 r=1.5 /><circle cx=16 cy=19 r=1.5 />")
    static let house = svg("<path d=\"M4 11l8-7 8 7M6 10v10h12V10M10 20v-6h4v6\"/>")
    static let person = svg("<circle cx=12 cy=8 r=4 /><path d=\"M4 21c0-5 4-7 8-7s8 2 8 7\"/>")
    static let clock = svg("<circle cx=12 cy=12 r=9 /><path d=\"M12 7v5l3 3\"/>")
    static let more = svg("<circle cx=5 cy=12 r=1.5 /><circle cx=12 cy=12 r=1.5 /><circle cx=19 cy=12 r=1.5 />")
}
