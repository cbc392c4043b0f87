import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Tabs of one browser, which has six connections to a server.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct TabTests {
    @Test func eightWindowsShareOneStream() async throws {
        try await TestServer.run(.small) { server in
            let flour = try await server.app.groceries.number(of: "Flour")
            try await Chrome.run(.desk) { chrome in
                var windows: [(name: String, path: String)] = []
                for index in 0..<8 {
                    let path = index % 2 == 0 ? "/prepare" : "/shop"
                    windows.append((try await chrome.openWindow(), path))
                    try await chrome.go(server.address(path))
                }
                try await Polling.wait(for: "the stream") { await server.app.feed.subscriberCount == 1 }
                #expect(try await server.browser.post("/prepare", ["on": "\(flour)"]).status == 303)
                for window in windows {
                    try await chrome.show(window.name)
                    try await chrome.wait("document.title.startsWith('(2) ')")
                    if window.path == "/shop" {
                        try await chrome.waitFor("Baking 1 Flour")
                    } else {
                        try await chrome.wait("document.querySelector('#i\(flour) button').ariaPressed === 'true'")
                    }
                    #expect(try await chrome.number("document.querySelectorAll('#i\(flour)').length") == 1)
                }
                #expect(await server.app.feed.subscriberCount == 1)
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    /// The stream is past the page's position: the tab needs the events in between.
    @Test func aTabWithAnOlderPageCatchesUp() async throws {
        try await TestServer.run(.small) { server in
            let flour = try await server.app.groceries.number(of: "Flour")
            try await Chrome.run(.desk) { chrome in
                let first = try await chrome.openWindow()
                try await chrome.go(server.address("/shop"))
                let second = try await chrome.openWindow()
                try await chrome.go(server.address("/shop"))
                // The second tab leaves the stream, as a page does that a browser keeps for Back.
                try await chrome.script("dispatchEvent(new Event('pagehide'))")
                #expect(try await server.browser.post("/prepare", ["on": "\(flour)"]).status == 303)
                try await chrome.show(first)
                try await chrome.waitFor("Baking 1 Flour")
                try await chrome.show(second)
                #expect(try await chrome.number("document.querySelectorAll('#list li').length") == 1)
                // It comes back, and no answer to its request for the page arrives: the events alone can bring the row.
                try await chrome.script(
                    """
                    window.fetch = () => new Promise(() => {});
                    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }));
                    """)
                try await chrome.waitFor("Baking 1 Flour")
                try await chrome.wait("document.title.startsWith('(2) ')")
                #expect(await server.app.feed.subscriberCount == 1)
            }
        }
    }
}
