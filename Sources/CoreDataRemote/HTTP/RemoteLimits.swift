import Foundation

/// The timeouts of requests to a server.
public struct RemoteLimits: Sendable {
    /// The maximum number of seconds without any transfer.
    public var silence: TimeInterval = 60
    /// The maximum number of seconds for a request including its transfer.
    public var total: TimeInterval = 6 * 3600

    /// Makes the default limits: 60 seconds without transfer, six hours in total.
    public init() {}
}
