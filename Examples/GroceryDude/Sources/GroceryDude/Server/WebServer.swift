import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// The app on a port: opens its store, after a migration where that is due, and serves its pages.
@MainActor final class WebServer {
    /// The app, once its store is open.
    private(set) var app: App?
    private let store: URL
    private let host: String
    private let port: Int
    private let logger: Logger
    private let switchboard = Switchboard()
    private let desk = Desk()
    /// Whether the server is about to end: what opens then is closed at once.
    private var isEnding = false

    init(store: URL, host: String, port: Int, logger: Logger) {
        self.store = store
        self.host = host
        self.port = port
        self.logger = logger
    }

    private var hosts: Set<String> {
        ["127.0.0.1", "localhost", "::1"].contains(host) ? ["127.0.0.1", "localhost", "[::1]"] : []
    }

    // MARK: The store

    /// Opens the store and shows the app; a store of an older version of the model is migrated first, in the background.
    ///
    /// - Parameter fill: what a store needs before it is shown.
    func open(_ fill: @escaping @MainActor (Groceries) async throws -> Void = { _ in }) async throws {
        Migration.removeLeftovers(beside: store)
        guard try Migration.isNeeded(at: store) else { return try await show(fill) }
        let migration = Migration(store)
        switchboard.connect(
            MigrationPages(migration, desk) { [weak self] in self?.migrate(migration, fill) }.router(hosts))
        migrate(migration, fill)
    }

    private func migrate(_ migration: Migration, _ fill: @escaping @MainActor (Groceries) async throws -> Void) {
        Task {
            do {
                try await migration.run()
                try await show(fill)
            } catch {
                // The page of the migration says so, and offers to begin anew.
                logger.warning("The store could not be migrated: \(error)")
            }
        }
    }

    private func show(_ fill: @MainActor (Groceries) async throws -> Void) async throws {
        let app = try App(store: store, desk: desk)
        try await fill(app.groceries)
        if isEnding { return app.close() }
        app.onRestore = { [weak self] backup in try await self?.restore(backup) }
        self.app = app
        switchboard.connect(app.router(hosts: hosts))
    }

    /// Puts a backup in the place of the store; open pages read themselves anew.
    private func restore(_ backup: URL) async throws {
        app?.close()
        app = nil
        // Whatever comes of it, a store is opened: the backup, or the one that is still there.
        let result = Result { try Backups.replaceStore(at: store, by: backup) }
        try await open()
        try result.get()
    }

    // MARK: Serving

    /// Serves until the process is asked to end, or the task is cancelled.
    func run(stopsAtSignals: Bool, onRunning: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        let application = Application(
            responder: switchboard, server: .http1(configuration: .init(idleTimeout: .seconds(60))),
            configuration: .init(address: .hostname(host, port: port), serverName: nil),
            onServerRunning: { channel in await onRunning(channel.localAddress?.port ?? 0) }, logger: logger)
        // The last is asked to end first: streams before the server, which waits for its answers to end.
        let group = ServiceGroup(
            configuration: .init(
                services: [application, Heart(server: self)],
                gracefulShutdownSignals: stopsAtSignals ? [.sigint, .sigterm] : [],
                logger: logger))
        defer { end() }
        try await group.run()
    }

    /// Closes what is open.
    func end() {
        isEnding = true
        app?.close()
        app = nil
    }

    fileprivate func beat() { app?.feed.beat() }

    fileprivate func endStreams() {
        isEnding = true
        app?.feed.close()
    }

    /// Keeps the streams of pages open, and ends them when the server is to stop.
    private struct Heart: Service {
        let server: WebServer

        func run() async throws {
            try? await cancelWhenGracefulShutdown {
                while !Task.isCancelled {
                    try await Task.sleep(for: .seconds(15))
                    await server.beat()
                }
            }
            await server.endStreams()
        }
    }
}
