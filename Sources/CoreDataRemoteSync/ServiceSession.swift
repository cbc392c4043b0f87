import CoreDataRemote
import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A device that is signed in to a service.
///
///     let session = try await ServiceSession.signIn(
///         to: URL(string: "https://groceries.example.com")!, name: "ann", password: password, device: "Kitchen")
///     keychain.store(session.token)                       // the app keeps it, as it would keep a password
///     session.onRenewal { keychain.store($0) }            // the service replaces it from time to time
///
/// Use an `https` address for any service that is not on your own machine: every request contains the token.
public final class ServiceSession: Sendable {
    /// The service in messages.
    package let place: String
    private let address: RemoteAddress
    private let connection: RetryingConnection
    private let state: Mutex<State>

    private struct State: Sendable {
        var token: String
        var onRenewal: (@Sendable (String) -> Void)?
    }

    /// Continues a session whose token was kept.
    ///
    /// - Throws: ``ServiceError`` for an invalid address.
    public convenience init(service: URL, token: String, limits: RemoteLimits = RemoteLimits()) throws {
        try self.init(service: service, token: token, limits: limits, retries: RetryPolicy())
    }

    init(service: URL, token: String, limits: RemoteLimits, retries: RetryPolicy) throws {
        do { address = try RemoteAddress(service, "The service") } catch let failure as RemoteFailure {
            throw ServiceError(status: 0, type: "address", message: failure.message)
        }
        place = address.place
        connection = RetryingConnection(place, limits, retries)
        state = Mutex(State(token: token))
    }

    /// The token that proves who the device is.
    public var token: String { state.withLock { $0.token } }

    /// Calls a closure with each new token. The old one ends soon after: keep the new one in its place.
    public func onRenewal(_ body: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onRenewal = body }
    }

    /// The address of the service.
    package var serviceURL: URL { address.url }

    // MARK: Requests

    /// Sends a request with the token, and returns the answer, whatever its status is.
    ///
    /// - Throws: `RemoteFailure` if there is no answer, or `CancellationError`.
    package func answer(
        to method: String, _ path: String, headers: [String: String], _ content: RemoteConnection.Content
    ) async throws -> RemoteConnection.Answer {
        try await send(method, path, headers: headers, content).answer
    }

    /// Sends a request with the token; a new token in the answer replaces it.
    func send(
        _ method: String, _ path: String, headers: [String: String] = [:],
        _ content: RemoteConnection.Content = .nothing, limit: Int = RemoteConnection.usualLimit
    ) async throws -> RetryingConnection.Reply {
        let reply = try await connection.send(content, limit: limit) { [self] in
            let parts = path.split(separator: "?", maxSplits: 1)
            var request = URLRequest(
                url: try address.url(path: address.path + parts[0], query: parts.count > 1 ? String(parts[1]) : ""))
            request.httpMethod = method
            for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
            let token = token
            if !token.isEmpty { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
            return request
        }
        if let renewed = reply.answer.headers["x-renewed-token"], !renewed.isEmpty { renew(renewed) }
        return reply
    }

    func renew(_ token: String) {
        let body = state.withLock { state in
            state.token = token
            return state.onRenewal
        }
        body?(token)
    }

    /// Sends JSON, and reads the JSON of the answer.
    ///
    /// - Throws: ``ServiceError``.
    func exchange<Answer: Decodable>(
        _ method: String, _ path: String, _ body: [String: String]? = nil,
        as type: Answer.Type = Answer.self
    ) async throws -> Answer {
        let answer = try await answer(method, path, body)
        do { return try JSONDecoder().decode(Answer.self, from: answer.body) } catch {
            throw ServiceError(
                status: answer.status, type: "answer",
                message: "\(place) answers with something that cannot be read. See to the address.")
        }
    }

    /// Sends JSON, and returns the successful answer.
    ///
    /// - Throws: ``ServiceError``.
    @discardableResult func answer(
        _ method: String, _ path: String, _ body: [String: String]? = nil
    ) async throws -> RemoteConnection.Answer {
        let content = try body.map { RemoteConnection.Content.data(try JSONEncoder().encode($0)) } ?? .nothing
        let headers = body == nil ? [:] : ["Content-Type": "application/json"]
        let answer: RemoteConnection.Answer
        do { answer = try await send(method, path, headers: headers, content).answer } catch let failure
            as RemoteFailure
        {
            throw ServiceError(status: 0, type: "connection", message: failure.message)
        }
        guard answer.isSuccess else { throw ServiceError(answer, place) }
        return answer
    }
}

/// What a service answered when it refused a request, or that it could not be reached.
public struct ServiceError: LocalizedError, Hashable, Sendable {
    /// The HTTP status; 0 if there was no answer.
    public let status: Int
    /// The kind of the problem, for programs: the last part of the problem's `type`.
    public let type: String
    /// What happened and what to do.
    public let message: String

    /// The message.
    public var errorDescription: String? { message }

    package init(status: Int, type: String, message: String) {
        (self.status, self.type, self.message) = (status, type, message)
    }

    init(_ answer: RemoteConnection.Answer, _ place: String) {
        let problem = ServiceProblem(answer)
        self.init(
            status: answer.status, type: problem?.type.split(separator: ":").last.map(String.init) ?? "http",
            message: problem.map { "\($0.title). \($0.detail ?? "")" }
                ?? "\(place) answers \(answer.status). See to the address.")
    }
}

/// A problem as RFC 9457 describes it.
struct ServiceProblem: Decodable {
    let type: String
    let title: String
    let detail: String?

    init?(_ answer: RemoteConnection.Answer) {
        guard answer.headers["content-type"]?.hasPrefix("application/problem+json") == true,
            let problem = try? JSONDecoder().decode(Self.self, from: answer.body)
        else { return nil }
        self = problem
    }
}
