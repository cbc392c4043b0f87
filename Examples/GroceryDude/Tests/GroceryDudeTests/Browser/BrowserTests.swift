import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Stories in a real browser.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct BrowserTests {
    private func button(_ name: String) -> String {
        "[...document.querySelectorAll('#list li button')].find(b => b.textContent === '\(name)')"
    }

    @Test func aTapInOneTabShowsInAnother() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { mine in
                try await Chrome.run { other in
                    try await mine.go(server.address("/prepare"))
                    try await other.go(server.address("/shop"))
                    try await other.wait(
                        "document.readyState === 'complete' && document.querySelector('#badge-shop').textContent === '1'"
                    )
                    try await mine.script("window.mark = 1; \(button("Flour")).click()")
                    try await other.waitFor("Baking 1 Flour")
                    try await other.wait("document.title.startsWith('(2) ')")
                    // Collected in the shop, it is struck through at home, on the page that was not loaded again.
                    try await other.script("\(button("Flour")).click()")
                    try await mine.wait("\(button("Flour")).closest('li').className === 'c'")
                    try await mine.wait("window.mark === 1")
                    try await mine.waitFor("Flour is on the list. Undo")
                    try await mine.script("document.querySelector('#flash button').click()")
                    try await mine.waitFor("another user has changed the same things since")
                    #expect(try await mine.complaints().isEmpty)
                    #expect(try await other.complaints().isEmpty)
                }
            }
        }
    }

    @Test func whatAnotherProcessSavesShowsAndWhatIsTypedStays() async throws {
        try await TestServer.run(.small) { server in
            let other = try TestServer.otherProcess(store: server.store)
            defer { other.end() }
            let elsewhere = TestBrowser(port: try await other.port())
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/units"))
                try await chrome.type("bott", into: "#name")
                #expect(try await elsewhere.submit("/units", ["name": "crate"]).status == 200)
                try await chrome.waitFor("crate 0 items")
                #expect(
                    try await chrome.script("return document.activeElement.id + ':' + document.activeElement.value")
                        as? String == "name:bott")
            }
        }
    }

    @Test func whatOneFormAddsOneAfterTheOtherIsThere() async throws {
        try await TestServer.run { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/units"))
                // The page stays, and its form gets a new key each time.
                for (number, name) in ["crate", "box"].enumerated() {
                    try await chrome.type("\(name)\n", into: "#name")
                    try await chrome.waitFor("\(name) 0 items")
                    try await chrome.wait("document.querySelector('#name').value === ''")
                    #expect(await server.app.groceries.count("Unit") == number + 1)
                }
                let keys = try await chrome.script(
                    "const k = document.forms[0].once.value; return k.length + ' ' + document.querySelectorAll('#list li').length"
                )
                #expect(keys as? String == "32 2")
            }
        }
    }

    @Test func aServerThatComesBackIsCaughtUpWith() async throws {
        let folder = try TestServer.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("Test.sqlite")
        let first = try TestServer.otherProcess(store: store, ["--default-data"])
        let port = try await first.port()
        try await Chrome.run { chrome in
            try await chrome.go("http://127.0.0.1:\(port)/shop")
            try await chrome.waitFor("Nothing to buy")
            #expect(first.end() == 0)
            try await chrome.wait("!document.querySelector('#offline').hidden")
            let second = try TestServer.otherProcess(store: store, ["--port", "\(port)"])
            defer { second.end() }
            #expect(try await second.port() == port)
            #expect(try await TestBrowser(port: port).post("/prepare", ["i": "1"]).status == 303)
            try await chrome.wait(
                "document.querySelector('#offline').hidden && document.querySelectorAll('#list li').length === 1")
        }
    }

    @Test func everythingWorksWithoutJavaScript() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run(Chrome.Screen(hasScript: false)) { chrome in
                try await chrome.go(server.address("/prepare"))
                try await chrome.click("#list li:nth-child(2) button")
                try await chrome.waitFor("Milk is off the list.")
                try await chrome.click("#flash button")
                try await chrome.waitFor("Undone: Take Milk off the list.")
                try await chrome.type("oats\n", into: "#q")
                try await chrome.waitFor("Add “oats” to the list")
                try await chrome.click(".addnow button")
                try await chrome.waitFor("oats is on the list.")
                try await chrome.go(server.address("/items/new"))
                try await chrome.type("Rice", into: "#name")
                try await chrome.click("button.main")
                try await chrome.waitFor("Rice is added.")
                try await chrome.go(server.address("/shop"))
                try await chrome.click("#list li button")
                try await chrome.waitFor("1 of 3")
                // None of this was the script's doing: it would listen for changes.
                #expect(await server.app.feed.subscriberCount == 0)
            }
        }
    }

    @Test func keysDoWhatTapsDo() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(server.address("/prepare"))
                try await chrome.press(Key.down, Key.down)
                #expect(try await chrome.script("return document.activeElement.textContent") as? String == "Milk")
                try await chrome.press(" ")
                try await chrome.wait("\(button("Milk")).ariaPressed === 'false'")
                try await chrome.waitFor("Milk is off the list.")
                try await chrome.press("z", with: Key.control)
                try await chrome.wait("\(button("Milk")).ariaPressed === 'true'")
                try await chrome.press(Key.delete)
                try await chrome.wait("!\(button("Milk"))")
                try await chrome.waitFor("Milk is deleted.")
                try await chrome.press("z", with: Key.control)
                try await chrome.wait("\(button("Milk"))")
                try await chrome.press("/")
                try await chrome.press("f", "l", "o")
                try await chrome.waitFor("Found 1 item")
                try await chrome.press(Key.down, "o")
                try await chrome.wait("document.querySelector('#detail #name')?.value === 'Flour'")
                try await chrome.picture("list-and-detail")
                try await chrome.script("document.activeElement.blur()")
                try await chrome.press("?")
                try await chrome.wait("document.querySelector('#keys').open")
                try await chrome.press(Key.escape)
                try await chrome.press("n")
                try await chrome.wait("location.pathname === '/items/new'")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func searchFindsWhileOneTypes() async throws {
        try await TestServer.run { server in
            _ = try await server.app.groceries.importDefaultData()
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/prepare"))
                try await chrome.wait("document.querySelectorAll('#list li').length === 377")
                try await chrome.type("lemo", into: "#q")
                try await chrome.waitFor("Found")
                try await chrome.wait(
                    "[...document.querySelectorAll('#list li button')].every(b => /lemo/i.test(b.textContent))")
                #expect(try await chrome.script("return document.activeElement.id") as? String == "q")
                // A change by another user shows in the search results.
                let lemons = try await server.app.groceries.number(of: "Lemons")
                #expect(try await server.browser.post("/prepare", ["i": "\(lemons)"]).status == 303)
                try await chrome.wait("\(button("Lemons"))?.ariaPressed === 'true'")
                try await chrome.press(Key.escape)
                try await chrome.wait("document.querySelectorAll('#list li').length === 377")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func aConflictIsShownAndTheirsTaken() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                let number = try await server.app.groceries.number(of: "Milk")
                try await chrome.go(server.address("/items/\(number)"))
                #expect(
                    try await server.browser.submit(
                        "/items/\(number)",
                        ["name": "Oat milk", "was-name": "Milk", "quantity": "1", "was-quantity": "1"]
                    ).status == 200)
                try await chrome.type(" fresh", into: "#name")
                try await chrome.click("button.main")
                try await chrome.waitFor("Theirs: Oat milk Yours: Milk fresh")
                try await chrome.picture("conflict")
                try await chrome.click(".conflict button")
                try await chrome.waitFor("Oat milk")
                try await chrome.wait("document.querySelector('h1').textContent === 'Oat milk'")
            }
        }
    }
}
