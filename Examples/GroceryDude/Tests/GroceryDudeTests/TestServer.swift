import CoreData
import Foundation
import Logging
import Testing

@testable import GroceryDude

/// What a test's store has at first.
struct Filling: Sendable {
    static let small = Filling { try $0.fillSmall() }

    let fill: @MainActor @Sendable (Groceries) throws -> Void
}

/// The app on a port of its own, with a store of its own.
struct TestServer: Sendable {
    let app: App
    let server: WebServer
    let port: Int
    let folder: URL

    var store: URL { folder.appendingPathComponent("Test.sqlite") }

    /// Runs the test with a server, and ends it.
    static func run(
        _ filling: Filling = Filling { _ in },
        _ test: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = await server(folder.appendingPathComponent("Test.sqlite"))
        try await server.open { try filling.fill($0) }
        let app = try #require(await server.app)
        try await serve(server) { port in
            try await test(TestServer(app: app, server: server, port: port, folder: folder))
        }
    }

    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("GroceryDudeTests-\(UUID().uuidString)", isDirectory: true)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    @MainActor static func server(_ store: URL) -> WebServer {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return WebServer(store: store, host: "127.0.0.1", port: 0, logger: logger)
    }

    static func serve(_ server: WebServer, _ test: @escaping @Sendable (_ port: Int) async throws -> Void) async throws
    {
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
        await end(of: running)
        if let failure { throw failure }
    }

    /// Waits until the server has ended, for twenty seconds.
    private static func end(of running: Task<Void, any Error>) async {
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
        if await ends.first(where: { _ in true }) == false { Issue.record("the server does not end") }
    }

    /// A browser that has been nowhere yet; throws so that tests whose other calls stand in `#expect` are seen to throw.
    var browser: TestBrowser {
        get throws { TestBrowser(port: port) }
    }
}

extension Groceries {
    /// A few things in two places, with Milk on the list.
    func fillSmall() throws {
        try perform("Fill") {
            let kg = try findOrMakePlace(.unit, named: "kg")
            for (name, home, shop) in [
                ("Milk", "Fridge", "Dairy"), ("Butter", "Fridge", "Dairy"), ("Flour", "Pantry", "Baking"),
            ] {
                let item = try makeItem(named: name)
                item.unit = name == "Flour" ? kg as? GroceryDude.Unit : nil
                item.locationAtHome = try findOrMakePlace(.home, named: home) as? LocationAtHome
                item.locationAtShop = try findOrMakePlace(.shop, named: shop) as? LocationAtShop
                item.listed = name == "Milk"
            }
        }
    }

    /// The number of the item of that name.
    func number(of name: String) throws -> Int {
        let request = NSFetchRequest<Item>(entityName: "Item")
        request.predicate = NSPredicate(format: "name == %@", name)
        return try view.fetch(request).first?.number ?? 0
    }
}
