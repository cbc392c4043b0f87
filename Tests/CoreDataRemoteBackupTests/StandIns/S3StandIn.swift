import CoreDataDigests
import Foundation
import Synchronization

/// A service that speaks as much S3 as backups need, and checks every signature by itself.
final class S3StandIn: Sendable {
    static let accessKey = "AKTEST"
    static let secretKey = "very/secret+key"
    static let bucket = "backups"

    private struct State {
        var objects: [String: Data] = [:]
        var pageSize = 1000
        var fault: LoopbackServer.Answer?
    }

    /// Guards the objects.
    private let state = Mutex(State())

    var objects: [String: Data] { state.withLock { $0.objects } }

    func set(_ key: String, _ data: Data?) { state.withLock { $0.objects[key] = data } }

    func setPageSize(_ size: Int) { state.withLock { $0.pageSize = size } }

    /// What is answered to everything from now on.
    func fail(_ answer: LoopbackServer.Answer?) { state.withLock { $0.fault = answer } }

    func answer(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        if let fault = state.withLock({ $0.fault }) { return fault }
        if let code = Self.problem(request) { return Self.error(403, code) }
        let parts = request.path.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.first == Self.bucket else { return Self.error(404, "NoSuchBucket") }
        guard parts.count == 2, let key = parts[1].removingPercentEncoding else { return list(request) }
        return state.withLock { state in
            switch request.method {
            case "PUT":
                if request.headers["if-none-match"] == "*", state.objects[key] != nil {
                    return Self.error(412, "PreconditionFailed")
                }
                state.objects[key] = request.body
                return .init()
            case "GET", "HEAD":
                guard let data = state.objects[key] else { return Self.error(404, "NoSuchKey") }
                return .init(headers: ["Content-Length": "\(data.count)"], body: data)
            case "DELETE":
                state.objects[key] = nil
                return .init(status: 204)
            default: return Self.error(405, "MethodNotAllowed")
            }
        }
    }

    private func list(_ request: LoopbackServer.Request) -> LoopbackServer.Answer {
        let query = Self.query(request)
        guard query["list-type"] == "2", query["delimiter"] == "/" else { return Self.error(400, "InvalidArgument") }
        let (all, size) = state.withLock { ($0.objects, $0.pageSize) }
        let prefix = query["prefix"] ?? ""
        let keys = all.keys.filter { $0.hasPrefix(prefix) && !$0.dropFirst(prefix.count).contains("/") }.sorted()
        let start = Int(query["continuation-token"] ?? "0") ?? 0
        let page = keys.dropFirst(start).prefix(size)
        let rows = page.map { key in
            """
            <Contents><Key>\(key.replacing("&", with: "&amp;"))</Key><LastModified>2026-11-23T08:30:05.000Z</LastModified>\
            <Owner><ID>x</ID></Owner><Size>\(all[key]?.count ?? 0)</Size></Contents>
            """
        }
        let hasMore = start + page.count < keys.count
        let more = hasMore ? "<NextContinuationToken>\(start + page.count)</NextContinuationToken>" : ""
        return .init(
            body: Data(
                """
                <?xml version="1.0" encoding="UTF-8"?>
                <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>backups</Name>\
                <IsTruncated>\(hasMore)</IsTruncated>\(more)\(rows.joined())</ListBucketResult>
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

    // MARK: Signatures

    /// What is wrong with the signature, by the code that Amazon has for it.
    private static func problem(_ request: LoopbackServer.Request) -> String? {
        guard let header = request.headers["authorization"],
            let match = header.wholeMatch(
                of:
                    /AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})/
            ), let time = request.headers["x-amz-date"], let content = request.headers["x-amz-content-sha256"]
        else { return "AccessDenied" }
        guard match.output.1 == accessKey else { return "InvalidAccessKeyId" }
        let names = match.output.4.split(separator: ";").map(String.init)
        guard names.contains("host"), names.contains("x-amz-date"), names.contains("x-amz-content-sha256"),
            names == names.sorted(), time.hasPrefix(match.output.2), time.count == 16
        else { return "AuthorizationHeaderMalformed" }
        guard content == Digests.hex(Digests.sha256(request.body)) else { return "XAmzContentSHA256Mismatch" }
        let pairs = request.query.split(separator: "&").map { $0.contains("=") ? String($0) : "\($0)=" }.sorted()
        let lines = names.map { "\($0):\(request.headers[$0] ?? "")\n" }.joined()
        let text =
            "\(request.method)\n\(request.path)\n\(pairs.joined(separator: "&"))\n\(lines)\n\(match.output.4)\n\(content)"
        let scope = "\(match.output.2)/\(match.output.3)/s3/aws4_request"
        var key = Data("AWS4\(secretKey)".utf8)
        for part in scope.split(separator: "/") { key = Digests.hmac(Data(part.utf8), key: key) }
        let toSign = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Digests.hex(Digests.sha256(Data(text.utf8))))"
        let expected = Digests.hex(Digests.hmac(Data(toSign.utf8), key: key))
        return expected == match.output.5 ? nil : "SignatureDoesNotMatch"
    }
}
