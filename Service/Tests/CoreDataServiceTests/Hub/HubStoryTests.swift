import CoreData
import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Testing

@testable import CoreDataService

/// Devices and clients of REST share one set of objects.
@Suite struct HubStoryTests {
    @Test func devicesOfTwoAccountsShareWhatBothMayRead() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add(
                "Item", ["name": "Milk", "amount": 1, "photo": Data(repeating: 7, count: 50_000)], to: "Food")
            try await kitchen.exchange()
            try await phone.exchange()
            #expect(try phone.names("List") == ["Food"])
            #expect(try phone.value("list.name", of: "Item", "Milk") == "Food")
            #expect(try phone.value("photo", of: "Item", "Milk") == Data(repeating: 7, count: 50_000))

            try phone.set("Item", "Milk", ["name": "Oat milk"])
            try phone.add("Item", ["name": "Bread"], to: "Food")
            try await phone.exchange()
            try await kitchen.exchange()
            #expect(try kitchen.names("Item") == ["Bread", "Oat milk"])

            try kitchen.delete("Item", "Bread")
            try await kitchen.exchange()
            try await phone.exchange()
            #expect(try phone.names("Item") == ["Oat milk"])
            #expect(try await phone.sync.conflicts().isEmpty)
            #expect(try await kitchen.sync.conflicts().isEmpty)
        }
    }

    @Test func clientsOfRESTAndDevicesSeeEachOther() async throws {
        try await HubHousehold.run { home in
            let (kitchen, rest) = (try home.device("Kitchen", of: "ann"), home.rest("ann"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            let milk = try kitchen.add("Item", ["name": "Milk"], to: "Food")
            try await kitchen.exchange()
            let page = try await rest.get("/api/Item")
            #expect(page.json.names == ["Milk"])

            let patched = try await rest.send(
                "PATCH", "/api/Item/\(milk)", json: .object([.init("name", .string("Oat milk"))]))
            #expect(patched.status == 200, "\(patched.text)")
            try kitchen.set("Item", "Milk", ["amount": 3])
            try await kitchen.exchange()
            #expect(try kitchen.value("amount", of: "Item", "Oat milk") == 3)
            let read = try await rest.get("/api/Item/\(milk)").json
            #expect(read["name"]?.string == "Oat milk")
            #expect(read["amount"] == .integer(3))

            #expect(try await rest.send("DELETE", "/api/Item/\(milk)").status == 204)
            try await kitchen.exchange()
            #expect(try kitchen.names("Item").isEmpty)
        }
    }

    @Test func twoChangesOfOneValueMerge() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk", "amount": 1, "note": "cold\n"], to: "Food")
            for device in [kitchen, phone] { try await device.exchange() }
            try kitchen.set("Item", "Milk", ["amount": 3, "note": "cold\nfresh\n"])
            try phone.set("Item", "Milk", ["amount": 6, "note": "very\ncold\n"])
            for device in [kitchen, phone, kitchen] { try await device.exchange() }
            for device in [kitchen, phone] {
                #expect(try device.value("amount", of: "Item", "Milk") == 8)
                #expect(try device.value("note", of: "Item", "Milk") == "very\ncold\nfresh\n")
            }
            // The later one wins, and the other one is in the journal of its device.
            try phone.set("Item", "Milk", ["name": "Soy milk"])
            home.kills.kill(at: "turn")
            try await phone.exchange()
            try kitchen.set("Item", "Milk", ["name": "Oat milk"])
            try await kitchen.exchange()
            try await home.hub.turn(home.id("ben"))
            try await phone.exchange()
            #expect(try phone.names("Item") == ["Oat milk"])
            let conflicts = try await phone.sync.conflicts()
            #expect(conflicts.map(\.losing) == ["Soy milk"])
            #expect(conflicts.map(\.winning) == ["Oat milk"])
            #expect(conflicts.map(\.reason) == [.edited])
        }
    }

    @Test func severalDevicesOfAnAccountAreEqual() async throws {
        try await HubHousehold.run { home in
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ann"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try await kitchen.exchange()
            try await phone.exchange()
            try phone.add("Item", ["name": "Milk"], to: "Food")
            try await phone.exchange()
            try await kitchen.exchange()
            #expect(try kitchen.value("list.name", of: "Item", "Milk") == "Food")
            #expect(Set(try await kitchen.sync.devices().map(\.name)) == ["Kitchen", "Phone", "Service"])
        }
    }

    @Test func defaultDataOfTwoDevicesIsOne() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("Tag", ["name": "cold"])
            try phone.add("Tag", ["name": "cold"])
            try phone.add("Tag", ["name": "sweet"])
            for device in [kitchen, phone, kitchen] { try await device.exchange() }
            for device in [kitchen, phone] { #expect(try device.names("Tag") == ["cold", "sweet"]) }
            #expect(try await home.rest("ann").get("/api/Tag?count=true").json.names.count == 2)

            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk"], to: "Food")
            try kitchen.change { context in
                let item = try HubDevice.find("Item", "Milk", context)
                for name in ["cold", "sweet"] {
                    if let tag = try HubDevice.find("Tag", name, context) {
                        item?.mutableSetValue(forKey: "tags").add(tag)
                    }
                }
            }
            for device in [kitchen, phone] { try await device.exchange() }
            #expect(try phone.value("tags.@count", of: "Item", "Milk") == 2)
            try phone.change { context in
                let item = try HubDevice.find("Item", "Milk", context)
                if let tag = try HubDevice.find("Tag", "cold", context) {
                    item?.mutableSetValue(forKey: "tags").remove(tag)
                }
            }
            for device in [phone, kitchen] { try await device.exchange() }
            #expect(try kitchen.value("tags.@count", of: "Item", "Milk") == 1)
        }
    }

    @Test func aChangeWakesTheDevicesOfOthers() async throws {
        try await HubHousehold.run { home in
            await home.hub.start()
            let (kitchen, session) = (try home.device("Kitchen", of: "ann"), try home.session("ann"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            let milk = try kitchen.add("Item", ["name": "Milk"], to: "Food")
            try await kitchen.exchange()
            var changes = ServicePlace(session: session).changes().makeAsyncIterator()
            let rest = home.rest("ann")
            let writer = Task {
                for number in 0..<200 {
                    try Task.checkCancellation()
                    _ = try await rest.send(
                        "PATCH", "/api/Item/\(milk)", json: .object([.init("name", .string("Milk \(number)"))]))
                    try await Task.sleep(for: .milliseconds(100))
                }
            }
            #expect(await changes.next() != nil)
            writer.cancel()
            _ = await writer.result
            try await kitchen.exchange()
            #expect(try kitchen.names("Item") != ["Milk"])
        }
    }

    /// More objects than one transaction takes; one of them is refused, and stops no other.
    @Test func manyObjectsArriveAlthoughOneIsRefused() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            for device in [kitchen, phone] { try await device.exchange() }
            try phone.change { context in
                let list = try HubDevice.find("List", "Food", context)
                for number in 0..<1_000 {
                    let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                    item.setValue(UUID(), forKey: "id")
                    item.setValue("item \(number)", forKey: "name")
                    // Without a list it belongs to nobody.
                    if number != 500 { item.setValue(list, forKey: "list") }
                }
            }
            for device in [phone, kitchen] { try await device.exchange() }
            for device in [phone, kitchen] {
                let names = try device.names("Item")
                #expect(names.count == 999)
                #expect(!names.contains("item 500"))
            }
            #expect(Set(try await phone.sync.conflicts().map(\.losing)).contains("item 500"))
        }
    }
}
