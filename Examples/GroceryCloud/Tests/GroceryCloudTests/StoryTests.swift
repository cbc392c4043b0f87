import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryCloud

/// From the first visit to a shopping list, without JavaScript.
@Suite(.timeLimit(.minutes(2))) struct StoryTests {
    @Test func fromTheFirstVisitToTheFirstItem() async throws {
        try await TestServer.run { server in
            let browser = try server.browser
            // The first visitor is told what to do.
            #expect(try await browser.get("/").header("Location") == "/sign-in")
            #expect(try await browser.get("/sign-in").header("Location") == "/sign-up")
            let welcome = try await browser.get("/sign-up")
            #expect(
                welcome.words.contains("The first account") && welcome.words.contains("it administers this service"))
            let short = try await browser.submit("/sign-up", ["name": "ann", "password": "short"])
            #expect(short.status == 422 && short.words.contains("Use at least 15 characters"))
            let signedUp = try await browser.submit("/sign-up", ["name": "ann", "password": password])
            #expect(signedUp.status == 303 && signedUp.header("Location") == "/households")
            let ann = Shopper(browser: browser, id: UUID(), name: "ann")
            let households = try await ann.get("/households")
            #expect(households.words.contains("No household yet"))
            #expect(try await ann.get("/account").words.contains("This account administers the service"))

            let list = try TestHousehold.listID(of: try await ann.post("/households", ["name": "Home"])).path
            let empty = try await ann.get("/lists/\(list)/prepare")
            #expect(empty.words.contains("Nothing here yet"))
            #expect(empty.words.contains("Home has its first list."))
            let added = try await ann.submit(
                "/lists/\(list)/items",
                [
                    "name": "Milk", "quantity": "2", "listed": "1", "unit": "new", "new-unit": "L", "home": "new",
                    "new-home": "Fridge", "shop": "new", "new-shop": "Dairy",
                ])
            #expect(added.words.contains("Milk is added."))
            #expect(try await ann.get("/lists/\(list)/prepare").words.contains("Fridge 1 Milk 2 L · Dairy"))
            #expect(try await ann.get("/lists/\(list)/shop").words.contains("0 of 1 Dairy 1 Milk 2 L · Fridge"))
            #expect(try await ann.get("/").header("Location") == "/lists/\(list)/prepare")
        }
    }

    @Test func ticksSearchesDeletionsAndUndo() async throws {
        try await TestHousehold.run { household in
            let (ann, prepare, shop) = (household.ann, household.prepare, household.shop)
            let (milk, flour) = (try await household.item("Milk"), try await household.item("Flour"))
            #expect(try await ann.submit(prepare, ["on": flour]).words.contains("Flour is on the list. Undo"))
            #expect(try await ann.submit(shop, ["on": milk]).words.contains("1 of 2"))
            #expect(try await ann.submit("\(shop)/clear").words.contains("1 item taken off the list."))
            #expect(try await ann.submit("/undo", ["back": shop]).words.contains("Undone: Clear what is collected."))
            #expect(try await ann.get("\(prepare)?q=flo").words.contains("Found 1 item Flour"))
            let quick = try await ann.submit(
                "/lists/\(household.list.path)/items/quick", ["add": "Tea", "back": prepare])
            #expect(quick.words.contains("Tea is on the list."))
            #expect(
                try await ann.submit("/items/\(flour)/delete", ["back": prepare]).words.contains("Flour is deleted."))
            #expect(try await ann.get("/items/\(flour)").status == 404)
            #expect(try await ann.submit("/undo", ["back": prepare]).words.contains("Undone: Delete Flour."))
            #expect(try await ann.get("/items/\(flour)").words.contains("Flour"))
            // Only the browser that has done it undoes it, and only in its own account.
            #expect(
                try await household.bob.submit("/undo", ["back": prepare]).words.contains("There is nothing to undo."))
        }
    }

    @Test func unitsAreRenamedAndKeptWhileTheyAreUsed() async throws {
        try await TestHousehold.run { household in
            let (ann, unit) = (household.ann, try await household.place(.unit))
            let denied = try await ann.submit("/units/\(unit)/delete")
            #expect(denied.status == 409 && denied.words.contains("is used by 1 item: "))
            #expect(try await ann.submit("/units/\(unit)", ["name": "pack"]).words.contains("It is called “pack” now."))
            let taken = try await ann.submit("\(household.homePath)/units", ["name": "PACK"])
            #expect(taken.status == 422 && taken.words.contains("There is “pack” already."))
            let added = try await ann.submit("\(household.homePath)/units", ["name": "crate"])
            #expect(added.words.contains("crate 0 items"))
        }
    }

    @Test func aHouseholdHasSeveralLists() async throws {
        try await TestHousehold.run { household in
            let ann = household.ann
            let garden = try TestHousehold.listID(
                of: try await ann.post("\(household.homePath)/lists", ["name": "Garden"])
            ).path
            _ = try await ann.post("/lists/\(garden)/items", ["name": "Seeds", "quantity": "1", "listed": "1"])
            #expect(try await ann.get("/lists/\(garden)/prepare").words.contains("Seeds"))
            #expect(try await !ann.get(household.prepare).words.contains("Seeds"))
            #expect(try await household.bob.get("/households").words.contains("Garden"))
            #expect(
                try await ann.submit("/lists/\(garden)/name", ["name": "Balcony"]).words.contains(
                    "The list is called Balcony now."))
            #expect(
                try await ann.submit("/lists/\(garden)/deletion").words.contains("The list Balcony is deleted."))
            #expect(try await ann.get("/lists/\(garden)/prepare").status == 404)
        }
    }

    @Test func whoDidWhatIsTold() async throws {
        try await TestHousehold.run { household in
            let bob = household.bob
            let (milk, flour) = (try await household.item("Milk"), try await household.item("Flour"))
            _ = try await bob.post(household.shop, ["on": milk])
            _ = try await bob.post("/items/\(flour)/delete")
            let page = try await household.eve.get("\(household.homePath)/history")
            #expect(page.words.contains("bob deleted Flour"))
            #expect(page.words.contains("bob ticked Milk"))
            #expect(page.words.contains("ann added Milk"))
            #expect(page.words.contains("ann added the list Groceries"))
            #expect(try await household.mallory.get("\(household.homePath)/history").status == 404)
        }
    }
}
