import Foundation
import Logging

/// Grocery Dude: what to buy, for everybody in the house at once.
@main struct GroceryDude {
    @MainActor static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.wantsHelp { return print(Options.usage) }
            try await run(options)
        } catch {
            FileHandle.standardError.write(Data("error: \(error)\n".utf8))
            exit(1)
        }
    }

    @MainActor private static func run(_ options: Options) async throws {
        defer {
            if options.isTemporary {
                try? FileManager.default.removeItem(at: options.store.deletingLastPathComponent())
            }
        }
        var logger = Logger(label: "grocery-dude")
        logger.logLevel = options.isVerbose ? .debug : options.isCheck ? .critical : .error
        let app = try App(store: options.store)
        defer { app.close() }
        if options.isDemo || options.isCheck {
            try await app.groceries.makeDemo()
        } else if options.defaultData, !app.groceries.isDefaultDataAnswered, app.lists.prepare.count == 0 {
            _ = try await app.groceries.importDefaultData()
        }
        let server = WebServer(app, host: options.host, port: options.isCheck ? 0 : options.port, logger: logger)
        if options.isCheck { return try await check(server) }
        try await server.run(stopsAtSignals: true) { port in
            print("Grocery Dude is at http://\(options.host == "0.0.0.0" ? "localhost" : options.host):\(port)/")
            print("The store is \(options.store.path). Ctrl-C ends it.")
            fflush(nil)
        }
        print("\nGrocery Dude has ended.")
    }

    /// Starts the server, asks it for its pages and ends it.
    @MainActor private static func check(_ server: WebServer) async throws {
        let count = try await withThrowingTaskGroup(of: Int?.self) { group in
            let (ports, port) = AsyncStream<Int>.makeStream()
            group.addTask {
                try await server.run(stopsAtSignals: false) { port.yield($0) }
                return nil
            }
            group.addTask {
                for await port in ports { return try await SelfCheck(port: port).run() }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() { if let result { return result } }
            throw SelfCheck.Failure(description: "the server did not start")
        }
        print("\(count) pages are sound")
    }
}
