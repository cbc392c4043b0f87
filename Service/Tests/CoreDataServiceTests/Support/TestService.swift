import CoreData
import CoreDataJSON
import Foundation
import Hummingbird
import Logging

@testable import CoreDataService

/// A service on a port of its own, with a store of its own, whose entities are open to everybody.
struct TestService: Sendable {
    let client: RawClient
    let store: ServedStore
    let folder: URL

    var url: URL { folder.appendingPathComponent("Shop.sqlite") }

    /// Runs the test with a service, and ends it.
    static func run(
        _ limits: ServiceLimits = ServiceLimits(), settings: ServiceResponder.Settings = .init(),
        _ test: @escaping @Sendable (TestService) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("Service-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await open(folder.appendingPathComponent("Shop.sqlite"), limits)
        try await serve(ServiceResponder(store: store, settings: settings)) { port in
            try await test(TestService(client: RawClient(port: port), store: store, folder: folder))
        }
        for attached in store.coordinator.persistentStores { try store.coordinator.remove(attached) }
    }

    /// Opens the store as another process would.
    static func open(_ url: URL, _ limits: ServiceLimits = ServiceLimits()) async throws -> ServedStore {
        let model = ShopModel.make()
        let (coordinator, store) = try await StoreOpening.open(model, at: url, migrates: true)
        let access = OpenAccess(coordinator: coordinator)
        return ServedStore(
            coordinator: coordinator, store: store, model: try ServedModel(model) { $0.name != "Secret" },
            access: access, limits: limits)
    }

    static func serve(
        _ responder: ServiceResponder, _ test: @escaping @Sendable (_ port: Int) async throws -> Void
    ) async throws {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let service = HTTPService(responder: responder, host: "127.0.0.1", port: 0, logger: logger)
        let (ports, port) = AsyncStream<Int>.makeStream()
        let running = Task {
            defer { port.finish() }
            try await service.run(stopsAtSignals: false) { port.yield($0) }
        }
        var failure: (any Error)?
        do {
            guard let port = await ports.first(where: { _ in true }) else {
                try await running.value
                throw ClientFailure(description: "the service did not start")
            }
            try await test(port)
        } catch { failure = error }
        running.cancel()
        _ = await running.result
        if let failure { throw failure }
    }

    // MARK: Objects

    /// Makes an object and returns it.
    @discardableResult
    func make(_ entity: String, _ values: JSONValue) async throws -> JSONValue {
        let answer = try await client.send("POST", "/api/\(entity)", json: values)
        guard answer.status == 201 else { throw ClientFailure(description: "\(answer.status): \(answer.text)") }
        return answer.json
    }
}

extension JSONValue {
    var id: String { self["_id"]?.string ?? "" }
    var version: String { self["_version"]?.string ?? "" }
    /// The names of the objects of a page.
    var names: [String] { self["items"]?.array?.compactMap { $0["name"]?.string } ?? [] }
}

extension String {
    /// For a query.
    var encoded: String {
        addingPercentEncoding(
            withAllowedCharacters: CharacterSet(
                charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")) ?? ""
    }
}

/// Everybody may do everything: for tests of what is not about permissions.
struct OpenAccess: AccessControl {
    let coordinator: NSPersistentStoreCoordinator

    func caller(of request: Request, peer: String?) async throws -> Caller { .anonymous }

    func makeContext(for caller: Caller) async throws -> NSManagedObjectContext {
        ServedContext(coordinator)
    }

    func rules(of entity: String) -> [EntityRule] { [EntityRule(verb: "read", who: "anyone")] }

    func problem(_ error: any Error) -> Problem? { nil }
}
