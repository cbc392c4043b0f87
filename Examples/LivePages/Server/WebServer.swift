import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// An app on a port: opens its store, after a migration where that is due, and serves its pages.
@MainActor package final class WebServer<App: ServedApp> {
    /// The app, once its store is open.
    package private(set) var app: App?
    private let opener: Opener<App>
    private let host: String
    private let port: Int
    private let hosts: HostNames
    private let logger: Logger
    private let switchboard: Switchboard
    private let desk: Desk
    /// Whether the server is about to end: what opens then is closed at once.
    private var isEnding = false
    /// Whether it ends since it was asked to.
    private var endsAsAsked = false

    /// - Parameter allowedHosts: names under which browsers may ask for the server, see ``HostNames``.
    package init(
        site: Site, host: String, port: Int, allowedHosts: [String] = [], logger: Logger, opener: Opener<App>
    ) {
        self.opener = opener
        self.host = host
        self.port = port
        hosts = HostNames(host: host, allowed: allowedHosts)
        self.logger = logger
        switchboard = Switchboard(site: site)
        desk = Desk(site: site)
    }

    // MARK: The store

    /// Opens the store and shows the app; a store of an older version of the model is migrated first, in the background.
    ///
    /// - Parameter fill: what a store needs before it is shown.
    package func open(_ fill: @escaping @MainActor (App) async throws -> Void = { _ in }) async throws {
        guard try opener.needsTime() else { return show(try await opened({ _ in }, fill)) }
        let opening = Opening { [self] progress in
            do { show(try await opened(progress, fill)) } catch {
                if !Task.isCancelled { logger.error("The store is not opened: \(error)") }
                throw error
            }
        }
        switchboard.connect(router { OpeningPages(opening, self.desk).addPages(to: $0) })
        opening.begin()
    }

    private func opened(
        _ progress: @escaping @Sendable (Double) -> Void, _ fill: @MainActor (App) async throws -> Void
    ) async throws -> App {
        let app = try await opener.open(desk, progress)
        do {
            try await BusyStore.retrying {
                try await fill(app)
                try await app.sharedStore?.settle()
            }
        } catch {
            app.close()
            throw error
        }
        return app
    }

    private func show(_ app: App) {
        if isEnding { return app.close() }
        app.onRestore = { [weak self] backup in try await self?.restore(backup) }
        self.app = app
        desk.store = app.sharedStore
        switchboard.connect(router { app.addPages(to: $0) }, interface: app.interface)
    }

    private func router(_ add: (Router<BasicRequestContext>) -> Void) -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: Guard(hosts: hosts, site: desk.site))
        add(router)
        desk.addFiles(to: router)
        return router
    }

    /// Puts a backup in the place of the store; open pages read themselves anew.
    private func restore(_ backup: String) async throws {
        guard let app else { return }
        switchboard.disconnect()
        self.app = nil
        app.endStreams()
        // Whatever comes of it, a store is opened: the backup, or the one that is still there.
        let result: Result<Void, any Error>
        do { result = .success(try await app.restore(backup)) } catch { result = .failure(error) }
        app.close()
        try await open()
        try result.get()
    }

    // MARK: Serving

    /// Serves until the process is asked to end, or the task is cancelled.
    package func run(stopsAtSignals: Bool, onRunning: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        let application = Application(
            responder: ConnectionResponder(pages: switchboard),
            server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) }, logger: logger)
        // The last is asked to end first: streams before the server, which waits for its answers to end.
        var configuration = ServiceGroupConfiguration(
            services: [application, Heart(server: self)],
            gracefulShutdownSignals: stopsAtSignals ? [.sigint, .sigterm] : [], logger: logger)
        // A client that has sent half a form by then does not send the rest.
        configuration.maximumGracefulShutdownDuration = .seconds(3)
        defer { end() }
        do { try await ServiceGroup(configuration: configuration).run() } catch {
            // What is cut off at the end is no failure of the server.
            guard endsAsAsked else { throw error }
        }
    }

    /// Closes what is open.
    package func end() {
        isEnding = true
        app?.close()
        app = nil
    }

    fileprivate func beat() { app?.beat() }

    fileprivate func endStreams(isAsked: Bool) {
        isEnding = true
        endsAsAsked = isAsked
        app?.endStreams()
    }
}

/// Keeps the streams of pages open, and ends them when the server is to stop.
private struct Heart<App: ServedApp>: Service {
    let server: WebServer<App>

    func run() async throws {
        try? await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(15))
                await server.beat()
            }
        }
        await server.endStreams(isAsked: Task.isShuttingDownGracefully)
    }
}
