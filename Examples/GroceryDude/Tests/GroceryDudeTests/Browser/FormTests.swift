import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Forms and rows in a real browser.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: Chrome.isAvailable, "\(Chrome.missing)"))
struct FormTests {
    private func button(_ name: String) -> String {
        "[...document.querySelectorAll('#list li button')].find(b => b.textContent === '\(name)')"
    }

    @Test func aFieldWithAProblemIsMarkedAndHasTheFocus() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/items/new"))
                try await chrome.type("Rice", into: "#name")
                try await chrome.script("document.querySelector('#unit').value = 'new'")
                try await chrome.click("button.main")
                try await chrome.waitFor("Type the name of the new unit")
                for field in ["#unit", "[name=new-unit]"] {
                    #expect(
                        try await chrome.script(
                            "return getComputedStyle(document.querySelector(arguments[0])).borderTopWidth", [field])
                            as? String == "2px", "\(field)")
                }
                #expect(try await chrome.script("return document.activeElement.id") as? String == "unit")
                #expect(
                    try await chrome.script(
                        "return document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
                    ) as? String == "Type the name of the new unit, or choose another one.")
            }
        }
    }

    @Test func enterTicksAndTheKeyOOpens() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run(.desk) { chrome in
                try await chrome.go(server.address("/prepare"))
                try await chrome.press(Key.down, Key.enter)
                try await chrome.wait("\(button("Butter")).ariaPressed === 'true'")
                try await chrome.waitFor("Butter is on the list.")
                #expect(try await chrome.number("document.querySelectorAll('#detail').length") == 0)
                try await chrome.press("o")
                try await chrome.wait("document.querySelector('#detail #name')?.value === 'Butter'")
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func theMessageStandsAboveAForm() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/items/1"))
                try await chrome.type(" fresh", into: "#name")
                try await chrome.click("button.main")
                try await chrome.waitFor("Milk fresh is saved.")
                try await chrome.script("scrollTo(0, 0)")
                try await chrome.wait(
                    "document.querySelector('.flash').getBoundingClientRect().bottom <= document.querySelector('h1').getBoundingClientRect().top"
                )
                #expect(try await chrome.faults("saved-360") == [])
            }
        }
    }

    @Test func whatIsTypedSurvivesLeavingThePage() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/items/1"))
                try await chrome.type(" fresh", into: "#name")
                try await chrome.click("#listed")
                try await chrome.click(".back")
                try await chrome.waitFor("Prepare")
                try await chrome.go(server.address("/items/1"))
                try await chrome.waitFor("What you typed before is back, not saved yet.")
                #expect(try await chrome.faults("draft-360") == [])
                try await chrome.wait(
                    "document.querySelector('#name').value === 'Milk fresh' && !document.querySelector('#listed').checked"
                )
                // Other forms have drafts of their own.
                try await chrome.go(server.address("/items/2"))
                try await chrome.wait("document.querySelector('#name').value === 'Butter'")
                // It can be discarded.
                try await chrome.go(server.address("/items/1"))
                try await chrome.click(".draft button")
                try await chrome.wait(
                    "document.querySelector('#name').value === 'Milk' && document.querySelector('#listed').checked")
                try await chrome.go(server.address("/items/1"))
                try await chrome.wait(
                    "document.querySelector('#name').value === 'Milk' && !document.querySelector('.draft')")
                // What was saved or cancelled is no draft.
                for (button, name) in [("button.main", "Milk again"), (".cancel", "Milk again")] {
                    try await chrome.type(" again", into: "#name")
                    try await chrome.click(button)
                    try await chrome.wait("document.querySelector('h1').textContent !== 'Milk'")
                    try await chrome.go(server.address("/items/1"))
                    try await chrome.wait(
                        "document.querySelector('#name').value === '\(name)' && !document.querySelector('.draft')")
                }
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }

    @Test func aDraftDoesNotHideWhatOthersChangedMeanwhile() async throws {
        try await TestServer.run(.small) { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/items/1"))
                try await chrome.type(" fresh", into: "#name")
                try await chrome.go(server.address("/shop"))
                let theirs = ["name": "Oat milk", "was-name": "Milk", "quantity": "1", "was-quantity": "1"]
                #expect(try await server.browser.submit("/items/1", theirs).status == 200)
                try await chrome.go(server.address("/items/1"))
                try await chrome.wait("document.querySelector('#name').value === 'Milk fresh'")
                try await chrome.click("button.main")
                try await chrome.waitFor("Theirs: Oat milk Yours: Milk fresh")
                try await chrome.wait("!document.querySelector('.draft')")
            }
        }
    }

    @Test func deleteAndSwipeInTheShopTakeOffTheList() async throws {
        try await TestServer.run(
            Filling { groceries in
                try groceries.fillSmall()
                _ = try groceries.setListed(true, try #require(groceries.item(try groceries.number(of: "Flour"))))
            }
        ) { server in
            try await Chrome.run { chrome in
                try await chrome.go(server.address("/shop"))
                try await chrome.press(Key.down, Key.delete)
                try await chrome.waitFor("Flour is off the list.")
                try await chrome.wait("!\(button("Flour"))")
                try await chrome.script(
                    """
                    const row = \(button("Milk")).closest('li');
                    const at = (name, x) => {
                        const touch = new Touch({identifier: 1, target: row, clientX: x, clientY: 200});
                        row.dispatchEvent(new TouchEvent(name, {bubbles: true, touches: name === 'touchend' ? [] : [touch]}));
                    };
                    at('touchstart', 300); at('touchmove', 100); at('touchend', 100);
                    """)
                try await chrome.waitFor("Milk is off the list.")
                let groceries = await server.app.groceries
                #expect(await groceries.count("Item") == 3)
                #expect(try await chrome.complaints().isEmpty)
            }
        }
    }
}
