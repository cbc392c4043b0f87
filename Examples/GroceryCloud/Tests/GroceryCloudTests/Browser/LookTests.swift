import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// Every page at two widths, in light and dark: fits, is accessible, and is kept as a picture.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct LookTests {
    @Test(arguments: Chrome.Screen.some)
    func everyPageFitsAndIsAccessible(_ screen: Chrome.Screen) async throws {
        try await TestHousehold.run { household in
            let (home, list) = (household.homePath, "/lists/\(household.list.path)")
            _ = try await household.ann.post("\(home)/invitations", ["role": "viewer"])
            let (milk, unit) = (try await household.item("Milk"), try await household.place(.unit))
            let pages = [
                "prepare": household.prepare, "search": "\(household.prepare)?q=milk", "shop": household.shop,
                "clear": "\(list)/clear", "new": "\(list)/items/new", "item": "/items/\(milk)", "more": "\(list)/more",
                "list-deletion": "\(list)/deletion", "households": "/households", "household": home,
                "history": "\(home)/history", "household-deletion": "\(home)/deletion", "units": "\(home)/units",
                "unit": "/units/\(unit)", "account": "/account", "administration": "/administration",
                "account-deletion": "/account/deletion",
                "missing": "/nothing",
            ]
            try await Chrome.run(screen) { chrome in
                for (name, path) in [
                    ("sign-in", "/sign-in"), ("sign-up", "/sign-up"), ("join", "/join"), ("reset", "/reset"),
                ] {
                    try await chrome.go(household.server.address(path))
                    try await look(chrome, name, screen)
                }
                for (account, prefix) in [("ann", ""), ("eve", "viewer-")] {
                    try await chrome.go(household.server.address("/sign-in"))
                    try await chrome.type(account, into: "#name")
                    try await chrome.type(password, into: "#password")
                    try await chrome.click("button.main")
                    try await chrome.waitFor("You are signed in as \(account).")
                    for (name, path) in pages.sorted(by: { $0.key < $1.key }) {
                        if account == "eve", !["prepare", "shop", "item", "household", "unit"].contains(name) {
                            continue
                        }
                        try await chrome.go(household.server.address(path))
                        try await look(chrome, "\(prefix)\(name)", screen)
                    }
                    try await chrome.go(household.server.address("/account"))
                    try await chrome.click("form[action='/sign-out'] button")
                    try await chrome.waitFor("No account yet?")
                }
            }
        }
    }

    @Test(arguments: Chrome.Screen.phoneOrDesk)
    func soAreMessagesAndEmptyPages(_ screen: Chrome.Screen) async throws {
        try await TestServer.run { server in
            try await Chrome.run(screen) { chrome in
                try await chrome.go(server.address("/"))
                try await look(chrome, "first", screen)
                try await chrome.type("ann", into: "#new-name")
                try await chrome.type("short", into: "#new-password")
                try await chrome.click("button.main")
                try await chrome.waitFor("Use at least 15 characters")
                try await look(chrome, "sign-up-problem", screen)
                try await chrome.type(password, into: "#new-password")
                try await chrome.click("button.main")
                try await chrome.waitFor("No household yet")
                try await look(chrome, "no-household", screen)
                try await chrome.click("button.main")
                try await chrome.waitFor("Nothing here yet")
                try await look(chrome, "empty-list", screen)
            }
        }
    }

    private func look(_ chrome: Chrome, _ page: String, _ screen: Chrome.Screen) async throws {
        let faults = try await chrome.faults("cloud-\(page)-\(screen)")
        #expect(faults == [])
    }

    /// What the app's README shows: `make pictures-web` takes these.
    @Test func picturesForTheReadme() async throws {
        let fill: @MainActor @Sendable (App) async throws -> Void = { try await Demo.fill($0) }
        try await TestServer.run(fill) { server in
            for (screen, account, name) in [
                (Chrome.Screen.phone, "ann", "cloud-prepare"), (Chrome.Screen(isDark: true), "eve", "cloud-viewer"),
            ] {
                try await Chrome.run(screen) { chrome in
                    try await chrome.go(server.address("/sign-in"))
                    try await chrome.type(account, into: "#name")
                    try await chrome.type(Demo.password, into: "#password")
                    try await chrome.click("button.main")
                    try await chrome.waitFor("You are signed in as \(account).")
                    try await chrome.go(server.address("/households"))
                    try await chrome.waitFor("Groceries")
                    try await chrome.script(
                        "[...document.querySelectorAll('main li a')].find(a => a.innerText.includes('Groceries')).click()"
                    )
                    try await chrome.waitFor("Coffee")
                    try await chrome.picture(name)
                }
            }
        }
    }
}
