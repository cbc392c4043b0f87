import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests to one server, with timeouts and bounded answers, without cookies, caches and redirects.
///
/// Requests share connections as long as the value exists.
package final class RemoteConnection: Sendable {
    /// A server's response.
    package struct Answer: Sendable {
        package let status: Int
        /// The headers, by lower-case name.
        package let headers: [String: String]
        /// The content; that of a successful download is in the file instead. Of an error only the first 64 KiB.
        package let body: Data

        package var isSuccess: Bool { (200..<300).contains(status) }
    }

    /// The content of a request.
    package enum Content: Sendable {
        case nothing
        case data(Data)
        /// A file, which is read while it is sent.
        case file(URL)
    }

    /// The server's name in messages.
    package let place: String
    package let limits: RemoteLimits
    private let session: URLSession
    private let transfers = RemoteTransfers()

    /// The maximum number of bytes of an answer in memory, if the caller sets none.
    package static let usualLimit = 64 << 20

    package init(place: String, limits: RemoteLimits) {
        (self.place, self.limits) = (place, limits)
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = limits.silence
        configuration.timeoutIntervalForResource = limits.total
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends a request and returns the answer with its content.
    ///
    /// - Parameter limit: the maximum number of bytes of a successful answer.
    /// - Throws: ``RemoteFailure``, or `CancellationError`.
    package func send(
        _ request: URLRequest, _ content: Content = .nothing, limit: Int = usualLimit
    ) async throws -> Answer {
        try await perform(request, content, .memory(limit: limit))
    }

    /// Downloads the response to a file, which must not exist; the content of an error is in the response instead.
    package func download(_ request: URLRequest, to file: URL) async throws -> Answer {
        let part = file.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).part")
        guard FileManager.default.createFile(atPath: part.path, contents: nil) else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: part.path])
        }
        defer { try? FileManager.default.removeItem(at: part) }
        let handle = try FileHandle(forWritingTo: part)
        defer { try? handle.close() }
        let answer = try await perform(request, .nothing, .file(handle))
        if answer.isSuccess { try FileManager.default.moveItem(at: part, to: file) }
        return answer
    }

    private func perform(
        _ request: URLRequest, _ content: Content, _ sink: RemoteTransfer.Sink
    ) async throws -> Answer {
        try Task.checkCancellation()
        let task: URLSessionTask
        switch content {
        case .nothing: task = session.dataTask(with: request)
        case .data(let data):
            var request = request
            request.httpBody = data
            task = session.dataTask(with: request)
        case .file(let file): task = session.uploadTask(with: request, fromFile: file)
        }
        let transfer = RemoteTransfer(task, sink)
        // Foundation's networking on Linux does not observe the limit for a whole request.
        let total = Self.countable(limits.total)
        let deadline = Task {
            try await Task.sleep(for: .seconds(total))
            transfer.stop(.tooLate)
        }
        defer { deadline.cancel() }
        let outcome = await withTaskCancellationHandler {
            await transfers.run(transfer)
        } onCancel: {
            transfer.stop(.cancelled)
        }
        return try answer(outcome, isHead: request.httpMethod == "HEAD")
    }

    private func answer(_ outcome: RemoteTransfer.Outcome, isHead: Bool) throws -> Answer {
        switch outcome.stop {
        case .cancelled: throw CancellationError()
        case .tooLate: throw lateness
        case .tooLarge(let limit):
            throw RemoteFailure(.tooLarge, "\(place) sends more than the \(limit) bytes that are read.")
        case .file(let error): throw error
        case .challenge, nil: break
        }
        if let error = outcome.error, outcome.stop == nil { throw failure(error) }
        guard let response = outcome.response as? HTTPURLResponse else { throw unreachable(.connection, "") }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
        let answer = Answer(status: response.statusCode, headers: headers, body: outcome.body)
        if answer.isSuccess, !isHead, headers["content-encoding"] == nil,
            let length = headers["content-length"].flatMap({ Int($0) }), length != outcome.count
        {
            throw RemoteFailure(.incomplete, "\(place) sent \(outcome.count) bytes of \(length): try again.")
        }
        return answer
    }

    // MARK: Failures

    private func failure(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return unreachable(.connection, "") }
        switch error.code {
        case .cancelled: return CancellationError()
        case .timedOut: return lateness
        case .cannotFindHost, .dnsLookupFailed: return unreachable(.host, ": there is no such host")
        case .cannotConnectToHost: return unreachable(.connection, ": nobody answers there")
        case .networkConnectionLost: return unreachable(.connection, ": the connection was lost")
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            return untrusted
        default:
            // On Linux every failure of TLS has the same code; its text, which is not shown, begins so.
            if error.localizedDescription.hasPrefix("SSL") { return untrusted }
            return unreachable(.connection, " (URLError \(error.code.rawValue))")
        }
    }

    /// Seconds that a clock can wait for; infinite ones are none.
    private static func countable(_ seconds: Double) -> Double { min(seconds, 1e9) }

    private var lateness: RemoteFailure {
        RemoteFailure(
            .timeout,
            "\(place) did not answer in time: \(Int(Self.countable(limits.silence))) s of silence and \(Int(Self.countable(limits.total))) s in all are the limits."
        )
    }

    private var untrusted: RemoteFailure {
        unreachable(
            .certificate,
            ": its certificate is not trusted. The system must trust the authority that issued it, and it must be for this host"
        )
    }

    private func unreachable(_ kind: RemoteFailure.Kind, _ why: String) -> RemoteFailure {
        RemoteFailure(kind, "\(place) cannot be reached\(why). See to the address and to the network, then try again.")
    }
}
