import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// What open pages are told.
@Suite(.timeLimit(.minutes(2))) struct LiveTests {
    private struct Patch: Decodable {
        struct Row: Decodable {
            let id: String
            let section: Int
            let after: String?
            let html: String
        }
        struct Section: Decodable {
            let index: Int
            let html: String
        }
        let gone: [String]
        let goneSections: [Int]
        let sections: [Section]
        let rows: [Row]
    }

    private func position(_ page: Answer) throws -> String {
        String(try #require(page.text.firstMatch(of: /data-at="([^"]+)"/)).output.1)
    }

    private func patch(_ reader: EventReader) async throws -> Patch {
        try JSONDecoder().decode(Patch.self, from: Data(try await reader.next("patch").data.utf8))
    }

    @Test func aTapShowsOnOtherPages() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let flour = try await server.app.groceries.number(of: "Flour")
            let prepare = try browser.events("prepare", after: try position(try await browser.get("/prepare")))
            let shop = try browser.events("shop", after: try position(try await browser.get("/shop")))
            _ = try await server.browser.post("/prepare", ["i": "\(flour)"])
            let row = try #require(try await patch(prepare).rows.first)
            #expect(row.id == "i\(flour)")
            #expect(row.html.contains("aria-pressed=true>Flour"))
            // In the shop it is a new row of a new section, the first.
            let inShop = try await patch(shop)
            #expect(inShop.sections.first?.index == 0)
            #expect(inShop.sections.first?.html.contains("<h2>Baking") == true)
            #expect(inShop.rows.map(\.id) == ["i\(flour)"])
            #expect(inShop.rows.first?.after == nil)
            let parts = try await shop.next("parts").data
            #expect(parts.contains(#""title":2"#) && parts.contains("2 to buy") && parts.contains("0 of 2"))
        }
    }

    /// As the tabs of a browser share it.
    @Test func aStreamMayServeSeveralLists() async throws {
        struct Address: Decodable { let list: String }
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let seen = try position(try await browser.get("/prepare"))
            let both = try browser.events("prepare,shop", after: seen)
            let one = try browser.events("shop", after: seen)
            let flour = try await server.app.groceries.number(of: "Flour")
            _ = try await browser.post("/prepare", ["i": "\(flour)"])
            func list(_ reader: EventReader) async throws -> String {
                let patch = try await reader.next("patch")
                let address = try JSONDecoder().decode(Address.self, from: Data(patch.data.utf8))
                return address.list
            }
            #expect(Set([try await list(both), try await list(both)]) == ["prepare", "shop"])
            #expect(try await list(one) == "shop")
        }
    }

    /// Though the context tells of it twice: when it changes, and when its parent has saved it.
    @Test func pagesHearOfATapOnce() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let reader = try browser.events("prepare", after: try position(try await browser.get("/prepare")))
            for item in [1, 2, 1] { _ = try await browser.post("/prepare", ["i": "\(item)"]) }
            var told: [String] = []
            while told.count < 3 { told += try await patch(reader).rows.map(\.id) }
            #expect(told == ["i1", "i2", "i1"])
        }
    }

    @Test func aRowMovesToItsNewSection() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let reader = try browser.events("prepare", after: try position(try await browser.get("/prepare")))
            let (flour, milk) = try await MainActor.run {
                let groceries = server.app.groceries
                let flour = try #require(groceries.item(try groceries.number(of: "Flour")))
                try groceries.perform("Move") {
                    flour.locationAtHome = try groceries.place(.home, named: "Fridge") as? LocationAtHome
                    flour.name = "Nut flour"
                }
                return (flour.number, try groceries.number(of: "Milk"))
            }
            let moved = try await patch(reader)
            #expect(moved.goneSections == [1])
            #expect(moved.rows.first { $0.id == "i\(flour)" }?.after == "i\(milk)")
            #expect(moved.rows.first { $0.id == "i\(flour)" }?.section == 0)
        }
    }

    @Test func namesOfUnitsShowAtOnce() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let reader = try browser.events("prepare", after: try position(try await browser.get("/prepare")))
            let unit = try await MainActor.run { try server.app.groceries.place(.unit, named: "kg")?.number ?? 0 }
            _ = try await server.browser.post("/units/\(unit)", ["name": "pound"])
            #expect(try await patch(reader).rows.first?.html.contains("1 pound · Baking") == true)
        }
    }

    @Test func whoLostTheConnectionCatchesUp() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let seen = try position(try await browser.get("/prepare"))
            for _ in 0..<3 { _ = try await server.browser.post("/prepare", ["i": "1"]) }
            let first = try browser.events("prepare", after: seen)
            let one = try await first.next("patch")
            // As a browser comes back: by a header, which counts more than the address.
            let second = try browser.events("prepare", after: seen, lastEvent: one.id)
            let two = try await second.next("patch")
            #expect(two.id != one.id)
            #expect(try await first.next("patch").id == two.id)
        }
    }

    @Test(arguments: [nil, "x", "zzz.3", "1.1.1", ".", "zzz.-4"])
    func aPageWithAnUnknownPositionReadsAnew(_ position: String?) async throws {
        try await TestServer.run(.small) { server async throws in
            #expect(try await server.browser.events("prepare", after: position).next("stale").data == "{}")
        }
    }

    @Test func whatAnotherProcessSavesShows() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let reader = try browser.events("prepare", after: try position(try await browser.get("/prepare")))
            let other = try TestServer.otherProcess(store: server.store)
            defer { other.end() }
            let elsewhere = TestBrowser(port: try await other.port())
            #expect(try await elsewhere.get("/prepare").words.contains("Fridge 2 Butter"))
            let flour = try await server.app.groceries.number(of: "Flour")
            #expect(try await elsewhere.post("/prepare", ["i": "\(flour)"]).status == 303)
            #expect(try await patch(reader).rows.first?.html.contains("aria-pressed=true>Flour") == true)
            // And the other way round.
            let there = try elsewhere.events("shop", after: try position(try await elsewhere.get("/shop")))
            #expect(try await browser.post("/shop", ["i": "\(flour)"]).status == 303)
            #expect(try await patch(there).rows.first?.html.contains("aria-pressed=true>Flour") == true)
        }
    }

    @Test func streamsAreBoundedAndWhoLeavesMakesRoom() async throws {
        try await TestServer.run(.small) { server in
            await MainActor.run { server.app.feed.mostSubscribers = 2 }
            let browser = try server.browser
            let at = try position(try await browser.get("/prepare"))
            var readers = try (0..<2).map { _ in try browser.events("prepare", after: at) }
            for reader in readers { _ = try await reader.next("") }
            let refused = try await browser.get("/events?list=prepare&after=\(at)")
            #expect(refused.status == 503)
            #expect(refused.header("Retry-After") == "5")
            // Pages are read all the same.
            #expect(try await browser.get("/prepare").status == 200)
            readers.removeLast()
            try await Polling.wait(for: "the page that left") { await server.app.feed.subscriberCount == 1 }
            _ = try await browser.events("prepare", after: at).next("")
        }
    }

    @Test func manyPagesHearOfItAtOnce() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let at = try position(try await browser.get("/prepare"))
            let readers = try (0..<200).map { _ in try browser.events("prepare", after: at) }
            for reader in readers.prefix(3) { _ = try await reader.next("") }
            _ = try await browser.post("/prepare", ["i": "1"])
            for reader in readers { #expect(try await reader.next("patch").data.contains("\"id\":\"i1\"")) }
        }
    }
}
