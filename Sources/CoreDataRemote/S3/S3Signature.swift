import CoreDataDigests
import Foundation

/// Signs requests as Amazon's services require: Signature Version 4.
///
/// ```
///  request ──▶ canonical text ──▶ digest with date and scope ──▶ HMAC, key derived from the secret
/// ```
struct S3Signature {
    let credentials: S3Credentials
    let region: String
    var service = "s3"

    /// The signed parts of a request.
    struct Request {
        let method: String
        /// The encoded path.
        let path: String
        /// The encoded names and values.
        let query: [(name: String, value: String)]
        /// The headers, by lower-case name.
        let headers: [String: String]
        /// The digest of the content, as hexadecimal digits.
        let content: String
    }

    /// Returns the additional headers of a request, including `authorization`.
    func headers(for request: Request, at date: Date) -> [String: String] {
        let time = Self.time(date)
        var added = ["x-amz-date": time, "x-amz-content-sha256": request.content]
        if let token = credentials.sessionToken { added["x-amz-security-token"] = token }
        let all = request.headers.merging(added) { $1 }
        let names = all.keys.sorted().joined(separator: ";")
        let day = String(time.prefix(8))
        let scope = "\(day)/\(region)/\(service)/aws4_request"
        let canonical = Self.canonical(request, all, names)
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Digests.hex(Digests.sha256(Data(canonical.utf8))))"
        let signature = Digests.hex(Digests.hmac(Data(text.utf8), key: key(day)))
        added["authorization"] =
            "AWS4-HMAC-SHA256 Credential=\(credentials.accessKey)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
        return added
    }

    private static func canonical(_ request: Request, _ headers: [String: String], _ names: String) -> String {
        let query = request.query.sorted { ($0.name, $0.value) < ($1.name, $1.value) }
            .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
        let lines = headers.sorted { $0.key < $1.key }.map { name, value in
            "\(name):\(value.split(separator: " ").joined(separator: " "))\n"
        }.joined()
        return [
            request.method, request.path.isEmpty ? "/" : request.path, query, lines, names, request.content,
        ].joined(separator: "\n")
    }

    private func key(_ day: String) -> Data {
        [day, region, service, "aws4_request"].reduce(Data("AWS4\(credentials.secretKey)".utf8)) { key, part in
            Digests.hmac(Data(part.utf8), key: key)
        }
    }

    /// Returns the time as "20261123T083005Z".
    static func time(_ date: Date) -> String {
        String(date.formatted(.iso8601).filter { $0 != Character("-") && $0 != Character(":") })
    }
}
