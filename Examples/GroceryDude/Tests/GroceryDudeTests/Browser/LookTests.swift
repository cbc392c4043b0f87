import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Every page at two widths, in light and dark: fits, is accessible, and is kept as a picture.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct LookTests {
    private static let pages = [
        "/prepare", "/prepare?q=milk", "/prepare/clear", "/shop", "/items/new", "/items/1", "/units", "/units/1",
        "/home-locations", "/shop-locations", "/more", "/settings", "/settings/sql", "/sync", "/backups", "/nothing",
    ]

    @Test(arguments: Chrome.Screen.some)
    func everyPageFitsAndIsAccessible(_ screen: Chrome.Screen) async throws {
        try await TestServer.run { server in
            try await server.app.groceries.makeDemo()
            try await givePictures(server)
            _ = try await server.browser.submit("/backups")
            try await Chrome.run(screen) { chrome in
                for path in Self.pages {
                    try await chrome.go(server.address(path))
                    let name = path.dropFirst().replacing("/", with: "-").replacing("prepare?q=milk", with: "search")
                    try await look(chrome, String(name), screen)
                }
            }
        }
    }

    @Test(arguments: Chrome.Screen.phoneOrDesk)
    func soAreMessagesAndEmptyPages(_ screen: Chrome.Screen) async throws {
        try await TestServer.run { server in
            try await Chrome.run(screen) { chrome in
                for path in ["/prepare", "/shop", "/units", "/backups"] {
                    try await chrome.go(server.address(path))
                    try await look(chrome, "empty-\(path.dropFirst())", screen)
                }
                try await server.app.groceries.makeDemo()
                try await chrome.go(server.address("/units/1"))
                try await chrome.script("document.querySelector('.end button').click()")
                try await chrome.waitFor("is used by")
                try await look(chrome, "denied", screen)
                try await chrome.go(server.address("/items/new"))
                try await chrome.script("document.querySelector('.editor').noValidate = true")
                try await chrome.type("lots", into: "#quantity")
                try await chrome.click("button.main")
                try await chrome.waitFor("Type a number")
                try await look(chrome, "problems", screen)
                try await chrome.go(server.address("/items/1"))
                try await chrome.type(" ripe", into: "#name")
                let old = try await chrome.script("return document.querySelector('[name=was-name]').value") as? String
                _ = try await server.browser.submit(
                    "/items/1", ["name": "Apples", "was-name": old ?? "", "quantity": "1", "was-quantity": "1"])
                try await chrome.click("button.main")
                try await chrome.waitFor("Theirs: Apples")
                try await look(chrome, "conflict", screen)
            }
        }
    }

    /// What the app's README shows: `make pictures-web` takes these.
    @Test func picturesForTheReadme() async throws {
        try await TestServer.run { server in
            try await server.app.groceries.makeDemo()
            try await givePictures(server)
            try await Chrome.run(.phone) { chrome in
                try await chrome.go(server.address("/prepare"))
                for row in [2, 3] { try await chrome.click("#list li:nth-child(\(row)) button") }
                try await chrome.waitFor("is on the list. Undo")
                try await chrome.wait("document.querySelectorAll('#list li:nth-child(3) [aria-pressed=true]').length")
                try await chrome.picture("grocery-prepare")
            }
            try await Chrome.run(Chrome.Screen(isDark: true)) { chrome in
                try await chrome.go(server.address("/shop"))
                try await chrome.picture("grocery-shop")
            }
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(server.address("/shop"))
                try await chrome.script("document.querySelector('#list li > a').click()")
                try await chrome.wait("document.querySelector('#detail #name')")
                try await chrome.picture("grocery-detail")
            }
        }
    }

    private func givePictures(_ server: TestServer) async throws {
        guard Pictures.scaler != nil else { return }
        for item in 1...3 {
            let picture = TestPicture.png(width: 60 + 30 * item, height: 90)
            #expect(
                try await server.browser.upload("/items/\(item)/photo", field: "photo", file: picture).status == 303)
        }
    }

    private func look(_ chrome: Chrome, _ page: String, _ screen: Chrome.Screen) async throws {
        let faults = try await chrome.faults("\(page)-\(screen)")
        #expect(faults == [])
    }

    @Test(.enabled(if: Chrome.axe != nil, "axe-core is not there: make test-web installs it"))
    func axeIsThere() { #expect(Chrome.axe?.contains("axe-core") == true || Chrome.axe?.contains("axe v") == true) }

    @Test func aShoppingListPrints() async throws {
        try await TestServer.run { server in
            try await server.app.groceries.makeDemo()
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(server.address("/shop"))
                try await chrome.command("Emulation.setEmulatedMedia", ["media": "print"])
                try await chrome.picture("print")
                #expect(
                    try await chrome.number(
                        "getComputedStyle(document.querySelector('nav')).display === 'none' ? 1 : 0") == 1)
            }
        }
    }
}
