import Foundation
import LivePages

/// Where a page belongs.
enum Tab: String, CaseIterable {
    case movies, shared, friends

    var title: HTML {
        switch self {
        case .movies: "Movies"
        case .shared: "Shared"
        case .friends: "Friends"
        }
    }

    var icon: HTML {
        switch self {
        case .movies: Icon.svg("<path d=\"M4 5h16v14H4zM8 5v14M16 5v14M4 9h4M4 14h4M16 9h4M16 14h4\"/>")
        case .shared: Icon.svg("<path d=\"M4 12h13M12 6l6 6-6 6\"/>")
        case .friends: Icon.svg("<circle cx=12 cy=8 r=4 /><path d=\"M4 20c1-4 4-6 8-6s7 2 8 6\"/>")
        }
    }
}

extension Site {
    static let myMovies = Site(
        name: "MyMovies",
        icon: asset("favicon.svg"), icons: [192: asset("icon-192.png"), 512: asset("icon-512.png")],
        home: "/movies",
        tabs: MyMovies.Tab.allCases.map { Tab(path: $0.rawValue, title: $0.title, icon: $0.icon) },
        newPath: "/movies/new", kept: ["/movies", "/shared"], keys: [("n", "New movie"), ("Space", "It came back")])

    /// A file that comes with the app.
    private static func asset(_ name: String) -> Data {
        Bundle.module.url(forResource: name, withExtension: nil, subdirectory: "Assets")
            .flatMap { try? Data(contentsOf: $0) } ?? Data()
    }
}
