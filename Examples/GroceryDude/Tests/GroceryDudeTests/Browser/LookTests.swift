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
            _ = try await server.browser.submit("/backups")
            try await Chrome.run(screen) { chrome in
                for path in Self.pages {
                    try await chrome.go(server.address(path))
                    let name = path == "/prepare?q=milk" ? "search" : path.dropFirst().replacing("/", with: "-")
                    try await chrome.picture("\(name)-\(screen)")
                    let overflow = try await chrome.number("document.documentElement.scrollWidth - innerWidth")
                    #expect(overflow <= 0, "\(path) is \(overflow) px too wide at \(screen)")
                    let small = try await chrome.script(Self.smallTargets) as? [String] ?? []
                    #expect(small.isEmpty, "\(path) at \(screen): \(small)")
                    if let axe = Self.axe { try await check(chrome, axe, "\(path) at \(screen)") }
                    let complaints = try await chrome.complaints().filter { !$0.contains("/nothing - Failed to load") }
                    #expect(complaints.isEmpty, "\(path)")
                }
            }
        }
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
