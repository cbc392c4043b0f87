import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request: collects the answer within its bound, and is stopped once at most.
final class RemoteTransfer: Sendable {
    /// Where the content of a successful answer goes.
    enum Sink: Sendable {
        case memory(limit: Int)
        case file(FileHandle)
    }

    /// Why a request was ended from here.
    enum Stop: Sendable {
        case cancelled, tooLate
        case tooLarge(limit: Int)
        case file(any Error)
        /// The server asks for a name and password other than those that were sent: its answer counts.
        case challenge
    }

    /// What came of a request.
    struct Outcome: Sendable {
        var stop: Stop?
        var error: (any Error)?
        var response: URLResponse?
        var body = Data()
        /// The number of bytes that arrived.
        var count = 0
    }

    private struct State {
        var outcome = Outcome()
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    /// The maximum number of bytes that are kept of an error response.
    private static let longestMessage = 64 << 10

    let task: URLSessionTask
    private let sink: Sink
    /// Guards what has arrived.
    private let state = Mutex(State())

    init(_ task: URLSessionTask, _ sink: Sink) { (self.task, self.sink) = (task, sink) }

    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        // A task that was cancelled before it began may never report its end. The lock keeps `stop` from coming
        // between.
        let isStopped = state.withLock { state in
            state.continuation = continuation
            if state.outcome.stop == nil { task.resume() }
            return state.outcome.stop != nil
        }
        if isStopped { end(nil) }
    }

    func stop(_ reason: Stop) {
        let isFirst = state.withLock { state in
            guard state.outcome.stop == nil else { return false }
            state.outcome.stop = reason
            return true
        }
        if isFirst { task.cancel() }
    }

    func end(_ error: (any Error)?) {
        let (continuation, outcome) = state.withLock { state in
            defer { state.continuation = nil }
            state.outcome.error = error
            state.outcome.response = state.outcome.response ?? task.response
            return (state.continuation, state.outcome)
        }
        continuation?.resume(returning: outcome)
    }

    func receive(_ response: URLResponse) {
        state.withLock { $0.outcome.response = response }
        if case .memory(let limit) = sink, Self.isSuccess(response), response.expectedContentLength > Int64(limit) {
            stop(.tooLarge(limit: limit))
        }
    }

    func receive(_ data: Data) {
        let isContent = state.withLock { state -> Bool in
            guard state.outcome.stop == nil else { return false }
            state.outcome.count += data.count
            guard Self.isSuccess(state.outcome.response ?? task.response) else {
                state.outcome.body += data.prefix(Self.longestMessage - state.outcome.body.count)
                return false
            }
            return true
        }
        guard isContent else { return }
        switch sink {
        case .memory(let limit):
            let isTooLarge = state.withLock { state in
                if state.outcome.count > limit { return true }
                state.outcome.body += data
                return false
            }
            if isTooLarge { stop(.tooLarge(limit: limit)) }
        case .file(let handle):
            do { try handle.write(contentsOf: data) } catch { stop(.file(error)) }
        }
    }

    private static func isSuccess(_ response: URLResponse?) -> Bool {
        (response as? HTTPURLResponse).map { (200..<300).contains($0.statusCode) } ?? false
    }
}

/// Tells the requests of a session what arrives for them. Refuses redirects and challenges, so that requests, and the
/// secrets in their headers, stay with the intended server.
final class RemoteTransfers: NSObject, URLSessionDataDelegate, Sendable {
    /// Guards the running requests, by the numbers of their tasks.
    private let running = Mutex<[Int: RemoteTransfer]>([:])

    func run(_ transfer: RemoteTransfer) async -> RemoteTransfer.Outcome {
        let number = transfer.task.taskIdentifier
        running.withLock { $0[number] = transfer }
        defer { _ = running.withLock { $0.removeValue(forKey: number) } }
        return await withCheckedContinuation { transfer.begin($0) }
    }

    private func transfer(_ task: URLSessionTask) -> RemoteTransfer? {
        running.withLock { $0[task.taskIdentifier] }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(dataTask)?.receive(data)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfer(task)?.end(error)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
    ) { completionHandler(nil) }

    /// On Linux the usual handling of a challenge, without credentials to propose, never ends the request.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        let passwords = [NSURLAuthenticationMethodHTTPBasic, NSURLAuthenticationMethodHTTPDigest]
        guard passwords.contains(challenge.protectionSpace.authenticationMethod) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        transfer(task)?.stop(.challenge)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }
}
