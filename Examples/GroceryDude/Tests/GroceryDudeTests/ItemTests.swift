import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// The item editor.
@Suite(.timeLimit(.minutes(2))) struct ItemTests {
    /// The fields of the editor's form as a page shows them.
    private func fields(of page: Answer) -> [String: String] {
        var fields: [String: String] = [:]
        for match in page.text.matches(of: /<input (?:id=\w+ )?(?:type=(\w+) )?name="?([\w-]+)"? value="([^"]*)"/)
        where match.output.1 != "checkbox" { fields[String(match.output.2)] = String(match.output.3) }
        for match in page.text.matches(of: /<select id="(\w+)".*?<\/select>/.dotMatchesNewlines()) {
            fields[String(match.output.1)] =
                match.output.0.firstMatch(of: /value="?(\w*)"? selected/).map { String($0.output.1) } ?? ""
        }
        if page.text.contains("name=listed value=1 checked") { fields["listed"] = "1" }
        return fields
    }

    @Test func aNewItemGetsWhatWasTyped() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            var form = fields(of: try await browser.get("/items/new?name=Oats"))
            #expect(form["name"] == "Oats")
            #expect(form["listed"] == "1")
            form["quantity"] = "1,5"
            form["unit"] = "new"
            form["new-unit"] = " bag "
            form["home"] = "new"
            form["new-home"] = "Pantry"
            let page = try await browser.submit("/items", form)
            #expect(page.words.contains("Oats is added. Undo"))
            let list = try await browser.get("/prepare")
            // The unit is new, the location was there.
            #expect(list.words.contains("Pantry 2 Flour 1 kg · Baking Oats 1.5 bag"))
            #expect(try await browser.get("/units").words.contains("bag 1 item"))
        }
    }

    @Test(arguments: [
        ("name", "  ", "Type a name."), ("quantity", "lots", "Type a number from 0 to 1000000"),
        ("quantity", "-1", "Type a number"), ("quantity", "1e9", "Type a number"), ("quantity", "nan", "Type a number"),
        ("unit", "new", "Type the name of the new unit"),
    ])
    func whatIsWrongStandsBesideTheField(_ field: String, _ value: String, _ message: String) async throws {
        try await TestServer.run { server in
            let browser = try server.browser
            var form = ["name": "Oats", "quantity": "2", "listed": "1"]
            form[field] = value
            let page = try await browser.post("/items", form)
            #expect(page.status == 422)
            #expect(page.words.contains(message))
            #expect(page.text.contains("aria-describedby=\"\(field)-problem\""))
            if field != "name" { #expect(page.text.contains("value=\"Oats\"")) }
        }
    }

    @Test func bothChangedIsShownAndOneTapTakesTheirs() async throws {
        try await TestServer.run(.small) { server in
            let (mine, theirs) = (try server.browser, try server.browser)
            let path = "/items/\(try await server.app.groceries.number(of: "Milk"))"
            var form = fields(of: try await mine.get(path))
            var other = fields(of: try await theirs.get(path))
            other["name"] = "Oat milk"
            other["quantity"] = "3"
            #expect(try await theirs.submit(path, other).words.contains("Oat milk is saved."))
            form["name"] = "Soy milk"
            let conflict = try await mine.post(path, form)
            #expect(conflict.status == 409)
            #expect(conflict.words.contains("Theirs: Oat milk Yours: Soy milk Take theirs"))
            // What only they changed is no conflict.
            #expect(!conflict.words.contains("Theirs: 3"))
            var taking = fields(of: conflict)
            #expect(taking["name"] == "Soy milk")
            taking["take"] = "name"
            #expect(try await mine.submit(path, taking).status == 200)
            let item = fields(of: try await mine.get(path))
            #expect(item["name"] == "Oat milk")
            #expect(item["quantity"] == "3")
        }
    }

    @Test func savingAgainKeepsMine() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/items/\(try await server.app.groceries.number(of: "Milk"))"
            var form = fields(of: try await browser.get(path))
            let unit = try await MainActor.run { try server.app.groceries.places(.unit).map { String($0.number) } }
            try await MainActor.run {
                let groceries = server.app.groceries
                let item = try #require(groceries.item(try groceries.number(of: "Milk")))
                var theirs = ItemForm(item)
                theirs.fields.values[.name] = "Oat milk"
                theirs.fields.values[.unit] = unit[0]
                _ = try groceries.update(item, theirs)
            }
            form["name"] = "Soy milk"
            let conflict = try await browser.post(path, form)
            #expect(conflict.status == 409)
            let saved = try await browser.submit(path, fields(of: conflict))
            #expect(saved.words.contains("Soy milk is saved."))
            // What I did not touch is theirs.
            #expect(fields(of: saved)["unit"] == unit[0])
        }
    }

    @Test func aDeletedObjectCanBeMadeAnew() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/items/\(try await server.app.groceries.number(of: "Milk"))"
            var form = fields(of: try await browser.get(path))
            #expect(try await server.browser.submit("\(path)/delete").words.contains("Milk is deleted. Undo"))
            form["quantity"] = "4"
            let page = try await browser.post(path, form)
            #expect(page.status == 410)
            #expect(page.words.contains("Save to make it anew"))
            let again = try await browser.submit("/items", fields(of: page))
            #expect(again.words.contains("Milk is added."))
            #expect(fields(of: again)["quantity"] == "4")
        }
    }

    @Test func anItemThatWasOpenedInTheShopLeadsBackThere() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/items/\(try await server.app.groceries.number(of: "Milk"))"
            #expect(try await browser.get("/shop").text.contains("<a href=\"\(path)?from=shop\">"))
            let page = try await browser.get("\(path)?from=shop")
            #expect(page.text.contains("<a class=back href=\"/shop\" aria-label=\"Back to Shop\">"))
            let form = fields(of: page).merging(["quantity": "2"]) { $1 }
            let saved = try await browser.submit("\(path)?from=shop", form)
            #expect(saved.words.contains("Milk is saved."))
            #expect(saved.text.contains("aria-label=\"Back to Shop\""))
            #expect(try await browser.post("\(path)/delete?from=shop").header("Location") == "/shop")
            // From Prepare it leads back to Prepare, and so it does from anywhere else.
            #expect(try await browser.submit("/undo").status == 200)
            for address in [path, "\(path)?from=https://evil.example"] {
                #expect(try await browser.get(address).text.contains("aria-label=\"Back to Prepare\""))
            }
        }
    }

    @Test func aDeletionCanBeUndone() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let path = "/items/\(try await server.app.groceries.number(of: "Milk"))"
            #expect(try await browser.submit("\(path)/delete").status == 200)
            #expect(try await browser.get(path).status == 404)
            let page = try await browser.submit("/undo")
            #expect(page.words.contains("Undone: Delete Milk."))
            #expect(page.words.contains("Fridge 2 Butter Dairy Milk Dairy"))
            #expect(try await browser.get(path).status == 200)
        }
    }
}
