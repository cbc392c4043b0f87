import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Makes requests for a folder of a WebDAV server and its members, and reads its listings.
package struct WebDAVFolder: Sendable {
    package let address: RemoteAddress
    private let credentials: WebDAVCredentials?

    /// A member of a folder.
    package struct Member: Sendable {
        package let name: String
        package let isFolder: Bool
        package let size: Int?
        package let date: Date?
    }

    /// - Throws: a ``RemoteFailure`` for an invalid address.
    package init(_ url: URL, credentials: WebDAVCredentials?) throws {
        address = try RemoteAddress(url, "The WebDAV server")
        self.credentials = credentials
    }

    // MARK: Requests

    /// Makes a request for a member, by the names that lead to it; the path of a folder ends with a slash.
    package func request(
        _ method: String, _ names: [String], isFolder: Bool = false, headers: [String: String] = [:]
    ) throws -> URLRequest {
        var request = URLRequest(url: try url(names, isFolder: isFolder))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if let credentials { request.setValue(credentials.header, forHTTPHeaderField: "Authorization") }
        return request
    }

    /// The address of a member.
    package func url(_ names: [String], isFolder: Bool = false) throws -> URL {
        let path = names.map { RemoteAddress.encoded($0) }.joined(separator: "/")
        return try address.url(path: "\(address.path)/\(path)\(isFolder && !names.isEmpty ? "/" : "")")
    }

    /// Makes a request for the members of a folder, or, with the depth 0, for the folder alone.
    package func listing(_ names: [String], depth: Int = 1) throws -> (URLRequest, RemoteConnection.Content) {
        let body = """
            <?xml version="1.0" encoding="utf-8"?>
            <propfind xmlns="DAV:"><prop><getcontentlength/><getlastmodified/><resourcetype/></prop></propfind>
            """
        let headers = ["Depth": "\(depth)", "Content-Type": "application/xml; charset=utf-8"]
        return (try request("PROPFIND", names, isFolder: true, headers: headers), .data(Data(body.utf8)))
    }

    // MARK: Listings

    /// Returns the members that the answer to ``listing(_:depth:)`` names, without the folder itself.
    package func members(of answer: RemoteConnection.Answer, in names: [String]) throws -> [Member] {
        guard let all = try? AnswerElements.texts(below: "response", in: answer.body), !all.isEmpty else {
            throw RemoteFailure(
                .answer, "\(address.place) answers with a list that cannot be read; see to the address.")
        }
        let rows = all.compactMap { texts in texts["href"].flatMap(Self.components).map { (path: $0, texts: texts) } }
        let own = ownPath(rows.map(\.path), names)
        return rows.compactMap { row in
            guard let name = row.path.last, own.map({ row.path.count == $0.count + 1 }) ?? true else { return nil }
            return Member(
                name: name, isFolder: row.texts["collection"] != nil,
                size: row.texts["getcontentlength"].flatMap { Int($0) },
                date: RemoteDate.http(row.texts["getlastmodified"]))
        }
    }

    /// The folder's own path in a listing. Behind a proxy it may differ from the path that was asked for.
    private func ownPath(_ paths: [[String]], _ names: [String]) -> [String]? {
        let asked = (Self.components(address.path) ?? []) + names
        if paths.contains(asked) { return asked }
        guard let shortest = paths.min(by: { $0.count < $1.count }), paths.count > 1,
            paths.allSatisfy({ $0 == shortest || ($0.count == shortest.count + 1 && $0.starts(with: shortest)) })
        else { return nil }
        return shortest
    }

    /// The decoded components of the path in a URL or an absolute path; `nil` if it cannot be decoded, or a name
    /// contains a slash.
    private static func components(_ href: String) -> [String]? {
        var path = href[...]
        if let scheme = path.range(of: "://") {
            path = path[scheme.upperBound...]
            path = path[(path.firstIndex(of: "/") ?? path.endIndex)...]
        }
        var result: [String] = []
        for part in path.split(separator: "/") {
            guard let name = part.removingPercentEncoding, !name.contains("/") else { return nil }
            result.append(name)
        }
        return result
    }
}
