/// A server that could not be reached, or whose answer could not be read. Products make their own errors of it.
///
/// The message contains only text that this package chose: Foundation's errors may contain a request, and with it
/// secrets.
package struct RemoteFailure: Error, Hashable {
    package enum Kind: Hashable, Sendable {
        /// The address, bucket or prefix is not valid.
        case address
        /// The host does not exist.
        case host
        /// The server's certificate is not trusted.
        case certificate
        /// No connection, or a broken one.
        case connection
        /// The server was silent for too long, or the request took too long.
        case timeout
        /// The answer is larger than the caller accepts.
        case tooLarge
        /// The answer ended early.
        case incomplete
        /// The answer cannot be understood.
        case answer
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) { (self.kind, self.message) = (kind, message) }

    /// Whether the same request may succeed a moment later.
    package var isTransient: Bool { kind == .connection || kind == .incomplete }
}
