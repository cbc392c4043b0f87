import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Forms that add something and are sent twice: by a second tap, or by a browser that lost the answer.
@Suite(.timeLimit(.minutes(2))) struct OnceTests {
    private func key(_ page: Answer) throws -> String {
        String(try #require(page.text.firstMatch(of: /name=once value="(\w+)"/)).output.1)
    }

    @Test(arguments: [
        ("/items/new", "/items", ["name": "Oats", "quantity": "1"], "Item"),
        ("/prepare?q=Oats", "/items/quick", ["add": "Oats", "back": "/prepare?q=Oats"], "Item"),
        ("/units", "/units", ["name": "bag"], "Unit"),
        ("/home-locations", "/home-locations", ["name": "Cellar"], "LocationAtHome"),
        ("/shop-locations", "/shop-locations", ["name": "Aisle 1"], "LocationAtShop"),
    ])
    func addsOnceAndAnswersTheSame(
        _ page: String, _ path: String, _ fields: [String: String], _ entity: String
    ) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let before = await server.app.groceries.count(entity)
            let form = fields.merging(["once": try key(try await browser.get(page))]) { $1 }
            let first = try await browser.post(path, form)
            let second = try await browser.post(path, form)
            #expect(first.status == 303 && second.status == 303)
            #expect(first.header("Location") == second.header("Location"))
            #expect(await server.app.groceries.count(entity) == before + 1)
            // Each answer has its message.
            #expect(try await browser.get(second.header("Location") ?? "").words.contains("Undo"))
        }
    }

    @Test func twoAtOnceAddOne() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let form = ["name": "Oats", "quantity": "1", "once": try key(try await browser.get("/items/new"))]
            let token = try await browser.token()
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await TestBrowser(port: server.port, cookies: ["token": token]).post("/items", form).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [303, 303, 303, 303])
            #expect(await server.app.groceries.count("Item") == 4)
        }
    }

    @Test func aBackupIsMadeOnce() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let form = ["once": try key(try await browser.get("/backups"))]
            for _ in 0..<2 { #expect(try await browser.post("/backups", form).status == 303) }
            #expect(try await Groceries.backupFolder(of: server.store).list().count == 1)
        }
    }

    @Test func whatIsNotTheSameFormAddsAgain() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            var form = ["name": "", "quantity": "1", "once": try key(try await browser.get("/items/new"))]
            let count = { @Sendable in await server.app.groceries.count("Item") }
            // A problem added nothing: put right, the form does.
            #expect(try await browser.post("/items", form).status == 422)
            form["name"] = "Oats"
            #expect(try await browser.post("/items", form).status == 303)
            #expect(await count() == 4)
            // The user goes back and types another name.
            form["name"] = "Rye"
            #expect(try await browser.post("/items", form).status == 303)
            #expect(await count() == 5)
            // Another browser has keys of its own.
            #expect(try await server.browser.post("/items", form).status == 303)
            #expect(await count() == 6)
            // What was undone can be added anew.
            #expect(try await browser.post("/undo").status == 303)
            #expect(await count() == 5)
            #expect(try await browser.post("/items", form).status == 303)
            #expect(await count() == 6)
            // Without a key, or with what is none, each form counts.
            for key in ["", "x"] {
                form["once"] = key
                for _ in 0..<2 { #expect(try await browser.post("/items", form).status == 303) }
            }
            #expect(await count() == 10)
        }
    }
}
