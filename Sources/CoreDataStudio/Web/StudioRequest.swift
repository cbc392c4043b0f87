import Foundation

/// A request of a browser, as the program that owns the socket read it.
///
///     let request = StudioRequest(method: "GET", target: "/store?page=2", headers: [("Host", "127.0.0.1:8086")])
public struct StudioRequest: Sendable {
    /// `GET`, `HEAD` or `POST`.
    public var method: String
    /// The path, with its percent escapes.
    public var path: String
    /// The text behind the question mark, with its percent escapes.
    public var query: String
    /// The content of a form.
    public var body: Data
    private var headers: [String: String]

    /// Makes a request.
    ///
    /// - Parameters:
    ///   - target: the path and the query, as the first line of a request has them.
    ///   - headers: names match in any case; of several fields with one name the last counts.
    public init(
        method: String, target: String, headers: some Sequence<(name: String, value: String)>, body: Data = Data()
    ) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        query = parts.count > 1 ? String(parts[1]) : ""
        self.headers = Dictionary(headers.map { ($0.name.lowercased(), $0.value) }, uniquingKeysWith: { $1 })
        self.body = body
    }

    /// Returns the value of a header field.
    public func header(_ name: String) -> String? { headers[name.lowercased()] }
}
