import CoreDataAccounts
import Foundation
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import CoreDataService

/// The routes of accounts in this process, without a socket.
private final class AccountServer: Sendable {
    static let password = "a lamp under the stairs"

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("routes-\(UUID())")
    private let routes: AccountRoutes
    let time: SteppedTime

    init(usesTLS: Bool = true) throws {
        var settings = AccountSettings()
        settings.passwordCost = PasswordCost(costBits: 4, blockSize: 1, parallelism: 1)
        var credentials = SessionCredentials()
        credentials.usesTLS = usesTLS
        let time = SteppedTime()
        self.time = time
        let accounts = try Accounts(
            at: folder.appendingPathComponent("accounts.sqlite"), settings: settings, clock: { time.now })
        routes = AccountRoutes(accounts, credentials: credentials, limits: ServiceLimits(), clock: { time.now })
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Sends a request with JSON, and returns the answer or the problem.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ json: String? = nil, token: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> Reply {
        var headers = headers
        if json != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        if let token { headers[.authorization] = "Bearer \(token)" }
        let head = HTTPRequest(
            method: method, scheme: "https", authority: "example.com", path: path, headerFields: headers)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer(string: json ?? "")))
        do {
            guard let response = try await routes.answer(request, peer: "192.0.2.1") else {
                return Reply(status: 0, headers: [:], text: "")
            }
            let text = Mutex("")
            try await response.body.write(Collector { piece in text.withLock { $0 += piece } })
            return Reply(status: response.status.code, headers: response.headers, text: text.withLock { $0 })
        } catch let problem as Problem {
            return Reply(status: problem.status, headers: [:], text: problem.type, problem: problem)
        }
    }

    /// Signs an account up and returns its token and identity.
    func signUp(_ name: String) async throws -> (token: String, id: String) {
        let reply = try await send(.post, "/accounts", #"{"name":"\#(name)","password":"\#(Self.password)"}"#)
        return (try #require(reply["token"]), try #require(reply["account", "id"]))
    }
}

/// A clock that tests move.
private final class SteppedTime: Sendable {
    private let date = Mutex(Date(timeIntervalSinceReferenceDate: 800_000_000))

    var now: Date { date.withLock { $0 } }

    func move(by seconds: TimeInterval) { date.withLock { $0 += seconds } }
}

private struct Collector: ResponseBodyWriter {
    let add: @Sendable (String) -> Void

    func write(_ buffer: ByteBuffer) async throws { add(String(buffer: buffer)) }
    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// An answer; status 0 if the path belongs to other routes.
private struct Reply: Sendable {
    let status: Int
    let headers: HTTPFields
    let text: String
    var problem: Problem?

    private var object: Any? { try? JSONSerialization.jsonObject(with: Data(text.utf8)) }

    /// A text in the JSON, by its path.
    subscript(_ path: String...) -> String? {
        var value = object
        for name in path { value = (value as? [String: Any])?[name] }
        return value as? String
    }

    var items: [[String: Any]] { ((object as? [String: Any])?["items"] as? [[String: Any]]) ?? [] }
}

@Suite struct AccountRoutesTests {
    @Test func accountSignsUpInAndOut() async throws {
        let server = try AccountServer()
        let up = try await server.send(
            .post, "/accounts", #"{"name":"Ann","password":"\#(AccountServer.password)","device":"phone"}"#)
        #expect(up.status == 201)
        #expect(up["account", "name"] == "Ann")
        #expect(up["session", "device"] == "phone")
        #expect(up["account", "createdAt"] == "2026-05-09T06:13:20Z")
        #expect(up.headers[.setCookie] == nil)
        let token = try #require(up["token"])
        let me = try await server.send(.get, "/accounts/me", token: token)
        #expect(me["account", "id"] == up["account", "id"])
        let again = try await server.send(
            .post, "/sessions", #"{"name":"ann","password":"\#(AccountServer.password)"}"#)
        #expect(again.status == 201)
        #expect(try await server.send(.get, "/sessions", token: token).items.count == 2)
        #expect(try await server.send(.delete, "/sessions/current", token: again["token"]).status == 204)
        #expect(try await server.send(.get, "/sessions", token: again["token"]).status == 401)
        #expect(try await server.send(.get, "/sessions", token: token).items.count == 1)
    }

    @Test func failuresAreProblemsWithStableTypes() async throws {
        let server = try AccountServer()
        _ = try await server.signUp("ann")
        let wrong = try await server.send(.post, "/sessions", #"{"name":"ann","password":"wrong"}"#)
        let unknown = try await server.send(.post, "/sessions", #"{"name":"nobody","password":"wrong"}"#)
        #expect(wrong.status == 401)
        #expect(wrong.problem?.type == "wrong-credentials")
        #expect(wrong.problem == unknown.problem)
        #expect(wrong.problem?.headers["WWW-Authenticate"] == "Bearer")
        let taken = try await server.send(
            .post, "/accounts", #"{"name":"ANN","password":"\#(AccountServer.password)"}"#)
        #expect(taken.status == 409)
        let short = try await server.send(.post, "/accounts", #"{"name":"ben","password":"short"}"#)
        #expect(short.status == 422)
        #expect(short.problem?.type == "password-too-short")
        for _ in 1...20 { _ = try await server.send(.post, "/sessions", #"{"name":"nobody","password":"x"}"#) }
        let limited = try await server.send(.post, "/sessions", #"{"name":"nobody","password":"x"}"#)
        #expect(limited.status == 429)
        #expect(limited.problem?.headers["Retry-After"] == "900")
    }

    @Test(arguments: [
        ("", 400), ("{", 400), ("[]", 400), (#"{"name":"ann"}"#, 400), (#"{"name":1,"password":"x"}"#, 400),
        (#"{"name":"ann","password":null}"#, 400),
        (#"{"name":"\#(String(repeating: "x", count: 20_000))","password":"x"}"#, 413),
    ]) func otherBodiesAreRefused(_ body: String, _ status: Int) async throws {
        let server = try AccountServer()
        let reply = try await server.send(.post, "/sessions", body)
        #expect(reply.status == status)
        // A value may be a password.
        #expect(reply.problem?.detail.contains("ann") == false)
    }

    @Test func formsOfBrowsersAreRefused() async throws {
        let server = try AccountServer()
        for type in ["text/plain", "application/x-www-form-urlencoded"] {
            for sign in [HTTPField.Name.origin, .cookie, .secFetchSite] {
                let reply = try await server.send(
                    .post, "/sessions", #"{"name":"ann","password":"x"}"#, headers: [.contentType: type, sign: "x"])
                #expect(reply.status == 415)
            }
            // curl sends this type unless it is told another one.
            let reply = try await server.send(
                .post, "/sessions", #"{"name":"ann","password":"x"}"#, headers: [.contentType: type])
            #expect(reply.status == 401)
        }
    }

    @Test(arguments: [(true, "__Host-session", "; Secure"), (false, "session", "")])
    func browserGetsACookie(_ usesTLS: Bool, _ name: String, _ end: String) async throws {
        let server = try AccountServer(usesTLS: usesTLS)
        let own: HTTPFields = [.secFetchSite: "same-origin"]
        let up = try await server.send(
            .post, "/accounts", #"{"name":"ann","password":"\#(AccountServer.password)","cookie":true}"#, headers: own)
        #expect(up.status == 201)
        #expect(up["token"] == nil)
        let cookie = try #require(up.headers[.setCookie])
        #expect(cookie.hasPrefix("\(name)="))
        #expect(cookie.hasSuffix("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax\(end)"))
        let sent = "theme=dark; " + (cookie.split(separator: ";").first.map(String.init) ?? "")
        #expect(try await server.send(.get, "/accounts/me", headers: [.cookie: sent]).status == 200)
        let out = try await server.send(
            .delete, "/sessions/current", headers: [.cookie: sent, .secFetchSite: "same-origin"])
        #expect(out.status == 204)
        #expect(out.headers[.setCookie]?.hasPrefix("\(name)=; Path=/; Max-Age=0") == true)
        #expect(try await server.send(.get, "/accounts/me", headers: [.cookie: sent]).status == 401)
    }

    @Test(arguments: [
        (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "same-site"], 403), ([:], 403),
        (["Origin": "https://evil.example"], 403), (["Origin": "null"], 403), (["Origin": "http://example.com"], 403),
        (["Sec-Fetch-Site": "cross-site", "Origin": "https://example.com"], 403),
        (["Origin": "https://example.com"], 201), (["Sec-Fetch-Site": "same-origin"], 201),
        (["Sec-Fetch-Site": "none"], 201),
    ]) func otherSitesCannotUseTheCookie(_ headers: [String: String], _ status: Int) async throws {
        let server = try AccountServer()
        let ann = try await server.signUp("ann")
        var fields: HTTPFields = [.cookie: "__Host-session=\(ann.token)"]
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        #expect(try await server.send(.post, "/groups", #"{"name":"Home"}"#, headers: fields).status == status)
        // Neither can they sign a visitor in.
        let signIn = #"{"name":"ann","password":"\#(AccountServer.password)","cookie":true}"#
        fields[.cookie] = nil
        #expect(try await server.send(.post, "/sessions", signIn, headers: fields).status == status)
    }

    @Test func tokenIsRenewedTheWayItCame() async throws {
        let server = try AccountServer()
        let ann = try await server.signUp("ann")
        server.time.move(by: 16 * 86_400)
        let bearer = try await server.send(.get, "/groups", token: ann.token)
        let renewed = try #require(bearer.headers[.renewedToken])
        #expect(renewed != ann.token)
        #expect(bearer.headers[.setCookie] == nil)
        server.time.move(by: 16 * 86_400)
        let cookie = try await server.send(.get, "/groups", headers: [.cookie: "__Host-session=\(renewed)"])
        #expect(cookie.status == 200)
        #expect(cookie.headers[.renewedToken] == nil)
        #expect(cookie.headers[.setCookie]?.hasPrefix("__Host-session=") == true)
    }

    @Test func householdIsFormed() async throws {
        let server = try AccountServer()
        let (ann, ben) = (try await server.signUp("ann"), try await server.signUp("ben"))
        let group = try #require(
            try await server.send(.post, "/groups", #"{"name":"Home"}"#, token: ann.token)["groupID"])
        let invitation = try await server.send(
            .post, "/groups/\(group)/invitations", #"{"role":"viewer","uses":2,"lifetime":3600}"#, token: ann.token)
        #expect(invitation.status == 201)
        let link = try #require(invitation["token"])
        let preview = try await server.send(.post, "/invitations/preview", #"{"token":"\#(link)"}"#)
        #expect(preview["groupName"] == "Home")
        let joined = try await server.send(.post, "/memberships", #"{"token":"\#(link)"}"#, token: ben.token)
        #expect(joined.status == 201)
        #expect(joined["role"] == "viewer")
        // A viewer, and then a stranger.
        let path = "/groups/\(group)/members/\(ben.id)"
        #expect(try await server.send(.patch, path, #"{"role":"owner"}"#, token: ben.token).status == 403)
        #expect(try await server.send(.patch, path, #"{"role":"editor"}"#, token: ann.token).status == 204)
        #expect(try await server.send(.get, "/groups/\(group)/members", token: ben.token).items.count == 2)
        #expect(try await server.send(.delete, path, token: ben.token).status == 200)
        #expect(try await server.send(.get, "/groups/\(group)/members", token: ben.token).status == 404)
        #expect(try await server.send(.get, "/groups/\(UUID())/members", token: ben.token).status == 404)
        #expect(try await server.send(.delete, "/groups/\(group)", token: ben.token).status == 404)
        #expect(try await server.send(.delete, "/groups/\(group)", token: ann.token).status == 204)
    }

    /// Every path that needs an account, with a method that it has.
    static let closed: [(HTTPRequest.Method, String)] = [
        (.get, "/accounts"), (.get, "/accounts/me"), (.put, "/accounts/me/password"), (.put, "/accounts/me/email"),
        (.get, "/accounts/me/export"), (.get, "/accounts/me/events"), (.post, "/accounts/me/deletion"),
        (.patch, "/accounts/\(UUID())"), (.post, "/accounts/\(UUID())/password-reset"),
        (.delete, "/accounts/\(UUID())/sessions"), (.get, "/events"), (.get, "/sessions"), (.delete, "/sessions"),
        (.delete, "/sessions/\(UUID())"), (.get, "/groups"), (.post, "/groups"), (.patch, "/groups/\(UUID())"),
        (.delete, "/groups/\(UUID())"), (.get, "/groups/\(UUID())/members"),
        (.patch, "/groups/\(UUID())/members/\(UUID())"), (.delete, "/groups/\(UUID())/members/\(UUID())"),
        (.get, "/groups/\(UUID())/invitations"), (.post, "/groups/\(UUID())/invitations"),
        (.delete, "/groups/\(UUID())/invitations/\(UUID())"), (.post, "/memberships"),
    ]

    @Test func everyOtherRouteNeedsAToken() async throws {
        let server = try AccountServer()
        _ = try await server.signUp("ann")
        let body = #"{"name":"x","token":"x","role":"owner","current":"x","new":"x","password":"x","isSuspended":true}"#
        for (method, path) in Self.closed {
            let json = method == .get || method == .delete ? nil : body
            #expect(try await server.send(method, path, json).status == 401, "\(method) \(path)")
            let other = try await server.send(method, path, json, token: String(repeating: "A", count: 43))
            #expect(other.status == 401, "\(method) \(path)")
        }
    }

    @Test(arguments: [
        "/", "/api/Item", "/accounts/me/other", "/groups/x/other", "/sessions/a/b", "/account", "//accounts",
    ])
    func otherPathsBelongToOthers(_ path: String) async throws {
        let server = try AccountServer()
        let ann = try await server.signUp("ann")
        let reply = try await server.send(.get, path, token: ann.token)
        #expect(reply.status == 0 || reply.status == 404)
    }

    @Test func otherMethodsAreNotAllowed() async throws {
        let server = try AccountServer()
        for (method, path) in [
            (HTTPRequest.Method.put, "/accounts"), (.post, "/accounts/me"), (.put, "/sessions"), (.get, "/memberships"),
            (.get, "/password-resets"), (.post, "/groups/\(UUID())"),
        ] {
            let reply = try await server.send(method, path)
            #expect(reply.status == 405, "\(method) \(path)")
            #expect(reply.problem?.headers["Allow"] != nil)
        }
    }
}
