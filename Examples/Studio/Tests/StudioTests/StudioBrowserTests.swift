import CoreData
import Foundation
import LivePagesTesting
import Testing

@testable import coredata_studio

/// Stories in a real browser, each on a store of its own.
@Suite(.serialized, .timeLimit(.minutes(3)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct StudioBrowserTests {
    @Test func aUserFindsAnObjectAndFollowsItsRelationships() async throws {
        try await RunningStudio.run { studio in
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(studio.address)
                try await chrome.waitFor("Entities")
                try await chrome.click("main a[href='/store/rows/Item']")
                try await chrome.waitFor("120 objects")
                try await chrome.press("/")
                try await chrome.type("na", into: "#where")
                try await chrome.wait("document.querySelector('.suggestions:not([hidden]) li')")
                try await chrome.press(Key.down, Key.enter)
                try await chrome.type("== 'item 007'", into: "#where")
                try await chrome.press(Key.enter)
                try await chrome.waitFor("1 object")
                try await chrome.click("tbody .chip")
                try await chrome.waitFor("Close")
                #expect(try await chrome.text("#beside").contains("litre"))
                try await chrome.press(Key.escape)
                try await chrome.wait("document.querySelector('#beside').hidden")
                #expect(try await chrome.complaints() == [])
            }
        }
    }

    @Test func pagesWorkWithoutScript() async throws {
        try await RunningStudio.run { studio in
            try await Chrome.run(Chrome.Screen(hasScript: false)) { chrome in
                try await chrome.go(studio.address)
                try await chrome.click("main a[href='/store/rows/Item']")
                try await chrome.click("a[rel=next]")
                try await chrome.click("a[rel=next]")
                try await chrome.click("a[rel=prev]")
                try await chrome.type("count < 3", into: "#where")
                try await chrome.click("form.predicate button")
                #expect(try await chrome.text("main").contains("3 objects"))
            }
        }
    }

    @Test func aChangeIsValidatedSavedAndUndone() async throws {
        try await RunningStudio.run(["--write"]) { studio in
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(studio.address)
                try await chrome.go(studio.page("/store/edit/Item/p1"))
                try await chrome.script("document.getElementById('value-count').value = 'many'")
                try await chrome.click("button.main")
                try await chrome.waitFor("'many' is not a whole number")
                try await chrome.script("document.getElementById('value-count').value = '77'")
                try await chrome.click("button.main")
                try await chrome.waitFor("Saved Item/p1")
                #expect(try await chrome.text("main").contains("77"))
                try await chrome.click("form[action='/store/undo'] button")
                try await chrome.waitFor("Undone: Edit Item/p1")
            }
        }
    }

    @Test(arguments: Chrome.Screen.some)
    func everyPageFitsAndIsAccessible(_ screen: Chrome.Screen) async throws {
        try await RunningStudio.run(["--write"]) { studio in
            try await Chrome.run(screen) { chrome in
                try await chrome.go(studio.address)
                for path in [
                    "/store", "/store/rows/Item", "/store/rows/Item?where=nme", "/store/object/Item/p1",
                    "/store/object/Unit/p1", "/store/statistics/Item", "/store/facets/Item?column=price",
                    "/store/plan/Item", "/store/verify", "/store/compare", "/store/history", "/store/edit/Item/p1",
                    "/store/new/Item", "/store/delete/Unit/p1", "/model", "/nothing",
                ] {
                    try await chrome.go(studio.page(path))
                    let name = "studio\(path.replacing("/", with: "-").prefix { $0 != "?" })-\(screen)"
                    let faults = try await chrome.studioFaults(name)
                    #expect(faults == [], "\(path)")
                }
            }
        }
    }
}
