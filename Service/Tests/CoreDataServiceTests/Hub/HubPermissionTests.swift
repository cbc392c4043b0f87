import CoreData
import CoreDataRemoteSync
import CoreDataSync
import Foundation
import Testing

@testable import CoreDataService

/// A device gets what its account may read, and changes what it may change.
@Suite struct HubPermissionTests {
    @Test func hiddenObjectsAndValuesLeaveInNoFile() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            let spy = try home.device("Spy", of: "mallory")
            let list = try kitchen.add("List", ["name": "Caviar list", "household": home.household])
            let item = try kitchen.add(
                "Item", ["name": "Champagne", "remark": "a surprise for ben"], to: "Caviar list")
            try kitchen.add("Tag", ["name": "festive"])
            for device in [kitchen, phone, spy] { try await device.exchange() }
            #expect(try phone.names("Item") == ["Champagne"])
            #expect(try phone.value("remark", of: "Item", "Champagne") as String? == nil)
            #expect(try spy.names("Item").isEmpty && spy.names("List").isEmpty)
            #expect(try spy.names("Tag") == ["festive"])

            func contains(_ data: Data, _ text: String) -> Bool { data.range(of: Data(text.utf8)) != nil }
            func contains(_ data: Data, _ id: UUID) -> Bool {
                data.range(of: withUnsafeBytes(of: id.uuid) { Data($0) }) != nil
            }
            let own = try await home.bytes(of: "ann")
            // The search finds what is there.
            for text in ["Caviar list", "Champagne", "surprise"] { #expect(contains(own, text)) }
            #expect(contains(own, list) && contains(own, item))
            let others = try await home.bytes(of: "ben")
            #expect(contains(others, "Champagne") && !contains(others, "surprise"))
            let strange = try await home.bytes(of: "mallory")
            #expect(contains(strange, "festive"))
            for text in ["Caviar list", "Champagne", "surprise"] { #expect(!contains(strange, text)) }
            #expect(!contains(strange, list) && !contains(strange, item))
        }
    }

    @Test func whatAViewerChangesIsRefusedIntoTheJournal() async throws {
        try await HubHousehold.run { home in
            try await home.join("eve", .viewer)
            let (kitchen, tablet) = (try home.device("Kitchen", of: "ann"), try home.device("Tablet", of: "eve"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk", "amount": 1], to: "Food")
            try kitchen.add("Item", ["name": "Bread"], to: "Food")
            for device in [kitchen, tablet] { try await device.exchange() }

            try tablet.set("Item", "Milk", ["name": "Gin", "amount": 9])
            try tablet.add("Item", ["name": "Sweets"], to: "Food")
            try tablet.delete("Item", "Bread")
            // What is allowed is not stopped by the rest.
            try tablet.add("Tag", ["name": "cold"])
            try await tablet.exchange()
            try await tablet.exchange()
            #expect(try tablet.names("Item") == ["Bread", "Milk"])
            #expect(try tablet.value("amount", of: "Item", "Milk") == 1)
            #expect(try tablet.value("list.name", of: "Item", "Bread") == "Food")
            let conflicts = try await tablet.sync.conflicts()
            #expect(conflicts.allSatisfy { $0.reason == .refused })
            #expect(Set(conflicts.map(\.losing)).isSuperset(of: ["Gin", "9", "Sweets"]))
            #expect(conflicts.contains { $0.property == "name" && $0.losing == "Gin" && $0.winning == "Milk" })
            #expect(conflicts.contains { $0.property == "name" && $0.losing == "Sweets" && $0.winning == nil })
            #expect(conflicts.contains { $0.property == nil && $0.entity == "Item" }, "the deletion")

            try await kitchen.exchange()
            #expect(try kitchen.names("Item") == ["Bread", "Milk"])
            #expect(try kitchen.names("Tag") == ["cold"])
            #expect(try await kitchen.sync.conflicts().isEmpty)
            // Nothing new: the journal stays as it is.
            try await tablet.exchange()
            #expect(try await tablet.sync.conflicts().count == conflicts.count)
        }
    }

    @Test func aRefusedValueCanBeBroughtBackWhenTheRoleAllowsIt() async throws {
        try await HubHousehold.run { home in
            try await home.join("eve", .viewer)
            let (kitchen, tablet) = (try home.device("Kitchen", of: "ann"), try home.device("Tablet", of: "eve"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk"], to: "Food")
            for device in [kitchen, tablet] { try await device.exchange() }
            try tablet.set("Item", "Milk", ["name": "Gin"])
            try tablet.add("Item", ["name": "Sweets"], to: "Food")
            for _ in 0..<2 { try await tablet.exchange() }
            try await home.accounts.setRole(.editor, of: home.id("eve"), in: home.household, by: home.id("ann"))
            for losing in ["Gin", "Sweets"] {
                let found = try await tablet.sync.conflicts().first { $0.losing == losing }
                let conflict = try #require(found)
                try await tablet.sync.restore(conflict)
            }
            try await tablet.exchange()
            try await kitchen.exchange()
            #expect(try kitchen.names("Item") == ["Gin", "Sweets"])
            #expect(try kitchen.value("list.name", of: "Item", "Sweets") == "Food")
        }
    }

    @Test func refusingOnePropertyTakesTheOthers() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk", "remark": "secret"], to: "Food")
            for device in [kitchen, phone] { try await device.exchange() }
            try phone.set("Item", "Milk", ["name": "Oat milk", "remark": "guessed", "amount": 2])
            try phone.add("Item", ["name": "Bread", "remark": "mine"], to: "Food")
            for device in [phone, kitchen] { try await device.exchange() }
            #expect(try kitchen.names("Item") == ["Bread", "Oat milk"])
            #expect(try kitchen.value("amount", of: "Item", "Oat milk") == 2)
            #expect(try kitchen.value("remark", of: "Item", "Oat milk") == "secret")
            #expect(try kitchen.value("remark", of: "Item", "Bread") as String? == nil)
            #expect(Set(try await phone.sync.conflicts().map(\.losing)) == ["guessed", "mine"])
            // The refusal does not tell the hidden value.
            #expect(try await phone.sync.conflicts().allSatisfy { $0.winning != "secret" })
        }
    }

    @Test func objectsThatBecomeHiddenAreWithdrawnAndComeBackWhole() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk", "amount": 2], to: "Food")
            for device in [kitchen, phone] { try await device.exchange() }
            #expect(try phone.names("Item") == ["Milk"])

            try await home.accounts.leaveGroup(home.household, account: home.id("ben"))
            try await phone.exchange()
            #expect(try phone.names("Item").isEmpty && phone.names("List").isEmpty)
            try await kitchen.exchange()
            #expect(try kitchen.names("Item") == ["Milk"])
            #expect(try await home.rest("ann").get("/api/Item").json.names == ["Milk"])
            try kitchen.set("Item", "Milk", ["amount": 5])
            try await kitchen.exchange()

            try await home.join("ben", .editor)
            try await phone.exchange()
            #expect(try phone.value("list.name", of: "Item", "Milk") == "Food")
            #expect(try phone.value("amount", of: "Item", "Milk") == 5)
            try phone.set("Item", "Milk", ["amount": 6])
            for device in [phone, kitchen] { try await device.exchange() }
            #expect(try kitchen.value("amount", of: "Item", "Milk") == 6)
        }
    }

