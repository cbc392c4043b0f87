import Foundation
import Logging

/// Grocery Dude: what to buy, for everybody in the house at once.
@main struct Program {
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
        SQLRecord.begin()
        var logger = Logger(label: "grocery-dude")
        logger.logLevel = options.isVerbose ? .debug : options.isCheck ? .critical : .error
        let server = WebServer(
            store: options.store, host: options.host, port: options.isCheck ? 0 : options.port, logger: logger)
        defer { server.end() }
        try await server.open { groceries in
            if options.isDemo || options.isCheck {
                try await groceries.makeDemo()
            } else if options.defaultData, !groceries.isDefaultDataAnswered, groceries.count("Item") == 0 {
                _ = try await groceries.importDefaultData()
            }
        }
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
