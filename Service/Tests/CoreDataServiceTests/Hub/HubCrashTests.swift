import CoreData
import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Testing

@testable import CoreDataService

/// The hub's process may die at each step: what devices sent is neither lost nor done twice.
@Suite struct HubCrashTests {
    @Test(arguments: [
        "turn", "received", "noticed", "begun", "saved", "accepted", "served", "copied", "announced",
    ])
    func aKilledTurnIsFinishedByTheNext(_ step: String) async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk", "amount": 1, "note": "cold", "remark": "secret"], to: "Food")
            try kitchen.add("Item", ["name": "Bread"], to: "Food")
            for device in [kitchen, phone] { try await device.exchange() }
            // A conflict, a sum, a text, a new object, a deletion, and a refused value: they wait.
            try phone.set(
                "Item", "Milk", ["name": "Soy milk", "amount": 6, "note": "very\ncold", "remark": "guessed"])
            try phone.add("Item", ["name": "Butter", "amount": 2], to: "Food")
            try phone.delete("Item", "Bread")
            home.kills.kill(at: "turn")
            try await phone.exchange()
            try kitchen.set("Item", "Milk", ["name": "Oat milk", "amount": 3, "note": "cold\nfresh"])
            try await kitchen.exchange()
            home.kills.kill(at: step)
            await #expect(throws: HubHousehold.Killed.self) { try await home.hub.turn(home.id("ben")) }
            #expect(home.kills.hasHappened, "\(step) is a step")
            // The next process.
            try await home.hub.turn(home.id("ben"))
            for _ in 0..<2 { try await phone.exchange() }
            try await kitchen.exchange()
            for device in [kitchen, phone] {
                #expect(try device.names("Item") == ["Butter", "Oat milk"])
                #expect(try device.value("amount", of: "Item", "Oat milk") == 8)
                #expect(try device.value("note", of: "Item", "Oat milk") == "very\ncold\nfresh")
                #expect(try device.value("amount", of: "Item", "Butter") == 2)
            }
            #expect(try kitchen.value("remark", of: "Item", "Oat milk") == "secret")
            let conflicts = try await phone.sync.conflicts()
            #expect(conflicts.map(\.losing).sorted() == ["Soy milk", "guessed"])
            #expect(try await home.rest("ann").get("/api/Item?count=true").json.names.count == 2)
        }
    }

    /// The next process takes the devices' files over.
    @Test func oneProcessAtATimeIsTheHub() async throws {
        try await HubHousehold.run { home in
            let kitchen = try home.device("Kitchen", of: "ann")
            let other = try home.makeHub()
            // Files wait while no process is the hub.
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try await other.turn(home.id("mallory"))
            try await kitchen.exchange()
            #expect(try await home.rest("ann").get("/api/List").json.names.isEmpty)
            await other.stop()
            try await kitchen.exchange()
            #expect(try await home.rest("ann").get("/api/List").json.names == ["Food"])
            // And back, with the same replicas.
            await home.hub.stop()
            let third = try home.makeHub()
            try kitchen.add("Item", ["name": "Milk"], to: "Food")
            try await kitchen.exchange()
            try await third.turn(home.id("ann"))
            #expect(try await home.rest("ann").get("/api/Item").json.names == ["Milk"])
            await third.stop()
        }
    }

    /// A lost folder of replicas is made anew: objects are known by their UUIDs.
    @Test func aLostReplicaIsMadeAnew() async throws {
        try await HubHousehold.run { home in
            let kitchen = try home.device("Kitchen", of: "ann")
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk", "amount": 2], to: "Food")
            try await kitchen.exchange()
            await home.hub.stop()
            try FileManager.default.removeItem(at: home.folder.appendingPathComponent("replicas"))
            let next = try home.makeHub()
            for _ in 0..<2 {
                try await kitchen.exchange()
                try await next.turn(home.id("ann"))
            }
            try kitchen.set("Item", "Milk", ["amount": 5])
            for _ in 0..<2 {
                try await kitchen.exchange()
                try await next.turn(home.id("ann"))
            }
            let found = try await home.rest("ann").get("/api/Item").json
            #expect(found.names == ["Milk"])
            #expect(found["items"]?.array?.first?["amount"] == .integer(5))
            #expect(try kitchen.names("Item") == ["Milk"])
            await next.stop()
        }
    }
}
