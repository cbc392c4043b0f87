import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Two apps that synchronise, each in a browser.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct SyncBrowserTests {
    @Test func whatOneTicksIsTickedOnTheOtherDevicesOpenPage() async throws {
        try await SyncedServers.joined { servers in
            try await Chrome.run { chrome in
                try await chrome.go(servers.phone.address("/shop"))
                try await chrome.waitFor("Dairy 1 Milk")
                try await chrome.script("window.mark = 1")
                let (milk, flour) = try await (
                    servers.kitchen.app.groceries.number(of: "Milk"),
                    servers.kitchen.app.groceries.number(of: "Flour")
                )
                _ = try await servers.kitchen.browser.post("/shop", ["on": "\(milk)"])
                try await chrome.wait("document.querySelector('#list li button').ariaPressed === 'true'")
                _ = try await servers.kitchen.browser.post("/prepare", ["on": "\(flour)"])
                try await chrome.waitFor("Baking 1 Flour")
                try await chrome.wait("document.title.startsWith('(1) ')")
                // Back: the kitchen shows what the phone ticks. The page was not loaded again.
                try await chrome.script(
                    "[...document.querySelectorAll('#list li button')].find(b => b.textContent === 'Flour').click()")
                try await Polling.wait(for: "the kitchen") {
                    try await servers.kitchen.items().contains("Flour: 1 kg, Pantry, Baking, listed, collected")
                }
                try await chrome.wait("window.mark === 1")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func aConflictAppearsAndIsBroughtBack() async throws {
        try await SyncedServers.joined { servers in
            try await Chrome.run { chrome in
                try await chrome.go(servers.phone.address("/sync"))
                try await chrome.waitFor("Up to date")
                try await chrome.script("window.mark = 1")
                try await servers.apart {
                    try await servers.kitchen.setQuantity("Milk", 2)
                    try await servers.phone.setQuantity("Milk", 3)
                }
                try await chrome.waitFor("Conflicts 1 Milk")
                try await chrome.wait("!document.querySelector('#badge-sync').hidden")
                let lost = try await chrome.text(".loser q + q, .loser q:last-of-type")
                try await chrome.click(".loser button")
                try await chrome.waitFor("It is brought back, on all devices.")
                try await chrome.wait("!document.querySelector('.loser button')")
                try await chrome.wait("window.mark === 1")
                try await Polling.wait(for: "the kitchen") {
                    try await servers.kitchen.items().contains("Milk: \(lost), Fridge, Dairy, listed")
                }
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func aFolderIsJoinedWithoutJavaScript() async throws {
        try await SyncedServers.run(.small, .none) { servers in
            try await servers.kitchen.join(servers.folder, "Kitchen")
            try await Chrome.run(Chrome.Screen(hasScript: false)) { chrome in
                try await chrome.go(servers.phone.address("/sync"))
                try await chrome.type(servers.folder.path, into: "#folder")
                try await chrome.click("button.main")
                try await chrome.waitFor("This folder has a list already")
                try await chrome.click(".choices button")
                try await chrome.waitFor("This list synchronises as")
                try await Polling.wait(for: "the list") { try await servers.phone.items().count == 3 }
            }
        }
    }

    @Test(arguments: PlaceServer.Kind.allCases)
    func aServerIsJoinedWithoutJavaScript(_ kind: PlaceServer.Kind) async throws {
        try await TestServer.run(.small) { server in
            let place = try PlaceServer(kind)
            try await Chrome.run(Chrome.Screen(hasScript: false)) { chrome in
                try await chrome.go(server.address("/sync"))
                try await chrome.click("#kind option[value=\(kind.rawValue)]")
                for (field, text) in place.fields where field != "kind" && !text.isEmpty {
                    try await chrome.type(text, into: "#\(field)")
                }
                try await chrome.click("button.main")
                try await chrome.waitFor("This list synchronises as")
                try await server.waitForExchange()
                #expect(!place.files.isEmpty)
            }
        }
    }

    @Test(arguments: Chrome.Screen.some)
    func everyStateFitsAndIsAccessible(_ screen: Chrome.Screen) async throws {
        try await SyncedServers.run(.small, .small) { servers in
            try await Chrome.run(screen) { chrome in
                func look(_ name: String, _ path: String = "/sync") async throws {
                    if path != "/sync" || name != "problem" { try await chrome.go(servers.phone.address(path)) }
                    #expect(try await chrome.faults("sync-\(name)-\(screen)") == [])
                }
                try await look("off")
                for kind in PlaceServer.Kind.allCases {
                    try await chrome.click("#kind option[value=\(kind.rawValue)]")
                    try await chrome.wait(
                        "[...document.querySelectorAll('.in-folder, .in-webdav, .in-s3')].every(f => "
                            + "(f.className === 'in-\(kind.rawValue)') === (getComputedStyle(f).display !== 'none'))")
                    #expect(try await chrome.faults("sync-\(kind.rawValue)-\(screen)") == [])
                }
                try await chrome.click("#kind option[value=folder]")
                try await chrome.type("/nowhere", into: "#folder")
                try await chrome.click("button.main")
                try await chrome.waitFor("There is no folder")
                try await look("problem")
                try await servers.kitchen.join(servers.folder, "Kitchen")
                try await chrome.go(servers.phone.address("/sync"))
                try await chrome.type(servers.folder.path, into: "#folder")
                try await chrome.click("button.main")
                try await chrome.waitFor("This folder has a list already")
                try await look("question", "/sync/join")
                try await chrome.click(".choices button")
                try await servers.phone.waitForExchange()
                try await makeConflicts(servers)
                try await look("on")
                try await look("leave", "/sync/leave")
                try FileManager.default.removeItem(at: servers.folder)
                _ = try await servers.phone.browser.submit("/sync/exchange")
                try await look("gone")
            }
        }
    }

    /// What the app's README shows: `make pictures-web` takes it.
    @Test func picturesForTheReadmeOfSync() async throws {
        try await SyncedServers.joined { servers in
            try await makeConflicts(servers)
            try await Chrome.run(.phone) { chrome in
                try await chrome.go(servers.phone.address("/sync"))
                try await chrome.waitFor("Conflicts 2")
                // The folder of a test says nothing to a reader.
                try await chrome.script(
                    """
                    const w = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                    while (w.nextNode()) w.currentNode.data = w.currentNode.data.replaceAll(arguments[0], '/home/me/Groceries');
                    """, [servers.folder.path])
                try await chrome.picture("grocery-sync")
            }
        }
    }

    private func makeConflicts(_ servers: SyncedServers) async throws {
        try await servers.settle()
        try await servers.apart {
            try await servers.kitchen.setQuantity("Milk", 2)
            try await servers.phone.setQuantity("Milk", 3)
            let flour = try await servers.kitchen.app.groceries.number(of: "Flour")
            _ = try await servers.kitchen.browser.submit("/items/\(flour)/delete")
            try await servers.phone.setQuantity("Flour", 3)
        }
    }
}
