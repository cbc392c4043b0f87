import Foundation
import Testing

@testable import GroceryDude

/// Every page at two widths, in light and dark: fits, is accessible, and is kept as a picture.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct LookTests {
    private static let pages = [
        "/prepare", "/prepare?q=milk", "/prepare/clear", "/shop", "/items/new", "/items/1", "/units", "/units/1",
        "/home-locations", "/shop-locations", "/more", "/settings", "/settings/sql", "/backups", "/nothing",
    ]

    /// axe-core as a package of PyPI brings it; `make test-web` puts it there.
    private static let axe: String? = {
        let folder = Chrome.pictures.deletingLastPathComponent().appendingPathComponent("axe")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let file = files?.compactMap { $0 as? URL }.first { $0.lastPathComponent == "axe.min.js" }
        return file.flatMap { try? String(contentsOf: $0, encoding: .utf8) }
    }()

    @Test(arguments: Chrome.Screen.all)
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

    @Test(arguments: [Chrome.Screen.phone, Chrome.Screen(width: 1280, height: 800, isDark: true)])
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
        guard Thumbnails.program != nil else { return }
        for item in 1...3 {
            let picture = TestPicture.png(width: 60 + 30 * item, height: 90)
            #expect(
                try await server.browser.upload("/items/\(item)/photo", field: "photo", file: picture).status == 303)
        }
    }

    /// Takes a picture, and finds what does not fit, is too small to tap, or what axe-core and the browser complain of.
    private func look(_ chrome: Chrome, _ page: String, _ screen: Chrome.Screen) async throws {
        let name = "\(page)-\(screen)"
        try await chrome.picture(name)
        let overflow = try await chrome.number("document.documentElement.scrollWidth - innerWidth")
        #expect(overflow <= 0, "\(name) is \(overflow) px too wide")
        let small = try await chrome.script(Self.smallTargets) as? [String] ?? []
        #expect(small.isEmpty, "\(name): \(small)")
        if let axe = Self.axe { try await check(chrome, axe, name) }
        // That an answer is no success is told as a complaint, too.
        let complaints = try await chrome.complaints().filter { !$0.contains("Failed to load resource") }
        #expect(complaints.isEmpty, "\(name)")
    }

    /// Buttons and links that are too small to tap; links within text are as large as the text.
    private static let smallTargets = """
        return [...document.querySelectorAll('button, a, input:not([type=hidden]), select')].filter(e => {
            if (e.closest('[hidden], dialog, .skip') || e.closest('p') && e.matches('a:not(.button)') || e.matches('.sr, .skip, [type=checkbox], li > button + a')) return false;
            const box = e.getBoundingClientRect();
            return box.width && (box.width < 44 || box.height < 43.5);
        }).map(e => e.outerHTML.slice(0, 100));
        """

    private func check(_ chrome: Chrome, _ axe: String, _ what: String) async throws {
        // By the protocol, since the page's own policy lets no other script in.
        try await chrome.command("Runtime.evaluate", ["expression": axe])
        let result = try await chrome.command(
            "Runtime.evaluate",
            [
                "awaitPromise": true, "returnByValue": true,
                "expression":
                    "axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html + ' ' + n.failureSummary).join(' | ')))",
            ])
        let value = ((result as? [String: Any])?["result"] as? [String: Any])?["value"] as? [String]
        let violations = try #require(value, "\(result)")
        #expect(violations.isEmpty, "\(what): \(violations.joined(separator: "\n"))")
    }

    @Test(.enabled(if: axe != nil, "axe-core is not there: make test-web installs it"))
    func axeIsThere() { #expect(Self.axe?.contains("axe-core") == true || Self.axe?.contains("axe v") == true) }

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
