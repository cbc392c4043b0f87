import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Pages and events that come late: whatever the order, a page shows what there is in the end.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct OrderTests {
    /// Holds back the events and the pages that the script asks for, until the test lets them come.
    private static let gates = """
        {
        delete window.SharedWorker;
        const Stream = EventSource, read = fetch.bind(window);
        window.events = [];
        window.told = 0;
        window.pages = [];
        window.EventSource = class {
          constructor(url) { this.stream = new Stream(url); }
          addEventListener(name, act) { this.stream.addEventListener(name, e => events.push(() => act(e))); }
          set onopen(act) { this.stream.onopen = act; }
          set onerror(act) { this.stream.onerror = act; }
          get readyState() { return this.stream.readyState; }
          close() { this.stream.close(); }
        };
        window.fetch = async (...request) => {
          const answer = await read(...request), text = await answer.text();
          return new Promise(pass => pages.push(() => pass({ ok: answer.ok, status: answer.status, text: async () => text })));
        };
        }
        """

    /// The list as it shows: sections with their counts, and rows.
    private static let list = """
        [...document.querySelectorAll('#list h2, #list li')].map(e => e.textContent.trim().replace(/\\s+/g, ' ')).join('; ')
        """

    /// First Flour moves between two sections, one of which is gone without it; then there is a new item in a new section, the first.
    @MainActor private func change(_ step: Int, _ app: App, _ name: String) throws {
        let groceries = app.groceries
        try groceries.perform("Change") {
            if step == 0 {
                let flour = groceries.item(try groceries.number(of: "Flour"))
                let place = flour?.locationAtHome?.storedIn == "Pantry" ? "Fridge" : "Pantry"
                flour?.locationAtHome = try groceries.findOrMakePlace(.home, named: place) as? LocationAtHome
            } else {
                let item = try groceries.makeItem(named: name)
                item.locationAtHome = try groceries.findOrMakePlace(.home, named: "At \(name)") as? LocationAtHome
            }
        }
    }

    @Test func aPageAndTwoEventsInEveryOrder() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.command("Page.addScriptToEvaluateOnNewDocument", ["source": Self.gates])
                for made in 0...2 {
                    for comes in 0...2 { try await check(chrome, server, made: made, comes: comes) }
                }
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    /// - Parameters:
    ///   - made: how many changes the page has that is read anew.
    ///   - comes: how many changes the open page has been told of when it comes.
    private func check(_ chrome: Chrome, _ server: TestServer, made: Int, comes: Int) async throws {
        let name = "Oats \(made)\(comes)"
        try await chrome.go(server.address("/prepare"))
        var counts: [Int] = []
        for step in 0...2 {
            if step == made {
                // As when the user empties the search field.
                try await chrome.script(
                    "document.querySelector('#q').dispatchEvent(new Event('input', { bubbles: true }))")
                try await chrome.wait("pages.length === 1")
            }
            guard step < 2 else { continue }
            try await change(step, server.app, name)
            try await chrome.wait("events.length > \(counts.last ?? 0)")
            counts.append(try await chrome.number("events.length"))
        }
        for step in 0...2 {
            if step == comes { try await chrome.script("pages[0]()") }
            let count = step < 2 ? "\(counts[step])" : "events.length"
            try await chrome.script("while (told < \(count)) events[told++]()")
        }
        let shown = try await chrome.script("return " + Self.list) as? String
        try await chrome.go(server.address("/prepare"))
        let expected = try await chrome.script("return " + Self.list) as? String
        #expect(expected?.hasPrefix("At Oats 00 1; Oats 00") == true)
        #expect(expected?.contains(name) == true)
        #expect(shown == expected, "a page with \(made) changes came after \(comes) events")
    }

    @Test func aSearchThatComesLateDoesNotReplaceANewerOne() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.command("Page.addScriptToEvaluateOnNewDocument", ["source": Self.gates])
                try await chrome.go(server.address("/prepare"))
                try await chrome.type("milk", into: "#q")
                try await chrome.wait("pages.length > 0")
                let first = try await chrome.number("pages.length")
                try await chrome.press(Key.escape)
                try await chrome.wait("pages.length > \(first)")
                // The newest comes first.
                try await chrome.script("for (const pass of pages.reverse()) pass()")
                #expect(try await chrome.number("document.querySelectorAll('#list li').length") == 3)
                #expect(try await chrome.number("document.querySelectorAll('[data-found]').length") == 0)
            }
        }
    }

    private static func hide(_ isHidden: Bool) -> String {
        """
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => \(isHidden) });
        document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
        """
    }

    /// A browser has six connections to a server: seven tabs with a stream each would leave none to read a page.
    @Test func aHiddenTabOfABrowserWithoutSharedWorkersClosesItsStreamAndCatchesUp() async throws {
        try await TestServer.run(.small) { server in
            let flour = try await server.app.groceries.number(of: "Flour")
            try await Chrome.run { chrome in
                try await chrome.command(
                    "Page.addScriptToEvaluateOnNewDocument", ["source": "delete window.SharedWorker;"])
                try await chrome.go(server.address("/shop"))
                try await Polling.wait(for: "the page to listen") { await server.app.feed.subscriberCount == 1 }
                try await chrome.script(Self.hide(true))
                try await Polling.wait(for: "the page to leave") { await server.app.feed.subscriberCount == 0 }
                #expect(try await server.browser.post("/prepare", ["on": "\(flour)"]).status == 303)
                #expect(try await chrome.number("document.querySelectorAll('#list li').length") == 1)
                try await chrome.script(Self.hide(false))
                try await chrome.waitFor("Baking 1 Flour")
                try await chrome.wait("document.title.startsWith('(2) ')")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func aPageThatIsOneTooManyComesBack() async throws {
        try await TestServer.run(.small) { server in
            let flour = try await server.app.groceries.number(of: "Flour")
            await MainActor.run { server.app.feed.mostSubscribers = 0 }
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/shop"))
                try await chrome.wait("!document.querySelector('#offline').hidden")
                #expect(try await server.browser.post("/prepare", ["on": "\(flour)"]).status == 303)
                await MainActor.run { server.app.feed.mostSubscribers = 1 }
                try await chrome.waitFor("Baking 1 Flour")
                try await chrome.wait("document.querySelector('#offline').hidden")
            }
        }
    }
}
