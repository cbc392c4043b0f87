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
    let pages: [(path: String, content: String)]

    /// Returns how many pages are sound.
    func run() async throws -> Int {
        let session = URLSession(configuration: .ephemeral)
        for (path, content) in pages {
            guard let url = URL(string: "http://127.0.0.1:\(port)\(path)") else { continue }
            let (data, response) = try await session.data(from: url)
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            guard status == 200 else { throw Failure(description: "\(path) is answered with \(status)") }
            guard String(decoding: data, as: UTF8.self).contains(content) else {
                throw Failure(description: "\(path) has no '\(content)'")
            }
        }
        return pages.count
    }
}
