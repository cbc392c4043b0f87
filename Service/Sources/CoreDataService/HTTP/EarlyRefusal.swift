import CoreDataJSON
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// Turns the answers to requests that never reach the service into problems.
///
/// Bytes that are no request of HTTP are refused by the parser. Hummingbird answers those with an empty 400, and closes
/// the connection without an answer if a request has a method or an address that HTTP does not have. Each answer of
/// ``ServiceResponder`` has a request ID, so an answer without one is Hummingbird's.
final class EarlyRefusal: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The reason of the parser.
    private var reason: (any Error)?
    /// The body that replaces an empty one.
    private var body: ByteBuffer?
    private var isAnswering = false

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is HTTPParserError {
            reason = error
            return context.fireErrorCaught(error)
        }
        // The request has no head, so nothing behind this handler answers it.
        guard !isAnswering else { return context.fireErrorCaught(error) }
        isAnswering = true
        let problem = Self.problem(error)
        var head = HTTPResponse(status: .init(code: problem.status))
        let bytes = Self.prepare(&head, problem)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(bytes)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.close(promise: nil)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head) where head.status.kind == .clientError && head.headerFields[.requestID] == nil:
            let problem = Self.problem(reason)
            head.status = .init(code: problem.status)
            body = Self.prepare(&head, problem)
            isAnswering = true
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end(let trailers):
            if let body { context.write(wrapOutboundOut(.body(body)), promise: nil) }
            body = nil
            isAnswering = false
            context.write(wrapOutboundOut(.end(trailers)), promise: promise)
        case .head, .body:
            isAnswering = true
            context.write(data, promise: promise)
        }
    }

    /// Writes the headers of a problem, and returns its body.
    private static func prepare(_ head: inout HTTPResponse, _ problem: Problem) -> ByteBuffer {
        let id = String(UInt64.random(in: .min ... .max), radix: 36)
        let body = ByteBuffer(bytes: JSONWriter.bytes(problem.json(requestID: id)))
        head.headerFields[.contentType] = "application/problem+json"
        head.headerFields[.contentLength] = String(body.readableBytes)
        head.headerFields[.connection] = "close"
        head.headerFields[.requestID] = id
        head.headerFields.addSecurity(isPage: false)
        return body
    }

    private static func problem(_ error: (any Error)?) -> Problem {
        if case .headerOverflow? = error as? HTTPParserError {
            return Problem(
                431, "headers-too-large", "The headers are too large",
                "A header may have at most \(HTTPService.headerSize) bytes, all of them \(HTTPService.headerListSize) bytes "
                    + "and \(HTTPService.headerCount) fields.")
        }
        return Problem(
            400, "http", "This is no request of HTTP/1.1",
            "The request line, a header or the framing of the body is wrong.")
    }
}
