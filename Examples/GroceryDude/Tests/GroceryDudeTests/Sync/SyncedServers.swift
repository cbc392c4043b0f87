import CoreData
import CoreDataSync
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Two apps, each with a list of its own, and a folder for both.
struct SyncedServers: Sendable {
    let kitchen: TestServer
    let phone: TestServer
    let folder: URL

    /// Runs a test with two lists that do not synchronise yet.
    static func run(
        _ kitchen: Filling, _ phone: Filling, _ test: @escaping @Sendable (SyncedServers) async throws -> Void
    ) async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        try await TestServer.run(kitchen) { kitchen in
            try await TestServer.run(phone) { phone in
                try await test(SyncedServers(kitchen: kitchen, phone: phone, folder: folder))
            }
        }
    }

    /// Runs a test with two lists that synchronise and are equal.
    static func joined(
        _ filling: Filling = .small, _ test: @escaping @Sendable (SyncedServers) async throws -> Void
    ) async throws {
        try await run(filling, filling) { servers in
            try await servers.kitchen.join(servers.folder, "Kitchen")
            try await servers.phone.join(servers.folder, "Phone", .merge)
            try await servers.settle()
            try await test(servers)
        }
    }

    /// Exchanges until each has what the other one has.
    func settle() async throws {
        for _ in 0..<3 {
            await kitchen.app.synchroniser.exchangeNow()
            await phone.app.synchroniser.exchangeNow()
        }
        for server in [kitchen, phone] { await server.app.groceries.stack.mergeNow() }
    }

    /// Has both edit without knowing of the other: meanwhile the folder is not there.
    func apart(_ body: () async throws -> Void) async throws {
        let away = folder.appendingPathExtension("away")
        try FileManager.default.moveItem(at: folder, to: away)
        try await body()
        for server in [kitchen, phone] { await server.app.synchroniser.exchangeNow() }
        try FileManager.default.moveItem(at: away, to: folder)
        try await settle()
    }
}

extension AppServer where App == GroceryDude.App {
    /// Has the list join the folder; with an answer where devices use it already.
    func join(_ folder: URL, _ name: String, _ seeding: Seeding? = nil, passphrase: String = "") async throws {
        try await join(["folder": folder.path, "device": name, "passphrase": passphrase, "keep": "1"], seeding)
    }

    /// Has the list join a place; with an answer where devices use it already.
    func join(_ fields: [String: String], _ seeding: Seeding? = nil, _ noun: String = "folder") async throws {
        let browser = try browser
        let page = try await browser.submit("/sync", fields)
        #expect(page.status == 200, "\(page.words)")
        if let seeding {
            #expect(page.words.contains("This \(noun) has a list already"), "\(page.words)")
            _ = try await browser.submit("/sync/join", ["seeding": seeding.rawValue])
        }
        try await waitForExchange()
    }

    func waitForExchange() async throws {
        try await Polling.wait(for: "the first exchange") { await app.synchroniser.state.lastExchange != nil }
    }

    /// The items as all devices have them: "Milk: 2 kg, Fridge, Dairy, listed".
    @MainActor func items() throws -> [String] {
        try app.groceries.view.fetch(NSFetchRequest<Item>(entityName: "Item")).map { item in
            var parts = [item.amount, item.locationAtHome?.storedIn ?? "", item.locationAtShop?.aisle ?? ""]
            if item.listed { parts.append("listed") }
            if item.collected { parts.append("collected") }
            return "\(item.title): \(parts.joined(separator: ", "))"
        }.sorted()
    }

    /// Sets the quantity of an item, as its page does.
    @MainActor func setQuantity(_ name: String, _ quantity: Float) throws {
        try app.groceries.perform("Set") {
            app.groceries.item(try app.groceries.number(of: name))?.quantity = quantity
        }
    }
}

extension Filling {
    static let none = Filling { _ in }
}
