import CoreDataAccounts
import Foundation
import HTTPTypes
import Hummingbird
import LivePages

/// The cookies that hold the tokens of browsers' sessions.
///
/// No script reads them (`HttpOnly`), and requests that other sites make with them do not change anything (`SameSite=Lax`, and the token
/// of each form). Behind TLS, browsers send them through TLS only and accept them from this host only (`__Host-`).
struct SessionCookies: SessionReader {
    let accounts: Accounts
    let usesTLS: Bool

    private var name: String { usesTLS ? "__Host-session" : "session" }

    func visitor(of request: Request, from address: String?) async throws -> Visitor? {
        guard let token = request.cookies[name]?.value, !token.isEmpty else { return nil }
        let client = Client(address: address, device: request.headers[.userAgent] ?? "")
        do {
            let found = try await accounts.authenticate(token: token, from: client)
            let secret = try await accounts.formToken(of: found.session.id)
            let person = Person(
                account: found.account, session: found.session, memberships: found.memberships,
                token: found.renewedToken ?? token, client: client)
            let headers = found.renewedToken.map { setCookie($0, until: found.session.endsAt) } ?? [:]
            return Visitor(formToken: secret, person: person, headers: headers)
        } catch {
            guard case .notSignedIn = error else { throw error }
            return nil
        }
    }

    /// The header that gives a browser the token of a session.
    func setCookie(_ token: String, until end: Date) -> HTTPFields {
        cookie("\(name)=\(token)", seconds: max(0, Int(end.timeIntervalSinceNow)))
    }

    /// The header that takes the token away.
    var removeCookie: HTTPFields { cookie("\(name)=", seconds: 0) }

    private func cookie(_ pair: String, seconds: Int) -> HTTPFields {
        [.setCookie: "\(pair); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Lax\(usesTLS ? "; Secure" : "")"]
    }
}
