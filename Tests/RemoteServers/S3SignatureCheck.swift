import CoreDataDigests
import Foundation

/// Checks the signatures of requests (Signature Version 4) by itself.
enum S3SignatureCheck {
    /// What is wrong with the signature, by the code that Amazon has for it.
    static func problem(_ request: LoopbackServer.Request) -> String? {
        guard let header = request.headers["authorization"],
            let match = header.wholeMatch(
                of:
                    /AWS4-HMAC-SHA256 Credential=(\w+)\/(\d{8})\/([\w-]+)\/s3\/aws4_request, SignedHeaders=([\w;-]+), Signature=([0-9a-f]{64})/
            ), let time = request.headers["x-amz-date"], let content = request.headers["x-amz-content-sha256"]
        else { return "AccessDenied" }
        guard match.output.1 == S3StandIn.accessKey else { return "InvalidAccessKeyId" }
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
        var key = Data("AWS4\(S3StandIn.secretKey)".utf8)
        for part in scope.split(separator: "/") { key = Digests.hmac(Data(part.utf8), key: key) }
        let toSign = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Digests.hex(Digests.sha256(Data(text.utf8))))"
        let expected = Digests.hex(Digests.hmac(Data(toSign.utf8), key: key))
        return expected == match.output.5 ? nil : "SignatureDoesNotMatch"
    }
}

extension S3StandIn {
    /// Makes a service that checks the signature of every request.
    package convenience init() { self.init { S3SignatureCheck.problem($0) } }
}
