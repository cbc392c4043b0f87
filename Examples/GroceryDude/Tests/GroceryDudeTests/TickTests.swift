import CoreDataToolkit
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// What an installed app needs: its manifest, its service worker, and an answer to ticks that were made without a connection.
@Suite(.timeLimit(.minutes(2))) struct TickTests {
    @Test(arguments: [
        ("listed", "1", "Flour is on the list.", "Baking 1 Flour"),
        ("listed", "0", "Flour is off the list.", "Dairy 1 Milk"),
        ("collected", "0", "Flour is still to buy.", "Dairy 1 Milk"),
        ("collected", "1", "It is not on the list any more.", "Dairy 1 Milk"),
    ])
    func aTickSetsTheStateThatWasWishedFor(_ tick: String, _ on: String, _ message: String, _ list: String) async throws
    {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let flour = try await server.app.groceries.number(of: "Flour")
            // It may come twice.
            for _ in 0..<2 {
                let page = try await browser.submit("/ticks", ["i": "\(flour)", "tick": tick, "on": on])
                #expect(page.words.contains(message), "\(page.words)")
                #expect(try await browser.get("/shop").words.contains(list))
            }
        }
    }

    @Test func aTickThatComesLateCollectsAndIsUndone() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let milk = try await server.app.groceries.number(of: "Milk")
            let form = ["i": "\(milk)", "tick": "collected", "on": "1"]
            #expect(try await browser.submit("/ticks", form).words.contains("Milk is collected. Undo"))
            #expect(try await browser.get("/shop").text.contains("aria-pressed=true>Milk<"))
            // Sent again, it is as it was wished for: no step.
            #expect(!(try await browser.submit("/ticks", form).words.contains("Milk is collected. Undo")))
            #expect(try await browser.submit("/undo").words.contains("Undone: Collect Milk."))
            for gone in ["4711", "", "x", "-1"] {
                let page = try await browser.submit("/ticks", ["i": gone, "tick": "collected", "on": "1"])
                #expect(page.words.contains("Another user has deleted this meanwhile."))
            }
        }
    }

    @Test func theManifestNamesIconsThatThereAre() async throws {
        struct Manifest: Decodable {
            struct Picture: Decodable {
                let src: String
                let sizes: String
                let type: String
            }
            let name: String
            let start_url: String
            let display: String
            let icons: [Picture]
        }
        try await TestServer.run { server in
            let browser = try server.browser
            let page = try await browser.get("/prepare")
            #expect(page.text.contains("<link rel=manifest href=/manifest.webmanifest>"))
            let answer = try await browser.get("/manifest.webmanifest")
            #expect(answer.header("Content-Type") == "application/manifest+json")
            let manifest = try JSONDecoder().decode(Manifest.self, from: Data(answer.body))
            #expect(manifest.name == "Grocery Dude")
            #expect(manifest.start_url == "/prepare")
            #expect(manifest.display == "standalone")
            #expect(manifest.icons.map(\.sizes) == ["192x192", "512x512", "any"])
            for icon in manifest.icons {
                let picture = try await browser.get(icon.src)
                #expect(picture.status == 200)
                #expect(picture.header("Content-Type") == icon.type)
                guard icon.type == "image/png" else { continue }
                let header = try ImageHeader(Data(picture.body))
                #expect("\(header.width)x\(header.height)" == icon.sizes)
            }
        }
    }

    @Test func theServiceWorkerIsNeverOldAndThePageForNoConnectionLeadsToTheLists() async throws {
        try await TestServer.run { server in
            let browser = try server.browser
            let worker = try await browser.get("/sw.js")
            #expect(worker.header("Content-Type")?.hasPrefix("text/javascript") == true)
            #expect(worker.header("Cache-Control") == "private, no-cache")
            let page = try await browser.get("/offline")
            for path in ["/prepare", "/shop"] { #expect(page.text.contains("<a class=button href=\"\(path)\">")) }
            #expect(try await browser.get("/shop").text.contains("data-keep=\"/prepare /shop\""))
        }
    }
}
