import Hummingbird

/// What belongs to one request, with the connection that it came by.
package struct ConnectionContext: RequestContext, @unchecked Sendable {
    // Safe because the source is a channel and a logger, which are both Sendable.
    package var coreContext: CoreRequestContextStorage
    /// The connection.
    package let source: ApplicationRequestContextSource

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        self.source = source
    }
}

/// The connection of the request that the server answers at the moment.
package enum Connection {
    /// The network address of the other end.
    @TaskLocal package static var address: String?
}

/// Hands a request to the app's programming interface, if it is one of it, and else to its pages.
struct ConnectionResponder: HTTPResponder {
    typealias Context = ConnectionContext

    let pages: Switchboard

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        if let answer = try await pages.interface?(request, context.source) { return answer }
        return try await Connection.$address.withValue(context.source.channel.remoteAddress?.ipAddress) {
            try await pages.respond(to: request, context: BasicRequestContext(source: context.source))
        }
    }
}
