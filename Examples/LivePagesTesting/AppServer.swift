import Foundation
import LivePages
import Logging

/// An app as its tests see it.
@MainActor package protocol TestedApp: ServedApp {
    static var site: Site { get }
    /// The program beside the tests.
    nonisolated static var program: String { get }

    static func opener(_ store: URL) -> Opener<Self>
}

/// An app on a port of its own, with a store of its own.
package struct AppServer<App: TestedApp>: Sendable {
    package let app: App
    package let server: WebServer<App>
    package let port: Int
    package let folder: URL

    package var store: URL { folder.appendingPathComponent("Test.sqlite") }

    /// Runs the test with a server, and ends it.
    package static func run(
        _ fill: @escaping @MainActor @Sendable (App) async throws -> Void = { _ in },
        _ test: @escaping @Sendable (AppServer) async throws -> Void
    ) async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = await server(folder.appendingPathComponent("Test.sqlite"))
        try await server.open { try await fill($0) }
        guard let app = await server.app else { throw Socket.Failure(message: "the app did not open") }
        try await serve(server) { port in
            try await test(AppServer(app: app, server: server, port: port, folder: folder))
        }
    }

    package static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("\(App.program)Tests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @MainActor package static func server(_ store: URL) -> WebServer<App> {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return WebServer(site: App.site, host: "127.0.0.1", port: 0, logger: logger, opener: App.opener(store))
    }

    package static func serve(
        _ server: WebServer<App>, _ test: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream<Int>.makeStream()
        let running = Task {
            defer { port.finish() }
            try await server.run(stopsAtSignals: false) { port.yield($0) }
        }
        var failure: (any Error)?
        do {
            guard let port = await ports.first(where: { _ in true }) else {
                try await running.value
                throw Socket.Failure(message: "the server did not start")
            }
            try await test(port)
        } catch { failure = error }
        running.cancel()
        let isEnded = await hasEnded(running)
        if let failure { throw failure }
        guard isEnded else { throw Socket.Failure(message: "the server does not end") }
    }

    /// Waits until the server has ended, for twenty seconds.
    private static func hasEnded(_ running: Task<Void, any Error>) async -> Bool {
        let (ends, end) = AsyncStream<Bool>.makeStream()
        Task {
            _ = await running.result
            end.yield(true)
        }
        let limit = Task {
            try await Task.sleep(for: .seconds(20))
            end.yield(false)
        }
        defer { limit.cancel() }
        return await ends.first(where: { _ in true }) ?? false
    }

    /// A browser that has been nowhere yet; throws so that tests whose other calls stand in `#expect` are seen to throw.
    package var browser: TestBrowser {
        get throws { TestBrowser(port: port) }
    }

    package func address(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

    /// The app in a process of its own.
    package static func otherProcess(
        store: URL, _ arguments: [String] = [], at url: URL? = nil
    ) throws -> OtherProcess {
        try OtherProcess(App.program, store: store, arguments, at: url)
    }
}
