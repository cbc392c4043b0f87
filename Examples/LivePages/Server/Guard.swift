import Foundation
import HTTPTypes
import Hummingbird

/// Refuses what no page of ours asks for, and tells browsers to be strict.
package struct Guard: RouterMiddleware {
    package typealias Context = BasicRequestContext

    /// Names under which the server may be asked for.
    package let hosts: HostNames
    package let site: Site

    package init(hosts: HostNames, site: Site) {
        self.hosts = hosts
        self.site = site
    }

    package static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"

    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let refusal = refusal(request)
        if refusal != nil, request.method != .get, request.method != .head, !Self.isEndless(request) {
            try await BodyReader.discard(request.body)
        }
        var response = try await answer(request, context, refusal, next)
        response.headers[.contentSecurityPolicy] = Self.policy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "same-origin"
        response.headers[.openerPolicy] = "same-origin"
        response.headers[.resourcePolicy] = "same-origin"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }

    /// Whether the stated length of the request is too large to read and discard.
    private static func isEndless(_ request: Request) -> Bool {
        request.headers[.contentLength].flatMap { Int($0) }.map { $0 > BodyReader.mostDiscarded } ?? false
    }

    private func answer(
        _ request: Request, _ context: Context, _ refusal: (status: Int, text: String)?,
        _ next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let refusal { return ErrorPage.response(site, refusal.status, refusal.text) }
        do { return try await next(request, context) } catch let error as HTTPError {
            return ErrorPage.response(site, error.status.code, error.body ?? "")
        } catch let error as any HTTPResponseError {
            return ErrorPage.response(
                site, error.status.code, error.status == .contentTooLarge ? "That is too large." : "")
        } catch is CancellationError {
            throw CancellationError()
        } catch let error where BusyStore.isBusy(error) {
            var response = ErrorPage.response(
                site, 503,
                "Another program is writing to the store just now. Nothing was changed: go back, and try again.")
            response.headers[.retryAfter] = "5"
            return response
        } catch {
            // The reason may tell where files lie on this machine: it is for the log alone.
            let mark = String(UInt32.random(in: 1 << 28 ... .max), radix: 16)
            context.logger.error("\(request.method) \(request.uri.path) [\(mark)]: \(error)")
            return ErrorPage.response(site, 500, "The server's log has the reason, marked \(mark).")
        }
    }

    private func refusal(_ request: Request) -> (status: Int, text: String)? {
        let host = request.head.authority ?? ""
        guard hosts.contains(host) else {
            let name = String(HostNames.name(of: host).prefix(100))
            return (
                421,
                """
                This server does not answer to the name “\(name)”. Ask for it by the address of its machine, or start it with \
                --allowed-host \(name).
                """
            )
        }
        if Self.isEndless(request) { return (413, "That is too large.") }
        switch request.method {
        case .get, .head:
            return isOfOtherSite(request, host) && !Self.isFollowedLink(request)
                ? (
                    403,
                    "Another site asked for this. A link may lead here, but no other page may read or show what is here."
                ) : nil
        case .post: return isOfOtherSite(request, host) ? (403, "This form was sent from another site.") : nil
        default: return (405, "This page can be read and sent.")
        }
    }

    /// Whether a page of another site asks.
    private func isOfOtherSite(_ request: Request, _ host: String) -> Bool {
        if let site = request.headers[.fetchSite], site != "same-origin", site != "none" { return true }
        guard let origin = request.headers[.origin] else { return false }
        return origin != "http://\(host)" && origin != "https://\(host)"
    }

    /// Whether the user followed a link, so that the page shows on its own: not within another one, nor as a picture.
    private static func isFollowedLink(_ request: Request) -> Bool {
        request.headers[.origin] == nil && request.headers[.fetchMode] == "navigate"
            // Our service worker asks for the page of a link in the browser's place, and then for no kind of place to show it.
            && ["document", "empty"].contains(request.headers[.fetchDestination] ?? "document")
    }
}

extension HTTPField.Name {
    package static let referrerPolicy = HTTPField.Name.known("Referrer-Policy")
    package static let openerPolicy = HTTPField.Name.known("Cross-Origin-Opener-Policy")
    package static let resourcePolicy = HTTPField.Name.known("Cross-Origin-Resource-Policy")
    package static let fetchSite = HTTPField.Name.known("Sec-Fetch-Site")
    package static let fetchMode = HTTPField.Name.known("Sec-Fetch-Mode")
    package static let fetchDestination = HTTPField.Name.known("Sec-Fetch-Dest")
    package static let isPatch = HTTPField.Name.known("X-Patch")
    package static let order = HTTPField.Name.known("X-Order")
    static let forwardedFor = HTTPField.Name.known("X-Forwarded-For")
    package static let lastEvent = HTTPField.Name.known("Last-Event-ID")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("'\(name)' is no name of a header") }
        return name
    }
}
