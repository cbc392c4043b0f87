import Foundation

/// Where the picture of a cover comes from.
public struct CoverRequest {
    public var request: URLRequest

    public init(isbn: String, host: String) {
        request = URLRequest(url: URL(fileURLWithPath: "/\(host)/covers/\(isbn)"))
        request.setValue(Book.primaryKey, forHTTPHeaderField: "Sorted-By")
    }

    public func task(in session: URLSession) -> URLSessionDataTask { session.dataTask(with: request) }
}

extension Book {
    static let primaryKey = NSStringFromSelector(#selector(getter: Book.title))
}
