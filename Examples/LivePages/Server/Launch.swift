import Foundation
import Logging

/// Runs an app as a program: its arguments, its server, its end.
@MainActor package struct Launch<App: ServedApp> {
    package let program: String
    package let site: Site
    /// The options that only this app has.
    package let own: [LaunchOptions.Own]
    /// Opens the store that the options name.
    package let opener: @MainActor (LaunchOptions) -> Opener<App>
    /// What a new store is filled with, as the arguments say.
    package let fill: @MainActor (App, LaunchOptions) async throws -> Void
    /// What `--check` asks for, and what the answers have to have.
    package let checks: [(path: String, content: String)]

    package init(
        program: String, site: Site, own: [LaunchOptions.Own] = [], checks: [(path: String, content: String)],
        opener: @escaping @MainActor (LaunchOptions) -> Opener<App>,
        fill: @escaping @MainActor (App, LaunchOptions) async throws -> Void
    ) {
        self.program = program
        self.site = site
        self.own = own
        self.opener = opener
        self.fill = fill
        self.checks = checks
    }

    /// Runs until Ctrl-C, and exits the process where something is wrong.
    package func run() async {
        do {
            let options = try LaunchOptions(program, CommandLine.arguments.dropFirst(), own: own)
            if options.wantsHelp { return print(LaunchOptions.usage(program, own)) }
            try await run(options)
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    private func run(_ options: LaunchOptions) async throws {
        defer {
            if options.isTemporary {
                try? FileManager.default.removeItem(at: options.store.deletingLastPathComponent())
            }
        }
        SQLRecord.begin()
        var logger = Logger(label: program)
        logger.logLevel = options.isVerbose ? .debug : options.isCheck ? .critical : .error
        let server = WebServer(
            site: site, host: options.host, port: options.isCheck ? 0 : options.port,
            allowedHosts: options.allowedHosts,
            logger: logger, opener: opener(options))
        defer { server.end() }
        try await server.open { app in try await fill(app, options) }
        if options.isCheck { return try await check(server) }
        let (name, host, store) = (site.name, options.host == "0.0.0.0" ? "localhost" : options.host, options.store)
        try await server.run(stopsAtSignals: true) { port in
            print("\(name.text) is at http://\(host):\(port)/")
            print("The store is \(StorePlace.shown(store)). Ctrl-C ends it.")
            fflush(nil)
        }
        print("\n\(name.text) has ended.")
    }

    /// Starts the server, asks it for its pages and ends it.
    private func check(_ server: WebServer<App>) async throws {
        let checks = checks
        let count = try await withThrowingTaskGroup(of: Int?.self) { group in
            let (ports, port) = AsyncStream<Int>.makeStream()
            group.addTask {
                try await server.run(stopsAtSignals: false) { port.yield($0) }
                return nil
            }
            group.addTask {
                for await port in ports { return try await SelfCheck(port: port, pages: checks).run() }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() { if let result { return result } }
            throw SelfCheck.Failure(description: "the server did not start")
        }
        print("\(count) pages are sound")
    }
}
