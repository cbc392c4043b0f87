import Foundation
import HTTPTypes
import Hummingbird

/// Between the server and the pages: makes visits of requests and responses of replies.
///
/// Every form is read here, so that none is answered without its token.
@MainActor package final class Desk {
    /// The longest form without a file.
    package nonisolated static let longestForm = 64 * 1024
    /// The largest picture, with what a form has around it.
    package nonisolated static let longestUpload = Pictures.largest + 16 * 1024

    private let flashes = Flashes()
    let answers = RecentAnswers()
    private let order = FormOrder()
    /// The store that the pages show, once it is open: what a form changed is in it before the form is answered.
    var store: LiveStore?
    /// Finds who is signed in, in an app with accounts.
    package var sessions: (any SessionReader)?
    /// Whether browsers reach the server through a proxy with TLS: cookies go through TLS only, and the proxy tells the address of the
    /// client.
    package var isBehindProxy = false
    package let site: Site

    package init(site: Site) { self.site = site }

    package typealias Handler = @MainActor @Sendable (Visit) async throws -> Reply

    /// Answers GETs of the path.
    package nonisolated func get(
        _ router: Router<BasicRequestContext>, _ path: RouterPath, _ handler: @escaping Handler
    ) {
        router.get(path) { request, context in
            let (visit, visitor) = try await self.visit(request, context)
            return try await self.answer(visit, visitor, request, handler)
        }
    }

    /// Answers GETs of the path for all accounts and visitors alike, such as those of style sheets.
    nonisolated func getForAll(
        _ router: Router<BasicRequestContext>, _ path: RouterPath, _ handler: @escaping Handler
    ) {
        router.get(path) { request, context in
            let visit = try await self.visit(request, context, visitor: nil)
            return try await self.answer(visit, nil, request, handler)
        }
    }

    /// Answers forms that are sent to the path.
    ///
    /// - Parameter once: whether a form that is sent twice is answered as it was the first time; for those that add something.
    package nonisolated func post(
        _ router: Router<BasicRequestContext>, _ path: RouterPath, takesFile: Bool = false, once: Bool = false,
        _ handler: @escaping Handler
    ) {
        router.post(path) { request, context in
            var (visit, visitor) = try await self.visit(request, context)
            visit.form = try await Self.form(of: request, visit, takesFile: takesFile)
            return try await self.answer(visit, visitor, request, once: once, self.settling(handler))
        }
    }

    /// The handler, which waits where another process is writing to the store: what it changed is in the store when the form is answered.
    nonisolated private func settling(_ handler: @escaping Handler) -> Handler {
        { visit in
            let store = self.store
            // Not by an app whose store a backup has taken the place of.
            let reply = try await BusyStore.retrying(
                { self.order.isOutdated(visit) ? Reply.redirect(visit.path) : try await handler(visit) },
                while: { self.store === store })
            try await store?.settle()
            return reply
        }
    }

    /// Has the handler answer; steps that it performs belong to the browser that asks.
    ///
    /// - Parameter once: whether what was answered to the same form before is answered again.
    private func answer(
        _ visit: Visit, _ visitor: Visitor?, _ request: Request, once: Bool = false, _ handler: @escaping Handler
    ) async throws -> Response {
        let reply = try await Browser.$current.withValue(visit.token) {
            once ? try await answers.reply(to: visit, handler) : try await handler(visit)
        }
        var response = try response(reply, visit, request)
        for field in visitor?.headers ?? [:] {
            // What the app says itself, as after a sign-out, counts more than a renewed cookie of the same name.
            let name = field.value.prefix { $0 != "=" } + "="
            if response.headers[values: field.name].contains(where: { $0.hasPrefix(name) }) { continue }
            response.headers.append(field)
        }
        return response
    }

    /// Reads a form: no more than its beginning before its token is known to be the browser's.
    nonisolated private static func form(of request: Request, _ visit: Visit, takesFile: Bool) async throws -> Form {
        let type = request.headers[.contentType] ?? ""
        let isMultipart = type.hasPrefix("multipart/form-data")
        let boundary = type.range(of: "boundary=").map {
            type[$0.upperBound...].prefix { $0 != ";" }.trimmingCharacters(in: ["\"", " "])
        }
        let isUpload = takesFile && isMultipart
        let limit = isUpload ? longestUpload : longestForm
        let length = request.headers[.contentLength].flatMap { Int($0) }
        var reader = BodyReader(length: length, limit: limit, time: .seconds(isUpload ? 180 : 30)) { beginning in
            let form =
                isMultipart
                ? Form(beginning: Data(beginning.readableBytesView), boundary: boundary ?? "")
                : Form(query: String(buffer: beginning))
            return Secret.areEqual(form["token"] ?? "", visit.token)
        }
        if let length, length > limit { reader.refusal = .tooLong } else if visit.isNew { reader.refusal = .refused }
        switch try await reader.read(request.body) {
        case .whole(let body):
            guard isMultipart else { return Form(query: String(buffer: body)) }
            guard let form = Form(multipart: Data(body.readableBytesView), boundary: boundary ?? "") else {
                throw HTTPError(.badRequest, message: "What was sent is no form.")
            }
            return form
        case .refused:
            throw HTTPError(
                .forbidden, message: "This form is too old, or cookies are switched off. Go back and try again.")
        case .tooLong:
            throw HTTPError(
                .contentTooLarge, message: "That is too large: at most \(limit / 1024) kB can be sent here.")
        case .cutOff: throw HTTPError(.badRequest, message: "The form did not arrive whole. Send it again.")
        case .late: throw HTTPError(.requestTimeout, message: "The form took too long to arrive. Send it again.")
        }
    }

    private func visit(
        _ request: Request, _ context: BasicRequestContext
    ) async throws -> (visit: Visit, visitor: Visitor?) {
        let visitor = try await sessions?.visitor(of: request, from: address(of: request))
        return (try visit(request, context, visitor: visitor), visitor)
    }

    /// The address of the client: of the other end of the connection, or, behind a proxy, what the proxy has added.
    private func address(of request: Request) -> String? {
        guard isBehindProxy, let last = request.headers[.forwardedFor]?.split(separator: ",").last else {
            return Connection.address
        }
        return last.trimmingCharacters(in: .whitespaces)
    }

    private func visit(_ request: Request, _ context: BasicRequestContext, visitor: Visitor?) throws -> Visit {
        let cookies = request.cookies
        let known = visitor?.formToken ?? cookies["token"]?.value ?? ""
        let isNew = !Secret.isOne(known)
        // A message belongs to the next page, not to a picture on it.
        let flash = request.method == .get ? cookies["flash"].flatMap { flashes.take($0.value) } : nil
        var number = 0
        if let text = context.parameters.get("number") {
            guard let value = Int(text), value > 0 else { throw HTTPError(.notFound) }
            number = value
        }
        var visit = Visit(
            path: request.uri.path, query: Form(query: request.uri.query ?? ""), number: number,
            id: context.parameters.get("id") ?? "", form: Form(),
            token: isNew ? Secret.make() : known, isNew: isNew, flash: flash,
            isPatch: request.headers[.isPatch] == "1", order: request.headers[.order].flatMap(Self.order))
        visit.person = visitor?.person
        visit.address = address(of: request)
        visit.userAgent = request.headers[.userAgent] ?? ""
        visit.host = request.head.authority ?? ""
        visit.lastEvent = request.headers[.lastEvent]
        return visit
    }

    /// Reads the page's name and the form's number, "name.number".
    private static func order(_ text: String) -> (page: String, number: Int)? {
        let parts = text.split(separator: ".")
        guard text.utf8.count < 100, parts.count == 2, let number = Int(parts[1]) else { return nil }
        return (String(parts[0]), number)
    }

    private func response(_ reply: Reply, _ visit: Visit, _ request: Request) throws -> Response {
        var response: Response
        switch reply {
        case .page(let page, let status):
            response = Response(
                status: .init(code: status), headers: [.contentType: "text/html; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: page.html(visit).text)))
        case .redirect(let path, let flash):
            response = visit.isPatch ? try patch(path, flash, visit) : redirect(path, flash)
        case .file(let bytes, let type, let isForever):
            response = Response(
                status: .ok,
                headers: [
                    .contentType: type,
                    .cacheControl: isForever ? "public, max-age=31536000, immutable" : "private, no-cache",
                ], body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        case .events(let stream): response = events(stream, request)
        case .with(let headers, let reply):
            response = try self.response(reply, visit, request)
            response.headers.append(contentsOf: headers)
            return response
        }
        if visit.isNew, case .page = reply {
            response.setCookie(
                Cookie(
                    name: "token", value: visit.token, maxAge: 31_536_000, path: "/", secure: isBehindProxy,
                    httpOnly: true, sameSite: .strict))
        }
        return response
    }

    private func redirect(_ path: String, _ flash: Flash?) -> Response {
        var response = Response(status: .seeOther, headers: [.location: path])
        if let flash {
            response.setCookie(
                Cookie(
                    name: "flash", value: flashes.keep(flash), maxAge: 60, path: "/", secure: isBehindProxy,
                    httpOnly: true, sameSite: .strict))
        }
        return response
    }

    /// What the script is told in place of a redirect: the message at once, and where to go.
    private func patch(_ path: String, _ flash: Flash?, _ visit: Visit) throws -> Response {
        struct Patch: Encodable {
            let to: String
            let flash: String
            /// The key of the form when it is sent the next time.
            let once: String
        }
        let patch = Patch(
            to: path, flash: flash.map { Page.flash($0, token: visit.token).text } ?? "", once: Secret.make())
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: .init(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(patch))))
    }

    /// A response that lasts as long as the page is open.
    package nonisolated func events(_ stream: AsyncStream<ByteBuffer>, _ request: Request) -> Response {
        Response(
            status: .ok, headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
            body: .init { writer in
                try? await request.body.consumeWithCancellationOnInboundClose { _ in
                    for await bytes in stream { try await writer.write(bytes) }
                }
                try await writer.finish(nil)
            })
    }

    /// Style sheet, scripts and icon.
    package nonisolated func addFiles(to router: Router<BasicRequestContext>) {
        let script = "text/javascript; charset=utf-8"
        for (name, type) in [
            ("app.css", "text/css; charset=utf-8"), ("app.js", script), ("keep.js", script), ("stream.js", script),
        ] {
            getForAll(router, RouterPath("/\(name)")) { visit in
                guard let data = Assets.data(name) else { throw HTTPError(.notFound) }
                return .file(data, type: type, isForever: visit.query["v"] != nil)
            }
        }
        let icon = site.icon
        getForAll(router, "/favicon.svg") { _ in .file(icon, type: "image/svg+xml") }
        addInstalling(to: router)
    }

    /// Serves the stream of changes: of one list, or of several with commas between them, for all tabs of a browser.
    nonisolated package func addEvents(of feed: LiveFeed, to router: Router<BasicRequestContext>) {
        // By hand, since a page that comes back says in a header what it has seen.
        router.get("/events") { request, context in
            let query = Form(query: request.uri.query ?? "")
            let seen = request.headers[.lastEvent] ?? query["after"]
            let lists = (query["list"] ?? "none").split(separator: ",").map(String.init)
            guard let stream = await feed.subscribe(to: Set(lists), after: seen) else {
                // The script of the page asks again after some seconds.
                return Response(status: .serviceUnavailable, headers: [.retryAfter: "5"])
            }
            return self.events(stream, request)
        }
    }
}
