import Foundation
import Synchronization

/// A service that speaks as much S3 as backups and places need.
///
/// `S3StandIn()` checks every signature. Tests of the web apps, which have this file too, check the access key only.
package final class S3StandIn: Sendable {
    package static let accessKey = "AKTEST"
    package static let secretKey = "very/secret+key"
    package static let bucket = "backups"

    /// What the service does with `If-None-Match: *`.
    package enum Condition: Sendable { case observed, ignored, refused }

    private struct State {
        var objects: [String: Data] = [:]
        var pageSize = 1000
        var condition = Condition.observed
    }

    /// Guards the objects.
    private let state = Mutex(State())
    package let faults = StandInFaults()

    /// Returns the code for a request that is not signed as it must be.
    private let refusal: @Sendable (LoopbackServer.Request) -> String?

    package init(refusing refusal: @escaping @Sendable (LoopbackServer.Request) -> String?) { self.refusal = refusal }

    package var objects: [String: Data] { state.withLock { $0.objects } }

    package func set(_ key: String, _ data: Data?) { state.withLock { $0.objects[key] = data } }

    package func setPageSize(_ size: Int) { state.withLock { $0.pageSize = size } }

    package func setCondition(_ condition: Condition) { state.withLock { $0.condition = condition } }

    /// What is answered to everything from now on.
    package func fail(_ answer: LoopbackServer.Answer?) { faults.set(nil, answer) }

    package func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        faults.answer(request) {
            if let code = refusal(request) { return Self.error(403, code) }
            let parts = request.path.split(separator: "/", maxSplits: 1).map(String.init)
            guard parts.first == Self.bucket else { return Self.error(404, "NoSuchBucket") }
            guard parts.count == 2, let key = parts[1].removingPercentEncoding else { return list(request) }
            return state.withLock { Self.answer(request, key, &$0) }
        }
    }

    private static func answer(
        _ request: LoopbackServer.Request, _ key: String, _ state: inout State
    ) -> LoopbackServer.Answer {
        switch request.method {
        case "PUT":
            if request.headers["if-none-match"] == "*" {
                if state.condition == .refused { return error(501, "NotImplemented") }
                if state.condition == .observed, state.objects[key] != nil {
                    return error(412, "PreconditionFailed")
                }
            }
            state.objects[key] = request.body
            return .init()
        case "GET", "HEAD":
            guard let data = state.objects[key] else { return error(404, "NoSuchKey") }
            return .init(headers: ["Content-Length": "\(data.count)"], body: data)
        case "DELETE":
            state.objects[key] = nil
            return .init(status: 204)
        default: return error(405, "MethodNotAllowed")
        }
    }

    private func list(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        let query = Self.query(request)
        guard query["list-type"] == "2", query["delimiter"] == "/" else { return Self.error(400, "InvalidArgument") }
        let (all, size) = state.withLock { ($0.objects, $0.pageSize) }
        let prefix = query["prefix"] ?? ""
        let names = Set(
            all.keys.filter { $0.hasPrefix(prefix) }.map { key in
                let rest = key.dropFirst(prefix.count)
                return rest.firstIndex(of: "/").map { prefix + rest[...$0] } ?? key
            }
        ).sorted()
        let start = Int(query["continuation-token"] ?? "0") ?? 0
        let page = names.dropFirst(start).prefix(size)
        let rows = page.map { name in
            let text = name.replacing("&", with: "&amp;")
            if name.hasSuffix("/") { return "<CommonPrefixes><Prefix>\(text)</Prefix></CommonPrefixes>" }
            return """
                <Contents><Key>\(text)</Key><LastModified>2026-11-23T08:30:05.000Z</LastModified>\
                <Owner><ID>x</ID></Owner><Size>\(all[name]?.count ?? 0)</Size></Contents>
                """
        }
        let hasMore = start + page.count < names.count
        let more = hasMore ? "<NextContinuationToken>\(start + page.count)</NextContinuationToken>" : ""
        return .init(
            body: Data(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>backups</Name>\
                <Prefix>\(prefix)</Prefix><IsTruncated>\(hasMore)</IsTruncated>\(more)\(rows.joined())</ListBucketResult>
                """.utf8))
    }

    private static func error(_ status: Int, _ code: String) -> LoopbackServer.Answer {
        .init(
            status: status,
            body: Data("<Error><Code>\(code)</Code><Message>with \(secretKey)</Message></Error>".utf8))
    }

    private static func query(_ request: LoopbackServer.Request) -> [String: String] {
        var result: [String: String] = [:]
        for pair in request.query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            result[parts[0].removingPercentEncoding ?? ""] = parts.count == 2 ? parts[1].removingPercentEncoding : ""
        }
        return result
    }
}
