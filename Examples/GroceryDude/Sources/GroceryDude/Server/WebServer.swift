import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// The app as a server on a port.
@MainActor final class WebServer {
    let app: App
    private let host: String
    private let port: Int
    private let logger: Logger

    init(_ app: App, host: String, port: Int, logger: Logger) {
        self.app = app
        self.host = host
        self.port = port
        self.logger = logger
    }

    /// Serves until the process is asked to end (`signals`), or the task is cancelled.
    func run(stopsAtSignals: Bool, onRunning: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        let isLocal = ["127.0.0.1", "localhost", "::1"].contains(host)
        let feed = app.feed
        let application = Application(
            router: app.router(hosts: isLocal ? ["127.0.0.1", "localhost", "[::1]"] : []),
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            services: [Heart(feed: feed)],
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) }, logger: logger)
        let group = ServiceGroup(
            configuration: .init(
                services: [application], gracefulShutdownSignals: stopsAtSignals ? [.sigint, .sigterm] : [],
                logger: logger))
        try await group.run()
    }

    /// Keeps the streams of pages open, and ends them when the server is to stop.
    private struct Heart: Service {
        let feed: LiveFeed

        func run() async throws {
            await withGracefulShutdownHandler {
                try? await cancelWhenGracefulShutdown {
                    while !Task.isCancelled {
                        try await Task.sleep(for: .seconds(15))
                        await feed.beat()
                    }
                }
            } onGracefulShutdown: {
                Task { @MainActor in feed.close() }
            }
        }
    }
}
