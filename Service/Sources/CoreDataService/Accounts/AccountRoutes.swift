import CoreDataAccounts
import Foundation
import HTTPTypes
import Hummingbird

/// Answers requests for accounts, sessions, groups and invitations.
///
/// ```
/// POST   /accounts                       name, password, email?, invitation?    the account, its session and token
/// GET    /accounts/me                                                           account, session, memberships
/// PUT    /accounts/me/password           current, new
/// PUT    /accounts/me/email              email?, password
/// GET    /accounts/me/export             GET /accounts/me/events
/// POST   /accounts/me/deletion           password                               the deleted groups
/// POST   /sessions                       name, password, device?, cookie?       the account, its session and token
/// GET    /sessions                       DELETE /sessions                       all but the present one
/// DELETE /sessions/current               DELETE /sessions/<id>
/// POST   /password-resets                name                                   202 in any case
/// PUT    /password-resets                token, password
/// POST   /email-confirmations            token
/// POST   /invitations/preview            token                                  group, role, end
/// POST   /memberships                    token                                  the membership
/// ```
/// ``GroupRoutes`` and ``AdministrationRoutes`` have the others. Tokens of links are in bodies, never in paths, which
/// logs keep.
package struct AccountRoutes: Sendable {
    let accounts: Accounts
    let credentials: SessionCredentials
    let clock: @Sendable () -> Date
    private let limits: ServiceLimits

    /// The longest body of a request, in bytes.
    private static let bodySize = 16 << 10

    package init(
        _ accounts: Accounts, credentials: SessionCredentials = SessionCredentials(), limits: ServiceLimits,
        clock: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.accounts = accounts
        self.credentials = credentials
        self.limits = limits
        self.clock = clock
    }

    /// Returns the answer; `nil` for a path that belongs to other routes.
    ///
    /// - Throws: a ``Problem``; an ``AccountError`` whose message is for the log alone.
    package func answer(_ request: Request, _ context: ServiceRequestContext) async throws -> Response? {
        try await answer(request, peer: context.peer)
    }

    /// Returns the answer to a client with that address.
    package func answer(_ request: Request, peer: String?) async throws -> Response? {
        let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        let call = AccountCall(routes: self, request: request, peer: peer)
        do {
            switch path.first {
            case "accounts" where path.count == 1 && call.method == .post: return try await signUp(call)
            case "accounts" where path.dropFirst().first == "me": return try await own(call, path)
            case "accounts", "events": return try await AdministrationRoutes(accounts: accounts).answer(call, path)
            case "sessions": return try await sessions(call, path)
            case "groups", "memberships", "invitations":
                return try await GroupRoutes(accounts: accounts).answer(call, path)
            case "password-resets", "email-confirmations": return try await links(call, path)
            default: return nil
            }
        } catch let error as AccountError {
            throw Problem(error) ?? error
        }
    }

    // MARK: Accounts and sessions

    private func signUp(_ call: AccountCall) async throws -> Response {
        let body = try await call.body(as: SignUpBody.self)
        if body.cookie == true { try credentials.requireSameSite(call.request) }
        let result = try await accounts.signUp(
            name: body.name, password: body.password, email: body.email, invitation: body.invitation,
            from: call.client(device: body.device))
        return try signedIn(result, isCookie: body.cookie == true)
    }

    private func signIn(_ call: AccountCall) async throws -> Response {
        let body = try await call.body(as: SignInBody.self)
        // A site must not be able to sign a visitor in to an account of its own.
        if body.cookie == true { try credentials.requireSameSite(call.request) }
        let result = try await accounts.signIn(
            name: body.name, password: body.password, from: call.client(device: body.device))
        return try signedIn(result, isCookie: body.cookie == true)
    }

    private func signedIn(_ result: SignedIn, isCookie: Bool) throws -> Response {
        var headers: HTTPFields = [:]
        if isCookie {
            headers[.setCookie] = credentials.setCookie(result.token, until: result.session.endsAt, now: clock())
        }
        let answer = SignedInAnswer(
            account: result.account, session: result.session, token: isCookie ? nil : result.token)
        return try AccountCall.json(answer, status: .created, headers: headers)
    }

    private func sessions(_ call: AccountCall, _ path: [String]) async throws -> Response? {
        switch (path.count, call.method) {
        case (1, .post): return try await signIn(call)
        case (1, .get):
            let who = try await call.authenticated()
            return try who.json(ListAnswer(items: try await accounts.sessions(of: who.account.id)))
        case (1, .delete):
            let who = try await call.authenticated()
            try await accounts.endSessions(
                of: who.account.id, except: who.found.session.id, from: call.client())
            return who.empty()
        case (2, .delete) where path[1] == "current":
            if let credential = try credentials.credential(of: call.request) {
                try await accounts.signOut(token: credential.token, from: call.client())
            }
            return Response(status: .noContent, headers: [.setCookie: credentials.removeCookie])
        case (2, .delete):
            let who = try await call.authenticated()
            guard let id = UUID(uuidString: path[1]) else { throw AccountError.sessionNotFound }
            try await accounts.endSession(id, of: who.account.id, from: call.client())
            return who.empty()
        case (1, _): throw Problem.method("POST, GET, HEAD, DELETE")
        case (2, _): throw Problem.method("DELETE")
        default: return nil
        }
    }

    private func own(_ call: AccountCall, _ path: [String]) async throws -> Response? {
        switch (path.count == 3 ? path[2] : path.count == 2 ? "" : "/", call.method) {
        case ("", .get):
            let who = try await call.authenticated()
            return try who.json(
                MeAnswer(account: who.account, session: who.found.session, memberships: who.found.memberships))
        case ("password", .put):
            let who = try await call.authenticated()
            let body = try await call.body(as: PasswordBody.self)
            try await accounts.changePassword(
                of: who.account.id, from: body.current, to: body.new, keeping: who.found.session.id,
                from: call.client())
            return who.empty()
        case ("email", .put):
            let who = try await call.authenticated()
            let body = try await call.body(as: EmailBody.self)
            try await accounts.changeEmail(
                of: who.account.id, to: body.email, password: body.password, from: call.client())
            return who.empty(.accepted)
        case ("export", .get):
            let who = try await call.authenticated()
            return try who.json(try await accounts.export(who.account.id))
        case ("events", .get):
            let who = try await call.authenticated()
            let query = try EventQuery(call.request)
            return try who.json(
                ListAnswer(
                    items: try await accounts.events(ofOwn: who.account.id, before: query.before, limit: query.limit)))
        case ("deletion", .post):
            let who = try await call.authenticated()
            let body = try await call.body(as: DeletionBody.self)
            let groups = try await accounts.deleteAccount(
                who.account.id, password: body.password, from: call.client())
            return try AccountCall.json(
                DeletedGroupsAnswer(deletedGroups: groups), headers: [.setCookie: credentials.removeCookie])
        case ("", _), ("export", _), ("events", _): throw Problem.method("GET, HEAD")
        case ("password", _), ("email", _): throw Problem.method("PUT")
        case ("deletion", _): throw Problem.method("POST")
        default: return nil
        }
    }

    // MARK: Links

    private func links(_ call: AccountCall, _ path: [String]) async throws -> Response? {
        guard path.count == 1 else { return nil }
        switch (path[0], call.method) {
        case ("password-resets", .post):
            let body = try await call.body(as: ResetRequestBody.self)
            try await accounts.requestPasswordReset(name: body.name, from: call.client())
            return Response(status: .accepted)
        case ("password-resets", .put):
            let body = try await call.body(as: ResetBody.self)
            try await accounts.resetPassword(token: body.token, to: body.password, from: call.client())
            return Response(status: .noContent)
        case ("email-confirmations", .post):
            let body = try await call.body(as: TokenBody.self)
            try await accounts.confirmEmail(token: body.token, from: call.client())
            return Response(status: .noContent)
        case ("password-resets", _): throw Problem.method("POST, PUT")
        default: throw Problem.method("POST")
        }
    }

    /// Reads a body of JSON.
    fileprivate func body<Body: Decodable>(_ request: Request, as _: Body.Type) async throws -> Body {
        // A form of another site can have no other type than the three of HTML.
        let isOfBrowser = [.cookie, .origin, .secFetchSite].contains { request.headers[$0] != nil }
        let type = request.headers[.contentType] ?? ""
        guard !isOfBrowser || type.lowercased().hasPrefix("application/json") else {
            throw Problem(415, "media-type", "The body is of another type", "Send Content-Type: application/json.")
        }
        let bytes = try await BodyCollector.collect(request, limit: Self.bodySize, within: limits.bodyTime)
        do { return try AccountCall.decoder.decode(Body.self, from: Data(bytes)) } catch let error as DecodingError {
            throw Problem.body(Self.text(error))
        }
    }

    /// Names the place of a mistake. The value is not part of the text, since it may be a password.
    private static func text(_ error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing."
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "'\(context.codingPath.map(\.stringValue).joined(separator: "."))' is of another type than expected."
        default: "Expected an object of JSON."
        }
    }
}

