import Foundation
import Synchronization

/// A server that speaks as much WebDAV as backups and places need, in one folder and the folders in it.
package final class WebDAVStandIn: Sendable {
    package static let folder = "/dav/my%20files"
    package static let password = "pass:word"
    package static let authorization = "Basic " + Data("ann:\(password)".utf8).base64EncodedString()
    package static let usualDate = "Mon, 23 Nov 2026 08:30:05 GMT"

    private struct State {
        /// By their paths in the folder, which is the empty path.
        var folders: Set<String> = []
        var files: [String: Data] = [:]
        var dates: [String: String] = [:]
    }

    /// Guards the files.
    private let state = Mutex(State())
    package let faults = StandInFaults()

    package init() {}

    /// By their paths in the folder.
    package var files: [String: Data] { state.withLock { $0.files } }

    package func set(_ name: String, _ data: Data?, date: String? = nil) {
        state.withLock { state in
            state.files[name] = data
            state.dates[name] = date
        }
    }

    /// What is answered to requests of that method from now on.
    package func fail(_ method: String, _ answer: LoopbackServer.Answer?) { faults.set(method, answer) }

    package func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        guard request.headers["authorization"] == Self.authorization else {
            return .init(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"files\""])
        }
        return faults.answer(request) {
            guard let path = Self.path(request.path) else { return .init(status: 404) }
            return state.withLock { Self.answer(request, path, &$0) }
        }
    }

    /// The decoded path in the folder.
    private static func path(_ encoded: String) -> String? {
        guard encoded.hasPrefix(folder) else { return nil }
        return encoded.dropFirst(folder.count).removingPercentEncoding.map {
            $0.split(separator: "/").joined(separator: "/")
        }
    }

    private static func hasParent(_ path: String, _ state: State) -> Bool {
        path.isEmpty || state.folders.contains(path.split(separator: "/").dropLast().joined(separator: "/"))
    }

    private static func answer(
        _ request: LoopbackServer.Request, _ path: String, _ state: inout State
    ) -> LoopbackServer.Answer {
        switch request.method {
        case "MKCOL":
            guard hasParent(path, state) else { return .init(status: 409) }
            return .init(status: state.folders.insert(path).inserted ? 201 : 405)
        case "PROPFIND":
            guard state.folders.contains(path) else { return .init(status: 404) }
            let isDeep = request.headers["depth"] == "1"
            return .init(
                status: 207, headers: ["Date": usualDate], body: Data(listing(path, isDeep: isDeep, state).utf8))
        case "PUT":
            guard hasParent(path, state) else { return .init(status: 409) }
            state.files[path] = request.body
            return .init(status: 201)
        case "MOVE":
            let target = request.headers["destination"].flatMap { URL(string: $0) }.flatMap {
                Self.path(URLComponents(url: $0, resolvingAgainstBaseURL: true)?.percentEncodedPath ?? "")
            }
            guard let data = state.files[path], let target, !target.isEmpty else { return .init(status: 404) }
            guard request.headers["overwrite"] == "F", state.files[target] == nil else { return .init(status: 412) }
            state.files[path] = nil
            state.files[target] = data
            return .init(status: 201)
        case "GET", "HEAD":
            guard let data = state.files[path] else { return .init(status: 404) }
            return .init(headers: ["Content-Length": "\(data.count)"], body: data)
        case "DELETE":
            return .init(status: state.files.removeValue(forKey: path) == nil ? 404 : 204)
        default: return .init(status: 501)
        }
    }

    private static func listing(_ path: String, isDeep: Bool, _ state: State) -> String {
        let isMember = { (other: String) in
            other != path && other.split(separator: "/").dropLast().joined(separator: "/") == path
        }
        var rows = [row(path, "<lp1:resourcetype><D:collection/></lp1:resourcetype>")]
        if isDeep {
            rows += state.folders.filter(isMember).map {
                row($0, "<lp1:resourcetype><D:collection/></lp1:resourcetype>")
            }
            rows += state.files.filter { isMember($0.key) }.map { path, data in
                row(
                    path,
                    """
                    <lp1:resourcetype/><lp1:getcontentlength>\(data.count)</lp1:getcontentlength>\
                    <lp1:getlastmodified>\(state.dates[path] ?? usualDate)</lp1:getlastmodified>
                    """)
            }
        }
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <D:multistatus xmlns:D="DAV:" xmlns:lp1="DAV:">\(rows.joined())</D:multistatus>
            """
    }

    private static func row(_ path: String, _ properties: String) -> String {
        let names = path.split(separator: "/").map {
            $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        return """
            <D:response><D:href>\(([folder] + names).joined(separator: "/"))</D:href><D:propstat><D:prop>\(properties)</D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
            """
    }
}
