import CoreDataRemote
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// When a request is sent again that failed for a reason which may pass: a broken connection, a server that is busy or
/// starts anew.
///
/// The delays are short, with random parts so that devices do not come back together; synchronisation itself tries
/// again later.
struct RetryPolicy: Sendable {
    /// The number of attempts in all.
    var attempts = 4
    /// The greatest number of seconds before the second attempt. It doubles with each further one.
    var delay = 0.4
    /// The longest wait that a server may ask for; a longer one is left to the next exchange.
    var longestDelay = 20.0

    /// Whether an answer says that the same request may succeed later.
    static func isTransient(_ status: Int) -> Bool { [408, 425, 429, 500, 502, 503, 504].contains(status) }

    /// The seconds before the next attempt; `nil` for none.
    ///
    /// - Parameters:
    ///   - attempt: the number of attempts so far.
    ///   - wanted: the header `Retry-After`, in seconds.
    func pause(after attempt: Int, wanted: String? = nil) -> Double? {
        guard attempt < attempts else { return nil }
        if let seconds = wanted.flatMap({ Double($0) }), seconds >= 0 {
            return seconds <= longestDelay ? seconds : nil
        }
        return min(longestDelay, delay * Double(1 << min(attempt - 1, 20))) * Double.random(in: 0.5...1)
    }
}

/// A connection that sends requests again if they fail for a reason which may pass.
struct RetryingConnection: Sendable {
    private let connection: RemoteConnection
    private let policy: RetryPolicy

    /// What came of a request.
    struct Reply: Sendable {
        let answer: RemoteConnection.Answer
        /// Whether the server may have carried out an earlier attempt whose answer was lost.
        let isRepeated: Bool
    }

    init(_ place: String, _ limits: RemoteLimits, _ policy: RetryPolicy) {
        connection = RemoteConnection(place: place, limits: limits)
        self.policy = policy
    }

    /// Sends a request once, for work that may as well be left undone.
    func sendOnce(_ request: URLRequest) async throws { _ = try await connection.send(request) }

    /// Sends a request, which is made anew for each attempt: a signature contains the time.
    func send(
        _ content: RemoteConnection.Content = .nothing, limit: Int = RemoteConnection.usualLimit,
        _ request: () throws -> URLRequest
    ) async throws -> Reply {
        var attempt = 0
        while true {
            attempt += 1
            do {
                let answer = try await connection.send(try request(), content, limit: limit)
                guard RetryPolicy.isTransient(answer.status),
                    let pause = policy.pause(after: attempt, wanted: answer.headers["retry-after"])
                else { return Reply(answer: answer, isRepeated: attempt > 1) }
                try await Task.sleep(for: .seconds(pause))
            } catch let failure as RemoteFailure where failure.isTransient {
                guard let pause = policy.pause(after: attempt) else { throw failure }
                try await Task.sleep(for: .seconds(pause))
            }
        }
    }
}
