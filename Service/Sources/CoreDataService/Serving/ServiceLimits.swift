import Foundation

/// The limits of a service: each request has a bounded cost, whatever it contains.
public struct ServiceLimits: Sendable {
    /// The length of a request's JSON, in bytes.
    public var bodySize = 1 << 20
    /// The length of a large value, in bytes.
    public var valueSize = 32 << 20
    /// The time in which a body has to arrive.
    public var bodyTime = Duration.seconds(30)
    /// The time that the statement of a query may take.
    public var statementTime = Duration.seconds(5)
    /// The number of objects of a page that asks for no number.
    public var pageSize = 100
    /// The greatest number of objects of a page.
    public var maximumPageSize = 1000
    /// The number of requests that read the store at once. Each has a thread, so that a statement that runs until
    /// ``statementTime`` leaves the others to other requests.
    public var readers = max(4, min(8, ProcessInfo.processInfo.activeProcessorCount))
    /// The number of requests that change the store at once: SQLite writes for one of them at a time.
    public var writers = 1
    /// The number of large values in memory at once.
    public var values = 4
    /// The number of requests that wait for the store; further ones are answered by 503.
    public var waiting = 256
    /// The time that a request waits for the store.
    public var patience = Duration.seconds(10)
    /// The number of requests that are answered at once.
    public var requests = 1024
    /// The time in which requests end after the service was asked to stop.
    public var stopping = Duration.seconds(10)

    /// Makes the default limits.
    public init() {}
}
