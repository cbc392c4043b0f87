import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// In a shop without reception.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct OfflineTests {
    /// Waits until the service worker has the pages, with the style sheet.
    private func waitUntilKept(_ chrome: Chrome) async throws {
        try await Polling.wait(for: "the service worker to keep the pages") {
            try await chrome.number(
                """
                (async () => {
                    if (!navigator.serviceWorker.controller) return 0;
                    const keys = await (await caches.open('pages')).keys();
                    return keys.filter(k => /shop$|offline$|app.css|app.js|keep.js/.test(k.url)).length;
                })()
                """) == 5
        }
    }

    /// The number of waiting ticks that wish for no tick.
    private static let wishesOff = """
        (async () => {
            const base = await new Promise(done => {
                const opening = indexedDB.open('ticks', 1);
                opening.onsuccess = () => done(opening.result);
            });
            const all = await new Promise(done => {
                const reading = base.transaction('ticks').objectStore('ticks').getAll();
                reading.onsuccess = () => done(reading.result);
            });
            base.close();
            return all.filter(tick => !tick.on).length;
        })()
        """

    private func button(_ number: Int) -> String { "document.querySelector('#i\(number) button')" }

    /// A server is stopped and started again on its port, with what others did meanwhile.
    private struct Shop {
        let store: URL
        let port: Int

        /// Changes the store through another server, as another user at home does.
        func elsewhere(_ change: (TestBrowser) async throws -> Void) async throws {
            let other = try TestServer.otherProcess(store: store)
            defer { other.end() }
            try await change(TestBrowser(port: try await other.port()))
        }
    }

    /// Runs a test with two items on the list, kept by the browser, and the server stopped.
    private func runWithoutConnection(_ test: (Chrome, Shop) async throws -> Void) async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        let server = try TestServer.otherProcess(store: store, ["--default-data"])
        defer { server.end() }
        let port = try await server.port()
        let home = TestBrowser(port: port)
        for item in [1, 2] { #expect(try await home.post("/prepare", ["i": "\(item)"]).status == 303) }
        try await Chrome.run { chrome in
            try await chrome.go("http://127.0.0.1:\(port)/shop")
            try await chrome.wait("document.querySelectorAll('#list li').length === 2")
            try await waitUntilKept(chrome)
            #expect(server.end() == 0)
            try await chrome.wait("!document.querySelector('#offline').hidden")
            try await test(chrome, Shop(store: store, port: port))
        }
    }

    /// Starts the server again, and waits until the browser has sent everything and says so.
    private func waitUntilSent(
        _ chrome: Chrome, _ shop: Shop, _ message: String, _ test: (TestBrowser) async throws -> Void
    ) async throws {
        let server = try TestServer.otherProcess(store: shop.store, ["--port", "\(shop.port)"])
        defer { server.end() }
        #expect(try await server.port() == shop.port)
        try await chrome.waitFor(message)
        try await chrome.wait(
            "document.querySelector('#waiting').textContent === '' && document.querySelector('#offline').hidden")
        try await test(TestBrowser(port: shop.port))
    }

    @Test func aTickIsKeptOverALoadAndSentLater() async throws {
        try await runWithoutConnection { chrome, shop in
            try await chrome.script("\(button(1)).click()")
            try await chrome.waitFor("No connection. Changes show when it is back. 1 change waits to be sent.")
            try await chrome.script("\(button(2)).click()")
            try await chrome.waitFor("2 changes wait to be sent.")
            // The page is loaded again: from the service worker, with the ticks that wait.
            try await chrome.go("http://127.0.0.1:\(shop.port)/shop")
            try await chrome.waitFor("2 changes wait to be sent.")
            try await chrome.wait("\(button(1)).ariaPressed === 'true' && \(button(2)).ariaPressed === 'true'")
            try await chrome.picture("offline-360")
            // The last wish for an item counts.
            try await chrome.script("\(button(2)).click()")
            try await Polling.wait(for: "the wish") { try await chrome.number(Self.wishesOff) == 1 }
            try await chrome.wait("\(button(2)).ariaPressed === 'false'")
            try await chrome.waitFor("2 changes wait to be sent.")
            // What was not kept says so.
            try await chrome.go("http://127.0.0.1:\(shop.port)/items/1")
            try await chrome.waitFor("This page is not kept on this device.")
            try await chrome.click("main a[href='/shop']")
            try await chrome.waitFor("2 changes wait to be sent.")
            try await waitUntilSent(chrome, shop, "2 changes sent.") { home in
                let page = try await home.get("/shop")
                #expect(page.text.contains("name=off value=1 aria-pressed=true"))
                #expect(page.text.contains("name=on value=2 aria-pressed=false"))
            }
        }
    }

    @Test func aTickOfADeletedItemIsReported() async throws {
        try await runWithoutConnection { chrome, shop in
            let name = try await chrome.script("return \(button(2)).textContent") as? String ?? ""
            for item in [1, 2] { try await chrome.script("\(button(item)).click()") }
            try await chrome.waitFor("2 changes wait to be sent.")
            try await shop.elsewhere { home in
                // The same wish for one, the end of the other.
                let tick = try await home.post("/ticks", ["i": "1", "tick": "collected", "on": "1"])
                let deletion = try await home.post("/items/2/delete")
                #expect(tick.status == 303 && deletion.status == 303)
            }
            let message = "“\(name)” is not ticked: Another user has deleted this meanwhile."
            try await waitUntilSent(chrome, shop, message) { home in
                #expect(try await home.get("/shop").text.contains("name=off value=1 aria-pressed=true"))
                try await chrome.wait("!document.querySelector('#i2')")
            }
        }
    }
}
