import CoreDataToolkit
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests to one server: with limits of time, without cookies or caches, and without following it elsewhere.
struct RemoteConnection: Sendable {
    /// What a server answered.
    struct Answer: Sendable {
        let status: Int
        /// By name, in lower case.
        let headers: [String: String]
        /// Of a download that succeeded it is in the file instead.
        let body: Data

        var isSuccess: Bool { (200..<300).contains(status) }
    }

    /// What a request brings along.
    enum Content: Sendable {
        case nothing
        case data(Data)
        /// Read while it is sent.
        case file(URL)
    }

    /// What messages call the server.
    let place: String
    let limits: RemoteLimits

    /// How much of an answer that says what is wrong is read.
    private static let longestMessage = 64 * 1024

    func send(_ request: URLRequest, _ content: Content = .nothing) async throws -> Answer {
        var request = request
        let session = makeSession()
        defer { session.finishTasksAndInvalidate() }
        do {
            switch content {
            case .nothing: break
            case .data(let data): request.httpBody = data
            case .file(let file):
                let (data, response) = try await session.upload(for: request, fromFile: file)
                return answer(response, data)
            }
            let (data, response) = try await session.data(for: request)
            return answer(response, data)
        } catch { throw failure(error) }
    }

    /// Brings the answer to a file that is not there yet; what is no success is in the answer instead.
    func download(_ request: URLRequest, to file: URL) async throws -> Answer {
        let session = makeSession()
        defer { session.finishTasksAndInvalidate() }
        let (made, response): (URL, URLResponse)
        do { (made, response) = try await session.download(for: request) } catch { throw failure(error) }
        defer { try? FileManager.default.removeItem(at: made) }
        let head = answer(response, Data())
        guard head.isSuccess else {
            let handle = try FileHandle(forReadingFrom: made)
            defer { try? handle.close() }
            return answer(response, try handle.read(upToCount: Self.longestMessage) ?? Data())
        }
        let size = (try FileManager.default.attributesOfItem(atPath: made.path)[.size] as? NSNumber)?.intValue ?? 0
        if let length = head.headers["content-length"].flatMap({ Int($0) }), length != size {
            throw ToolkitError("\(place) sent \(size) bytes of \(length): try again.")
        }
        try FileManager.default.moveItem(at: made, to: file)
        return head
    }

    private func makeSession() -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.timeoutIntervalForRequest = limits.silence
        configuration.timeoutIntervalForResource = limits.total
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        return URLSession(configuration: configuration, delegate: StayingHere(), delegateQueue: nil)
    }

    private func answer(_ response: URLResponse, _ data: Data) -> Answer {
        let response = response as? HTTPURLResponse
        var headers: [String: String] = [:]
        for (name, value) in response?.allHeaderFields ?? [:] { headers["\(name)".lowercased()] = "\(value)" }
        return Answer(status: response?.statusCode ?? 0, headers: headers, body: data)
    }

    /// Only words: an error of Foundation may hold the request, and with it secrets.
    private func failure(_ error: any Error) -> any Error {
        guard let error = error as? URLError else { return error is ToolkitError ? error : unreachable("") }
        switch error.code {
        case .cancelled: return CancellationError()
        case .timedOut:
            return ToolkitError(
                "\(place) did not answer in time: \(Int(limits.silence)) s of silence and \(Int(limits.total)) s in all are the limits."
            )
        case .cannotFindHost, .dnsLookupFailed: return unreachable(": there is no such host")
        case .cannotConnectToHost: return unreachable(": nobody answers there")
        case .networkConnectionLost: return unreachable(": the connection was lost")
        case .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate,
            .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
            return unreachable(": its certificate is not trusted")
        default: return unreachable(" (URLError \(error.code.rawValue))")
        }
    }

    private func unreachable(_ why: String) -> ToolkitError {
        ToolkitError("\(place) cannot be reached\(why). See to the address and to the network, then try again.")
    }

    /// Keeps requests, and the secrets in their headers, with the server that they are for.
    private final class StayingHere: NSObject, URLSessionTaskDelegate {
        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping (URLRequest?) -> Void
        ) { completionHandler(nil) }
    }
}

/// How long requests of a remote destination may take.
public struct RemoteLimits: Sendable {
    /// For how many seconds nothing may come or go.
    public var silence: TimeInterval = 60
    /// For how many seconds a request may take with all that is sent.
    public var total: TimeInterval = 6 * 3600

    /// A minute of silence, six hours in all.
    public init() {}
}
