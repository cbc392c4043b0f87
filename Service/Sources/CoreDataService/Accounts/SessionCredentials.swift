import CoreDataAccounts
import Foundation
import HTTPTypes
import Hummingbird

/// How requests carry the token of a session: programs in `Authorization: Bearer`, browsers in a cookie.
///
/// A browser sends its cookie with requests that other sites make. So a request with a cookie that can change something
/// must come from a page of the service itself: by `Sec-Fetch-Site`, which every current browser sends and no page can
/// set, or else by `Origin`. A request with neither is refused. `Authorization` needs no such check, since only a
/// program that has the token can send it; if a request has both, it counts.
package struct SessionCredentials: Sendable {
    /// Whether clients reach the service through TLS. The cookie is then `Secure` and bound to the host.
    package var usesTLS = false

    package init() {}

    /// A token, and how it came.
    package struct Credential: Sendable, Equatable {
        package let token: String
        package let isCookie: Bool
    }

    // MARK: Requests

    /// Returns the token of a request; `nil` for a request without one.
    ///
    /// - Throws: a problem with status 403 for a cookie that another site may have sent, 401 for other credentials than
    ///   a bearer token.
    package func credential(of request: Request) throws(Problem) -> Credential? {
        if let header = request.headers[.authorization] {
            let parts = header.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else {
                throw Problem(
                    401, "not-signed-in", "The credentials are not valid", "Send Authorization: Bearer with a token.",
                    headers: ["WWW-Authenticate": "Bearer"])
            }
            return Credential(token: String(parts[1].trimmingPrefix(" ")), isCookie: false)
        }
        guard let token = cookie(of: request) else { return nil }
        if !request.method.isSafe { try requireSameSite(request) }
        return Credential(token: token, isCookie: true)
    }

    /// Throws unless a page of this service, or no page at all, sent the request.
    package func requireSameSite(_ request: Request) throws(Problem) {
        let isOwn: Bool
        if let site = request.headers[.secFetchSite] {
            isOwn = site == "same-origin" || site == "none"
        } else if let origin = request.headers[.origin], let authority = request.head.authority {
            isOwn = origin.lowercased() == "\(usesTLS ? "https" : "http")://\(authority.lowercased())"
        } else {
            isOwn = false
        }
        guard isOwn else {
            throw Problem(
                403, "cross-site", "Another site sent the request",
                "With a cookie, only pages of this service may change something. Programs send Authorization: Bearer.")
        }
    }

    private func cookie(of request: Request) -> String? {
        for header in request.headers[values: .cookie] {
            for pair in header.split(separator: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0].trimmingCharacters(in: .whitespaces) == cookieName {
                    return parts[1].trimmingCharacters(in: .whitespaces)
                }
            }
        }
        return nil
    }

    // MARK: Answers

    /// `__Host-` makes browsers refuse the cookie from other hosts, and without TLS.
    private var cookieName: String { usesTLS ? "__Host-session" : "session" }

    /// Returns the header that gives a browser the token. The cookie lives as long as the session at most.
    package func setCookie(_ token: String, until end: Date, now: Date) -> String {
        let seconds = max(0, Int(end.timeIntervalSince(now)))
        return "\(cookieName)=\(token); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax\(usesTLS ? "; Secure" : "")"
    }

    /// The header that removes the cookie.
    package var removeCookie: String {
        "\(cookieName)=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax\(usesTLS ? "; Secure" : "")"
    }
}

extension HTTPRequest.Method {
    fileprivate var isSafe: Bool { self == .get || self == .head || self == .options }
}

extension HTTPField.Name {
    // Constants that are valid names of headers.
    // swift-format-ignore: NeverForceUnwrap
    static let secFetchSite = Self("Sec-Fetch-Site")!
}