    @Test func editsOfAWithdrawnObjectAreInTheJournal() async throws {
        try await HubHousehold.run { home in
            try await home.join("ben", .editor)
            let (kitchen, phone) = (try home.device("Kitchen", of: "ann"), try home.device("Phone", of: "ben"))
            try kitchen.add("List", ["name": "Food", "household": home.household])
            try kitchen.add("Item", ["name": "Milk"], to: "Food")
            for device in [kitchen, phone] { try await device.exchange() }
            try await home.accounts.leaveGroup(home.household, account: home.id("ben"))
            try phone.set("Item", "Milk", ["name": "Lost milk"])
            for device in [phone, phone, kitchen] { try await device.exchange() }
            #expect(try phone.names("Item").isEmpty)
            #expect(try kitchen.names("Item") == ["Milk"])
            let found = try await phone.sync.conflicts().first { $0.losing == "Lost milk" }
            #expect(found?.reason == .deleted)
            #expect(found?.winning == nil)
        }
    }

    /// An object under the UUID of a hidden one neither shows nor changes it.
    @Test func guessingAnIDGainsNothing() async throws {
        try await HubHousehold.run { home in
            let (kitchen, spy) = (try home.device("Kitchen", of: "ann"), try home.device("Spy", of: "mallory"))
            let list = try kitchen.add("List", ["name": "Food", "household": home.household])
            let item = try kitchen.add("Item", ["name": "Milk"], to: "Food")
            try await kitchen.exchange()
            try spy.change { context in
                for (entity, id) in [("List", list), ("Item", item)] {
                    let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                    object.setValue(id, forKey: "id")
                    object.setValue("stolen", forKey: "name")
                    if entity == "List" { object.setValue(home.household, forKey: "household") }
                }
            }
            try await spy.exchange()
            try await spy.exchange()
            try await kitchen.exchange()
            #expect(try kitchen.names("Item") == ["Milk"])
            #expect(try kitchen.names("List") == ["Food"])
            #expect(try spy.names("Item").isEmpty && spy.names("List").isEmpty)
            #expect(try await spy.sync.conflicts().allSatisfy { $0.reason == .refused && $0.winning == nil })
        }
    }
}
