import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// Stories in a real browser.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct BrowserTests {
    private func signIn(_ chrome: Chrome, _ name: String, _ server: TestServer) async throws {
        try await chrome.go(server.address("/sign-in"))
        try await chrome.type(name, into: "#name")
        try await chrome.type(password, into: "#password")
        try await chrome.click("button.main")
        try await chrome.waitFor("You are signed in as \(name).")
    }

    private func button(_ name: String) -> String {
        "[...document.querySelectorAll('#list li button')].find(b => b.textContent === '\(name)')"
    }

    @Test func twoPeopleSeeEachOtherWithinASecond() async throws {
        try await TestHousehold.run { household in
            let server = household.server
            try await Chrome.run { mine in
                try await Chrome.run { other in
                    try await signIn(mine, "ann", server)
                    try await signIn(other, "bob", server)
                    try await mine.go(server.address(household.prepare))
                    try await other.go(server.address(household.shop))
                    try await other.wait("document.querySelector('#badge-shop').textContent === '1'")
                    try await other.wait("document.querySelector('#offline').hidden")
                    // How long it takes is measured in the other page, by its own clock.
                    try await other.script(
                        """
                        new MutationObserver(() => { if (document.querySelector('#list').innerText.includes('Flour')) window.seen ??= Date.now(); })
                            .observe(document.querySelector('#list'), { childList: true, subtree: true });
                        """)
                    let sent = try await mine.number("Date.now()")
                    try await mine.script("\(button("Flour")).click()")
                    try await other.wait("window.seen")
                    #expect(try await other.number("window.seen") - sent < 1000)
                    try await other.wait("document.title.startsWith('(2) ')")
                    // Collected by one, it is struck through for the other.
                    try await other.script("\(button("Flour")).click()")
                    try await mine.wait("\(button("Flour")).closest('li').className === 'c'")
                    #expect(try await mine.complaints().isEmpty)
                    #expect(try await other.complaints().isEmpty)
                }
            }
        }
    }

    @Test func aMemberWhoIsRemovedSeesTheListNoLonger() async throws {
        try await TestHousehold.run { household in
            try await Chrome.run { chrome in
                try await signIn(chrome, "eve", household.server)
                try await chrome.go(household.server.address(household.prepare))
                try await chrome.waitFor("Milk")
                try await chrome.wait("document.querySelector('#offline').hidden")
                #expect(try await chrome.number("document.querySelectorAll('main button:not(.sr)').length") == 0)
                _ = try await household.ann.post(
                    "\(household.homePath)/members", ["member": household.eve.id.path, "remove": "1"])
                try await chrome.waitFor("There is no such list")
                #expect(try await !chrome.text("body").contains("Milk"))
            }
        }
    }

    @Test func anInvitationIsOpenedFromItsLink() async throws {
        try await TestHousehold.run { household in
            let code = try await TestHousehold.invite(.editor, household.server, household.home, household.ann)
            try await Chrome.run { chrome in
                try await chrome.go(household.server.address("/join#\(code)"))
                try await chrome.wait("document.querySelector('#code').value === '\(code)' && !location.hash")
                try await chrome.click("button.main")
                try await chrome.waitFor("You are invited to this household as editor")
                try await chrome.type("zoe", into: "#new-name")
                try await chrome.type(password, into: "#new-password")
                try await chrome.click("section button.main")
                try await chrome.waitFor("Groceries")
                try await chrome.waitFor("Milk")
            }
        }
    }

    @Test func withoutJavaScriptEveryStepIsAForm() async throws {
        try await TestServer.run { server in
            try await Chrome.run(Chrome.Screen(hasScript: false)) { chrome in
                try await chrome.go(server.address("/"))
                try await chrome.type("ann", into: "#new-name")
                try await chrome.type(password, into: "#new-password")
                try await chrome.click("button.main")
                try await chrome.click("button.main")
                try await chrome.click(".empty a.main")
                try await chrome.type("Milk", into: "#name")
                try await chrome.click("button.main")
                #expect(try await chrome.text("#flash").contains("Milk is added."))
                try await chrome.click("nav a[href$=prepare]")
                try await chrome.click("#list li button")
                #expect(try await chrome.text("#flash").contains("Milk is off the list."))
                try await chrome.click("#flash button")
                #expect(try await chrome.text("#flash").contains("Undone: Take Milk off the list."))
            }
        }
    }
}
