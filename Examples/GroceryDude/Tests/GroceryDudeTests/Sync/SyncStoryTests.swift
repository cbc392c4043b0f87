import CoreDataSync
import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// What people on two devices see.
@Suite(.timeLimit(.minutes(2))) struct SyncStoryTests {
    @Test func defaultDataOfBothStaysSingle() async throws {
        try await SyncedServers.run(.none, .none) { servers in
            for server in [servers.kitchen, servers.phone] { _ = try await server.app.groceries.importDefaultData() }
            let before = try await servers.kitchen.items()
            try await servers.kitchen.join(servers.folder, "Kitchen")
            try await servers.phone.join(servers.folder, "Phone", .merge)
            try await servers.settle()
            for server in [servers.kitchen, servers.phone] {
                #expect(try await server.items() == before)
                let units = try await MainActor.run { try server.app.groceries.places(.unit).map { $0.number } }
                #expect(await server.app.groceries.count("Unit") == units.count)
                #expect(try await !server.browser.get("/sync").words.contains("Conflicts"))
            }
            #expect(await servers.kitchen.app.groceries.count("Unit") == servers.phone.app.groceries.count("Unit"))
            // One who imports them later adds nothing either.
            _ = try await servers.phone.app.groceries.importDefaultData()
            try await servers.settle()
            #expect(try await servers.kitchen.items() == before)
        }
    }

    @Test func twoWhoAddMilkHaveOneMilk() async throws {
        try await SyncedServers.joined(.none) { servers in
            try await servers.apart {
                for (server, unit) in [(servers.kitchen, "bottle"), (servers.phone, "bottle")] {
                    let fields = ["name": "Milk", "quantity": "1", "unit": "new", "new-unit": unit, "listed": "1"]
                    _ = try await server.browser.submit("/items", fields)
                }
            }
            #expect(try await servers.kitchen.items() == ["Milk: 1 bottle, , , listed"])
            #expect(try await servers.phone.items() == ["Milk: 1 bottle, , , listed"])
            #expect(await servers.kitchen.app.groceries.count("Unit") == 1)
            // Who adds a second one on purpose has two, on all devices.
            _ = try await servers.phone.browser.submit("/items", ["name": "Milk", "quantity": "2"])
            try await servers.settle()
            #expect(try await servers.kitchen.items().count == 2)
            #expect(try await servers.kitchen.items() == servers.phone.items())
        }
    }

    @Test func aValueThatLostIsBroughtBack() async throws {
        try await SyncedServers.joined { servers in
            try await servers.apart {
                try await servers.kitchen.setQuantity("Milk", 2)
                try await servers.phone.setQuantity("Milk", 3)
            }
            let page = try await servers.kitchen.browser.get("/sync")
            let present = try #require(
                page.words.firstMatch(of: /Milk Quantity: it is (\d) ?\. (\w+) had made it (\d) ?without/))
            #expect(Set([present.output.1, present.output.3]) == ["2", "3"])
            #expect(present.output.2 == (present.output.3 == "2" ? "Kitchen" : "Phone"))
            #expect(page.text.contains("id=\"badge-sync\" data-part aria-label=\"1 conflict\""))
            let id = try #require(page.text.firstMatch(of: /name=id value="([0-9A-F-]+)"/)).output.1
            let answer = try await servers.kitchen.browser.submit("/sync/restore", ["id": String(id)])
            #expect(answer.words.contains("It is brought back, on all devices."))
            #expect(!answer.words.contains("Conflicts"), "\(answer.words)")
            try await servers.settle()
            for server in [servers.kitchen, servers.phone] {
                #expect(try await server.items().contains("Milk: \(present.output.3), Fridge, Dairy, listed"))
            }
            let again = try await servers.kitchen.browser.submit("/sync/restore", ["id": String(id)])
            #expect(again.words.contains("This conflict is decided already."))
        }
    }

    @Test func aConflictIsDismissed() async throws {
        try await SyncedServers.joined { servers in
            try await servers.apart {
                try await servers.kitchen.setQuantity("Milk", 2)
                try await servers.phone.setQuantity("Milk", 3)
            }
            let before = try await servers.kitchen.items()
            let page = try await servers.kitchen.browser.get("/sync").text
            let id = try #require(page.firstMatch(of: /name=id value="([0-9A-F-]+)"/)).output.1
            let answer = try await servers.kitchen.browser.submit("/sync/dismiss", ["id": String(id)])
            #expect(answer.words.contains("It stays as it is."))
            #expect(!answer.words.contains("Conflicts"))
            #expect(try await servers.kitchen.items() == before)
            // The other device decides for itself.
            #expect(try await servers.phone.browser.get("/sync").words.contains("Conflicts 1"))
        }
    }

    @Test func twoWhoWriteTheSameHaveNothingToDecide() async throws {
        try await SyncedServers.joined { servers in
            let (kitchen, phone) = (servers.kitchen, servers.phone)
            try await servers.apart {
                for server in [kitchen, phone] { try await server.setQuantity("Milk", 2) }
                try await kitchen.setQuantity("Flour", 3)
                try await phone.setQuantity("Flour", 4)
            }
            for server in [kitchen, phone] {
                #expect(try await server.browser.get("/sync").words.contains("Conflicts 1 Flour"))
            }
            // Who writes what lost decides it, too.
            let lost: Float = try await kitchen.items().contains { $0.hasPrefix("Flour: 3 ") } ? 4 : 3
            try await kitchen.setQuantity("Flour", lost)
            #expect(try await !kitchen.browser.get("/sync").words.contains("Conflicts"))
        }
    }

    @Test func whatOneDeletesAndAnotherEditsIsBroughtBack() async throws {
        try await SyncedServers.joined { servers in
            try await servers.apart {
                let number = try await servers.kitchen.app.groceries.number(of: "Flour")
                _ = try await servers.kitchen.browser.submit("/items/\(number)/delete")
                try await servers.phone.setQuantity("Flour", 3)
            }
            #expect(try await servers.phone.items().count == 2)
            let page = try await servers.phone.browser.get("/sync")
            #expect(
                page.words.contains("Conflicts 1 Flour It was deleted on another device while it was changed here."),
                "\(page.words)")
            #expect(page.words.contains("Quantity: 3"), "\(page.words)")
            let id = try #require(page.text.firstMatch(of: /name=id value="([0-9A-F-]+)"/)).output.1
            let answer = try await servers.phone.browser.submit("/sync/restore", ["id": String(id)])
            #expect(!answer.words.contains("Conflicts"), "\(answer.words)")
            try await servers.settle()
            #expect(try await servers.kitchen.items().contains("Flour: 3 kg, Pantry, Baking"))
            #expect(try await servers.kitchen.items() == servers.phone.items())
        }
    }

    @Test func duplicatesThatBothMergeLeaveOne() async throws {
        let filling = Filling { groceries in
            try groceries.perform("Fill") {
                for (name, item) in [("kg", "Flour"), ("Kg", "Rice"), (" kg ", "Salt")] {
                    try groceries.makeItem(named: item).unit = try groceries.makeUnit(name)
                }
                for name in ["Milk", "milk"] { _ = try groceries.makeItem(named: name) }
            }
        }
        // The other device made them in another order.
        let reversed = Filling { groceries in
            try groceries.perform("Fill") {
                for name in ["milk", "Milk"] { _ = try groceries.makeItem(named: name) }
                for (name, item) in [(" kg ", "Salt"), ("Kg", "Rice"), ("kg", "Flour")] {
                    try groceries.makeItem(named: item).unit = try groceries.makeUnit(name)
                }
            }
        }
        try await SyncedServers.run(filling, reversed) { servers in
            try await servers.kitchen.join(servers.folder, "Kitchen")
            try await servers.phone.join(servers.folder, "Phone", .merge)
            try await servers.settle()
            try await servers.apart { () async throws in
                for server in [servers.kitchen, servers.phone] {
                    #expect(try await server.browser.submit("/settings/duplicates").words.contains("merged."))
                }
            }
            for server in [servers.kitchen, servers.phone] {
                #expect(await server.app.groceries.count("Unit") == 1)
                #expect(await server.app.groceries.count("Item", "unit != nil") == 3)
                #expect(await server.app.groceries.count("Item", "name ==[c] 'milk'") == 1)
            }
        }
    }

    @Test(.enabled(if: Pictures.scaler != nil)) func picturesOfBothLoseAndComeBackTogether() async throws {
        try await SyncedServers.joined { servers in
            let pictures = [TestPicture.png(width: 300, height: 200), TestPicture.png(width: 40, height: 60)]
            try await servers.apart {
                for (server, picture) in zip([servers.kitchen, servers.phone], pictures) {
                    let number = try await server.app.groceries.number(of: "Milk")
                    let answer = try await server.browser.upload(
                        "/items/\(number)/photo", field: "photo", file: picture)
                    #expect(answer.status == 303)
                }
            }
            func shown(_ server: TestServer) async throws -> (large: Data, small: Data) {
                let number = try await server.app.groceries.number(of: "Milk")
                return (
                    try await server.browser.get("/items/\(number)/photo").body,
                    try await server.browser.get("/items/\(number)/thumbnail").body
                )
            }
            let (here, there) = (try await shown(servers.kitchen), try await shown(servers.phone))
            #expect(here == there)
            #expect(pictures.contains(here.large))
            let page = try await servers.kitchen.browser.get("/sync")
            #expect(page.words.contains("Conflicts 1 Milk Picture"), "\(page.words)")
            let id = try #require(page.text.firstMatch(of: /name=id value="([0-9A-F-]+)"/)).output.1
            _ = try await servers.kitchen.browser.submit("/sync/restore", ["id": String(id)])
            try await servers.settle()
            let after = try await shown(servers.kitchen)
            #expect(after.large != here.large && pictures.contains(after.large))
            #expect(after.small != here.small)
            #expect(try await shown(servers.phone) == after)
        }
    }

    @Test func aBackupIsRestoredWhileTheListSynchronises() async throws {
        try await SyncedServers.joined { servers in
            let browser = try servers.kitchen.browser
            _ = try await browser.submit("/backups")
            _ = try await browser.submit("/items", ["name": "Later", "quantity": "1"])
            try await servers.settle()
            let name = try #require(try await Groceries.backupFolder(of: servers.kitchen.store).list().first?.name)
            let question = try await browser.get("/backups/restore?name=\(name.percentEncoded)").words
            #expect(
                question.contains("The list synchronises: what other devices have changed since comes back."),
                "\(question)")
            #expect(try await browser.submit("/backups/restore", ["name": name]).words.contains("is restored."))
            try await Polling.wait(for: "what the phone has") {
                try await browser.get("/prepare").words.contains("Later")
            }
            try await Polling.wait(for: "the exchange") {
                try await browser.get("/sync").words.contains("Up to date")
            }
        }
    }
}

extension Groceries {
    /// A unit of that very name.
    fileprivate func makeUnit(_ name: String) throws -> GroceryDude.Unit {
        let unit = GroceryDude.Unit(context: view)
        unit.name = name
        try view.obtainPermanentIDs(for: [unit])
        return unit
    }
}
