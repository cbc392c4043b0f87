import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Units and locations.
@Suite(.timeLimit(.minutes(2))) struct PlaceTests {
    @Test(arguments: PlaceKind.allCases)
    func addRenameDelete(_ kind: PlaceKind) async throws {
        try await TestServer.run { server in
            let browser = try server.browser
            let path = "/\(kind.rawValue)"
            #expect(try await browser.get(path).words.contains("None yet"))
            #expect(try await browser.submit(path, ["name": " Box "]).words.contains("“Box” is added. Undo"))
            #expect(try await browser.get(path).words.contains("Box 0 items"))
            let number = try await MainActor.run { try server.app.groceries.places(kind)[0].number }
            #expect(try await browser.submit("\(path)/\(number)", ["name": "Crate"]).words.contains("Crate 0 items"))
            #expect(try await browser.submit("\(path)/\(number)/delete").words.contains("“Crate” is deleted. Undo"))
            #expect(try await browser.submit("/undo", ["back": path]).words.contains("Crate 0 items"))
        }
    }

    @Test(arguments: [
        ("", "Type a name."), ("kg", "There is “kg” already."), (" KG", "There is “kg” already."),
        (String(repeating: "x", count: 101), "too long"),
    ])
    func namesAreChecked(_ name: String, _ message: String) async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.post("/units", ["name": name])
            #expect(page.status == 422)
            #expect(page.words.contains(message))
        }
    }

    @Test(arguments: [
        (PlaceKind.unit, "The unit “kg” is used by 1 item: Flour . Move it to another unit first"),
        (
            .home,
            "The home location “Fridge” is used by 2 items: Butter , Milk . Move them to another home location first"
        ),
        (.shop, "The shop location “Baking” is used by 1 item: Flour"),
    ])
    func whatIsInUseIsNotDeleted(_ kind: PlaceKind, _ message: String) async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let place = try await MainActor.run {
                let groceries = server.app.groceries
                let name = [PlaceKind.unit: "kg", .home: "Fridge", .shop: "Baking"][kind] ?? ""
                return try groceries.place(kind, named: name)?.number ?? 0
            }
            let page = try await browser.post("/\(kind.rawValue)/\(place)/delete")
            #expect(page.status == 409)
            #expect(page.words.contains(message), "\(page.words)")
            let item = try #require(page.text.firstMatch(of: /role=alert><p>.*?<a href=(\/items\/\d+)>/)).output.1
            #expect(try await browser.get(String(item)).status == 200)
            #expect(try await browser.get("/\(kind.rawValue)/\(place)").status == 200)
        }
    }

    @Test func aNameInOtherCapitalsIsTheOneThatThereIs() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let form = [
                "name": "Sugar", "quantity": "2", "unit": "new", "new-unit": "KG", "home": "new", "new-home": "fridge",
            ]
            #expect(try await browser.submit("/items", form).words.contains("Sugar is added."))
            #expect(try await browser.get("/prepare").words.contains("Fridge 3 Butter Dairy Milk Dairy Sugar 2 kg"))
            // Its own name can be spelled anew.
            let kg = try await MainActor.run { try server.app.groceries.place(.unit, named: "Kg")?.number ?? 0 }
            #expect(try await browser.submit("/units/\(kg)", ["name": "KG"]).words.contains("KG 2 items"))
        }
    }

    @Test func aPlaceSaysThatItHasMoreAndLeadsToTheRest() async throws {
        let most = await App.mostItems
        try await TestServer.run(
            Filling { groceries in
                try groceries.perform("Fill") {
                    let home = try groceries.findOrMakePlace(.home, named: "Cellar") as? LocationAtHome
                    for number in 0..<most + 3 {
                        try groceries.makeItem(named: "Bottle \(number)").locationAtHome = home
                    }
                }
            }
        ) { server in
            let browser = try server.browser
            let cellar = try await MainActor.run { try server.app.groceries.place(.home, named: "Cellar")?.number ?? 0 }
            let page = try await browser.get("/home-locations/\(cellar)")
            #expect(page.words.contains("The first \(most) of \(most + 3). Show all \(most + 3) items"))
            #expect(page.text.matches(of: /<li>/).count == most)
            let all = try await browser.get("/home-locations/\(cellar)?all")
            #expect(!all.words.contains("The first"))
            #expect(all.text.matches(of: /<li>/).count == most + 3)
        }
    }

    @Test func aNewNameShowsWhereItIsUsed() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let fridge = try await MainActor.run { try server.app.groceries.place(.home, named: "Fridge")?.number ?? 0 }
            #expect(try await browser.submit("/home-locations/\(fridge)", ["name": "Larder"]).status == 200)
            #expect(try await browser.get("/prepare").words.contains("Larder 2 Butter"))
            #expect(try await browser.get("/shop").words.contains("Milk Larder"))
        }
    }
}
