import Foundation

/// Decides which requests Studio answers: those of a browser that opened the printed address, and of Studio's own
/// pages.
///
/// The printed address contains a token, which the first request exchanges for a cookie. A form carries a second token.
/// Requests of other sites are refused by their `Host`, `Sec-Fetch-Site` and `Origin`.
package struct RequestGuard: Sendable {
    package enum Decision: Sendable, Equatable {
        case admitted
        /// The address has the right token: set the cookie, and continue without the token in the address.
        case exchange(cookie: String)
        case refused(Int, String)
    }

    /// The secret of the printed address and of the cookie.
    package let token: String
    /// The secret of forms.
    package let formToken: String
    private let cookieName: String

    package init() {
        token = Self.secret()
        formToken = Self.secret()
        // Cookies do not depend on the port, so that two running Studios need two names.
        cookieName = "studio-" + Self.secret().prefix(8)
    }

    private static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let text = String(generator.next(), radix: 36)
            return String(repeating: "0", count: 13 - text.count) + text
        }.joined()
    }

    package func decision(on request: StudioRequest, query: FormFields) -> Decision {
        guard let host = request.header("Host"), Self.hosts.contains(Self.name(of: host)) else {
            return .refused(421, "Studio answers to 127.0.0.1 and localhost only. Open the address that it printed.")
        }
        if let site = request.header("Sec-Fetch-Site"), site != "same-origin", site != "none" {
            return .refused(403, "Another site asked for this page. Open the address that Studio printed.")
        }
        if let origin = request.header("Origin"), origin != "http://\(host)" {
            return .refused(403, "Another site asked for this page. Open the address that Studio printed.")
        }
        if Self.areEqual(cookie(in: request), token) { return .admitted }
        if request.method == "GET", let given = query["token"], Self.areEqual(given, token) {
            return .exchange(cookie: "\(cookieName)=\(token); Path=/; HttpOnly; SameSite=Strict")
        }
        return .refused(
            401,
            "This browser has not opened Studio yet, or Studio was started again. Open the address that it printed.")
    }

    /// Whether a form may change something.
    package func admits(form: FormFields) -> Bool { Self.areEqual(form["token"] ?? "", formToken) }

    private func cookie(in request: StudioRequest) -> String {
        for part in (request.header("Cookie") ?? "").split(separator: ";") {
            let pair = part.drop { $0 == " " }
            if pair.hasPrefix(cookieName + "=") { return String(pair.dropFirst(cookieName.count + 1)) }
        }
        return ""
    }

    private static let hosts: Set = ["127.0.0.1", "localhost", "[::1]"]

    /// The host's name without its port.
    private static func name(of host: String) -> String {
        let host = host.lowercased()
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return String(host[...end]) }
        return host.split(separator: ":", omittingEmptySubsequences: false).first.map(String.init) ?? ""
    }

    /// Compares secrets in a time that does not depend on their content.
    private static func areEqual(_ a: String, _ b: String) -> Bool {
        guard a.utf8.count == b.utf8.count else { return false }
        return zip(a.utf8, b.utf8).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The header fields of every answer.
    package static let headers: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
                + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}
