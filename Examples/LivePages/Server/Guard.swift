import Foundation
import HTTPTypes
import Hummingbird

/// Refuses what no page of ours asks for, and tells browsers to be strict.
package struct Guard: RouterMiddleware {
    package typealias Context = BasicRequestContext

    /// Names under which the server may be asked for; empty for any.
    package let hosts: Set<String>
    package let site: Site

    package init(hosts: Set<String>, site: Site) {
        self.hosts = hosts
        self.site = site
    }

    /// How much of an upload that is too large is read before it is refused.
    private static let mostRead = 128 * 1024 * 1024

    package static let policy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' blob:; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'"

    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        let refusal = refusal(request)
        if request.method != .get, request.method != .head {
            request.body = try await Self.body(of: request, keeping: refusal == nil ? Desk.longestUpload + 1 : 0)
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

    /// What was sent, read before it is answered: a browser that is refused while it sends does not read why.
    ///
    /// - Parameter limit: how much of it memory keeps; one byte beyond what may be sent is enough to tell that it is too large.
    private static func body(of request: Request, keeping limit: Int) async throws -> RequestBody {
        var all = ByteBuffer()
        var count = 0
        // Nobody waits for what is that long.
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > mostRead {
            return RequestBody(buffer: all)
        }
        for try await piece in request.body {
            count += piece.readableBytes
            all.writeBytes(piece.readableBytesView.prefix(limit - all.readableBytes))
            if count > Self.mostRead { break }
        }
        return RequestBody(buffer: all)
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
        } catch {
            // The reason may tell where files lie on this machine: it is for the log alone.
            let mark = String(UInt32.random(in: 1 << 28 ... .max), radix: 16)
            context.logger.error("\(request.method) \(request.uri.path) [\(mark)]: \(error)")
            return ErrorPage.response(site, 500, "The server's log has the reason, marked \(mark).")
        }
    }

    private func refusal(_ request: Request) -> (status: Int, text: String)? {
        let host = request.head.authority ?? ""
        // A page elsewhere whose name has been made to lead here must not read what is here.
        if !hosts.isEmpty, !hosts.contains(Self.name(of: host)) {
            return (421, "This server is asked for by another name.")
        }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > Self.mostRead {
            return (413, "That is too large.")
        }
        guard request.method == .post else {
            return request.method == .get || request.method == .head ? nil : (405, "This page can be read and sent.")
        }
        if let site = request.headers[.fetchSite], site != "same-origin", site != "none" {
            return (403, "This form was sent from another site.")
        }
        if let origin = request.headers[.origin], origin != "http://\(host)", origin != "https://\(host)" {
            return (403, "This form was sent from another site.")
        }
        return nil
    }

    private static func name(of host: String) -> String {
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return String(host[...end]) }
        return host.split(separator: ":").first.map { $0.lowercased() } ?? ""
    }
}

extension HTTPField.Name {
    package static let referrerPolicy = HTTPField.Name.known("Referrer-Policy")
    package static let openerPolicy = HTTPField.Name.known("Cross-Origin-Opener-Policy")
    package static let resourcePolicy = HTTPField.Name.known("Cross-Origin-Resource-Policy")
    package static let fetchSite = HTTPField.Name.known("Sec-Fetch-Site")
    package static let isPatch = HTTPField.Name.known("X-Patch")
    package static let lastEvent = HTTPField.Name.known("Last-Event-ID")

    private static func known(_ name: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(name) else { preconditionFailure("'\(name)' is no name of a header") }
        return name
    }
}
