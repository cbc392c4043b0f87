import Hummingbird

/// What belongs to one request.
package struct ServiceRequestContext: RequestContext {
    package var coreContext: CoreRequestContextStorage
    /// The address of the client: of the other end of the connection, or, behind a proxy that is trusted, what the proxy
    /// says.
    package var peer: String?

    package init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        peer = source.channel.remoteAddress?.ipAddress
    }
}
