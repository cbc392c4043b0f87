import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Asks a running server for its pages, as `--check` does.
struct SelfCheck: Sendable {
    let port: Int

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What pages have to have.
    private static let pages = [
        ("/prepare", "<h1>Prepare</h1>"), ("/prepare?q=milk", "Found"), ("/shop", "<h1>Shop</h1>"),
        ("/prepare/clear", "Clear the list?"), ("/items/new", "New item"), ("/items/1", "At home"),
        ("/units", "<h1>Units</h1>"), ("/home-locations", "<h1>Home locations</h1>"),
        ("/shop-locations", "<h1>Shop locations</h1>"), ("/units/1", "Rename"), ("/more", "<h1>More</h1>"),
        ("/settings", "<h1>Settings</h1>"), ("/app.css", "--accent"), ("/app.js", "EventSource"),
        ("/favicon.svg", "<svg"),
    ]

    /// Returns how many pages are sound.
    func run() async throws -> Int {
        let session = URLSession(configuration: .ephemeral)
        for (path, content) in Self.pages {
            guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { continue }
            let (data, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else { throw Failure(description: "\(path) is answered with \(status)") }
            guard String(decoding: data, as: UTF8.self).contains(content) else {
                throw Failure(description: "\(path) has no '\(content)'")
            }
        }
        return Self.pages.count
    }
}