/// One request for the routes of accounts.
struct AccountCall: Sendable {
    let routes: AccountRoutes
    let request: Request
    let peer: String?

    /// The method; the headers of an answer to `HEAD` are those of `GET`, and the responder leaves its body out.
    var method: HTTPRequest.Method { request.method == .head ? .get : request.method }

    static var decoder: JSONDecoder { JSONDecoder() }

    /// The sender of the request.
    func client(device: String? = nil) -> Client {
        Client(address: peer, device: device ?? request.headers[.userAgent] ?? "")
    }

    func body<Body: Decodable>(as type: Body.Type) async throws -> Body { try await routes.body(request, as: type) }

    /// The account of the request's token.
    ///
    /// - Throws: ``AccountError/notSignedIn``.
    func authenticated() async throws -> AuthenticatedCall {
        guard let credential = try routes.credentials.credential(of: request) else { throw AccountError.notSignedIn }
        let found = try await routes.accounts.authenticate(token: credential.token, from: client())
        return AuthenticatedCall(
            found: found, headers: routes.credentials.renewal(of: found, credential, routes.clock()))
    }

    /// An answer of JSON; dates are in the form of ISO 8601.
    static func json(
        _ value: some Encodable, status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) throws -> Response {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return .bytes([UInt8](try encoder.encode(value)), status: status, type: "application/json", headers: headers)
    }
}

/// A request of an account, with the headers that renew its token.
struct AuthenticatedCall: Sendable {
    let found: Authenticated
    let headers: HTTPFields

    var account: Account { found.account }

    func json(_ value: some Encodable, status: HTTPResponse.Status = .ok) throws -> Response {
        try AccountCall.json(value, status: status, headers: headers)
    }

    func empty(_ status: HTTPResponse.Status = .noContent) -> Response { Response(status: status, headers: headers) }
}

extension SessionCredentials {
    /// Returns the headers that bring a renewed token to the client in the way in which it sent its own.
    package func renewal(of found: Authenticated, _ credential: Credential, _ now: Date) -> HTTPFields {
        guard let token = found.renewedToken else { return [:] }
        return credential.isCookie
            ? [.setCookie: setCookie(token, until: found.session.endsAt, now: now)] : [.renewedToken: token]
    }
}
