import CoreDataJSON
import Foundation
import HTTPTypes
import Hummingbird

// Answers and their headers.
extension Response {
    static func json(
        _ value: JSONValue, status: HTTPResponse.Status = .ok, type: String = "application/json",
        headers: HTTPFields = [:]
    ) -> Response {
        bytes(JSONWriter.bytes(value), status: status, type: type, headers: headers)
    }

    static func bytes(
        _ bytes: [UInt8], status: HTTPResponse.Status = .ok, type: String, headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        return Response(status: status, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    static func problem(_ problem: Problem, requestID: String?) -> Response {
        var headers: HTTPFields = [:]
        for (name, value) in problem.headers {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return json(
            problem.json(requestID: requestID), status: .init(code: problem.status), type: "application/problem+json",
            headers: headers)
    }
}

extension HTTPField.Name {
    static let requestID = known("X-Request-Id")
    static let idempotencyKey = known("Idempotency-Key")
    static let idempotencyReplayed = known("Idempotency-Replayed")
    static let renewedToken = known("X-Renewed-Token")
    static let prefer = known("Prefer")
    static let preferenceApplied = known("Preference-Applied")
    static let forwardedFor = known("X-Forwarded-For")
    static let forwarded = known("Forwarded")
    /// The headers by which a proxy can be recognised.
    static let ofProxies = [
        forwardedFor, forwarded, .via, known("X-Forwarded-Host"), known("X-Forwarded-Proto"), known("X-Real-IP"),
    ]
    static let resourcePolicy = known("Cross-Origin-Resource-Policy")
    static let referrerPolicy = known("Referrer-Policy")

    private static func known(_ name: String) -> Self {
        guard let name = Self(name) else { preconditionFailure("'\(name)' cannot be the name of a header") }
        return name
    }
}

extension HTTPFields {
    /// The headers that every answer has.
    mutating func addSecurity(isPage: Bool) {
        self[.xContentTypeOptions] = "nosniff"
        self[.referrerPolicy] = "no-referrer"
        self[.resourcePolicy] = "same-origin"
        self[.contentSecurityPolicy] =
            isPage
            ? "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
            : "default-src 'none'; frame-ancestors 'none'"
        if self[.cacheControl] == nil { self[.cacheControl] = "no-store" }
    }
}
