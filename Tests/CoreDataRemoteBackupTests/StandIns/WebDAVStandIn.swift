import Foundation
import Synchronization

/// A server that speaks as much WebDAV as backups need, in one folder.
final class WebDAVStandIn: Sendable {
    static let folder = "/dav/my%20files"
    static let authorization = "Basic " + Data("ann:pass:word".utf8).base64EncodedString()

    private struct State {
        var hasFolder = false
        var files: [String: Data] = [:]
        var faults: [String: LoopbackServer.Answer] = [:]
    }

    /// Guards the files.
    private let state = Mutex(State())

    var files: [String: Data] { state.withLock { $0.files } }

    func set(_ name: String, _ data: Data?) { state.withLock { $0.files[name] = data } }

    /// What is answered to requests of that method from now on.
    func fail(_ method: String, _ answer: LoopbackServer.Answer?) { state.withLock { $0.faults[method] = answer } }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        guard request.headers["authorization"] == Self.authorization else { return .init(status: 401) }
        return state.withLock { state in
            if let fault = state.faults[request.method] { return fault }
            guard request.path.hasPrefix(Self.folder) else { return .init(status: 404) }
            let rest = request.path.dropFirst(Self.folder.count).drop { $0 == "/" }
            guard let name = rest.removingPercentEncoding else { return .init(status: 400) }
            return Self.answer(request, name, &state)
        }
    }

    private static func answer(
        _ request: LoopbackServer.Request, _ name: String, _ state: inout State
    ) -> LoopbackServer.Answer {
        if request.method == "MKCOL" {
            defer { state.hasFolder = true }
            return .init(status: state.hasFolder ? 405 : 201)
        }
        guard state.hasFolder else { return .init(status: 404) }
        switch request.method {
        case "PROPFIND": return .init(status: 207, body: Data(listing(state.files).utf8))
        case "PUT":
            state.files[name] = request.body
            return .init(status: 201)
        case "MOVE":
            let target = request.headers["destination"].flatMap { URL(string: $0) }?.lastPathComponent ?? ""
            guard let data = state.files[name], !target.isEmpty else { return .init(status: 404) }
            guard request.headers["overwrite"] == "F", state.files[target] == nil else { return .init(status: 412) }
            state.files[name] = nil
            state.files[target] = data
            return .init(status: 201)
        case "GET", "HEAD":
            guard let data = state.files[name] else { return .init(status: 404) }
            return .init(headers: ["Content-Length": "\(data.count)"], body: data)
        case "DELETE":
            return .init(status: state.files.removeValue(forKey: name) == nil ? 404 : 204)
        default: return .init(status: 501)
        }
    }

    private static func listing(_ files: [String: Data]) -> String {
        let rows = files.map { name, data in
            """
            <D:response><D:href>\(folder)/\(name.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")</D:href><D:propstat><D:prop><lp1:resourcetype/>\
            <lp1:getcontentlength>\(data.count)</lp1:getcontentlength>\
            <lp1:getlastmodified>Mon, 23 Nov 2026 08:30:05 GMT</lp1:getlastmodified></D:prop>\
            <D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
            """
        }
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <D:multistatus xmlns:D="DAV:" xmlns:lp1="DAV:"><D:response><D:href>\(folder)/</D:href><D:propstat><D:prop>\
            <lp1:resourcetype><D:collection/></lp1:resourcetype></D:prop></D:propstat></D:response>\(rows.joined())</D:multistatus>
            """
    }
}
