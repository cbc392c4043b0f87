import CoreDataStudio
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import ServiceLifecycle

/// The socket of a ``Studio``: it listens on this machine's own address only, and hands over what arrives.
struct StudioServer: Sendable {
    let studio: Studio
    private let port: Int?

    private static let host = "127.0.0.1"
    private static let usualPort = 8086

    init(_ arguments: StudioArguments) throws {
        studio = try Studio(model: arguments.model, store: arguments.store, options: arguments.options)
        port = arguments.port
    }

    /// Serves until the process is asked to end, or the task is cancelled.
    ///
    /// - Parameter onRunning: called with the address that a user opens.
    func run(stopsAtSignals: Bool = true, onRunning: @escaping @Sendable (String) -> Void) async throws {
        do { try await serve(port ?? Self.usualPort, stopsAtSignals, onRunning) } catch  where port == nil {
            // Another Studio may use the port.
            guard Self.isAddressTaken(error) else { throw error }
            try await serve(0, stopsAtSignals, onRunning)
        }
    }

    private func serve(
        _ port: Int, _ stopsAtSignals: Bool, _ onRunning: @escaping @Sendable (String) -> Void
    ) async throws {
        var logger = Logger(label: "coredata-studio")
        logger.logLevel = .critical
        let studio = studio
        let application = Application(
            responder: Responder(studio: studio),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(Self.host, port: port), serverName: nil),
            onServerRunning: { channel in
                onRunning(studio.address(host: Self.host, port: channel.localAddress?.port ?? port))
            }, logger: logger)
        var configuration = ServiceGroupConfiguration(
            services: [application], gracefulShutdownSignals: stopsAtSignals ? [.sigint, .sigterm] : [],
            logger: logger)
        configuration.maximumGracefulShutdownDuration = .seconds(3)
        let result: Result<Void, any Error>
        do { result = .success(try await ServiceGroup(configuration: configuration).run()) } catch {
            result = .failure(error)
        }
        if case .failure(let error) = result, Self.isAddressTaken(error) { throw error }
        await studio.close()
        try result.get()
    }

    private static func isAddressTaken(_ error: any Error) -> Bool {
        "\(error)".contains("EADDRINUSE") || "\(error)".contains("errno: 98") || "\(error)".contains("in use")
    }
}

/// Converts between the server's requests and Studio's.
private struct Responder: HTTPResponder {
    typealias Context = BasicRequestContext

    let studio: Studio

    func respond(to request: Request, context: Context) async throws -> Response {
        var headers = request.headers.map { (name: $0.name.canonicalName, value: $0.value) }
        if let host = request.head.authority { headers.append(("host", host)) }
        var body = Data()
        if request.method == .post {
            let buffer = try await request.body.collect(upTo: Studio.largestBody)
            body = Data(buffer.readableBytesView)
        }
        let answer = await studio.respond(
            to: StudioRequest(
                method: request.method.rawValue, target: request.head.path ?? "/", headers: headers, body: body))
        var fields = HTTPFields()
        for (name, value) in answer.headers {
            guard let field = HTTPField.Name(name) else { continue }
            fields.append(HTTPField(name: field, value: value))
        }
        return Response(status: .init(code: answer.status), headers: fields, body: Self.body(answer.body))
    }

    private static func body(_ body: StudioResponse.Body) -> ResponseBody {
        switch body {
        case .bytes(let data): return ResponseBody(byteBuffer: ByteBuffer(bytes: data))
        case .stream(let pieces):
            return ResponseBody { writer in
                for try await piece in pieces { try await writer.write(ByteBuffer(bytes: piece)) }
                try await writer.finish(nil)
            }
        }
    }
}
