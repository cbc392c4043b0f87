import CoreData
import CoreDataSync
import Foundation
import Testing

/// What two devices make of each other's edits.
@Suite struct TwoDevicesTests {
    private let place = MemoryPlace()

    private func devices() throws -> (SyncingDevice, SyncingDevice) {
        (try SyncingDevice("Kitchen", place), try SyncingDevice("Phone", place))
    }

    @Test func aNewObjectArrivesWithAllItsValues() async throws {
        let (kitchen, phone) = try devices()
        try await kitchen.exchange()
        try kitchen.save { _ in
            let unit = kitchen.new("Unit", ["name": "kg", "size": 1.5])
            let item = kitchen.new("Item", ["name": "Milk", "count": 3, "best": 2.5, "photo": Data([1, 2, 3])])
            item.setValue(["city": "Ghent", "zip": "9000"], forKey: "address")
            item.setValue(["red", "green"] as NSArray, forKey: "colours")
            item.setValue(unit, forKey: "unit")
        }
        try await settle(kitchen, phone)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try phone.contents().count == 2)
        try phone.save { _ in
            let milk = try #require(try phone.object("Item", "Milk"))
            #expect(milk.value(forKeyPath: "unit.name") as? String == "kg")
            #expect((milk.value(forKey: "address") as? [String: Any])?["city"] as? String == "Ghent")
            #expect(milk.value(forKey: "colours") as? NSArray == ["red", "green"])
        }
    }

    @Test func editsOfTwoPropertiesBothStay() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        try await settle(kitchen, phone)
        try kitchen.save { _ in try kitchen.object("Item", "Milk")?.setValue("fresh", forKey: "note") }
        try phone.save { _ in try phone.object("Item", "Milk")?.setValue(5.0, forKey: "best") }
        try await settle(kitchen, phone)
        #expect(try phone.contents() == kitchen.contents())
        try kitchen.save { _ in
            let milk = try #require(try kitchen.object("Item", "Milk"))
            #expect(milk.value(forKey: "note") as? String == "fresh")
            #expect(milk.value(forKey: "best") as? Double == 5)
        }
        #expect(try await kitchen.sync.conflicts().isEmpty)
    }

    @Test func theLaterOfTwoEditsWinsAndTheOtherIsKept() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        try await settle(kitchen, phone)
        try kitchen.save { _ in try kitchen.object("Item", "Milk")?.setValue("1 litre", forKey: "note") }
        try await kitchen.sync.syncNow()
        phone.clock.advance(seconds: 100)
        try phone.save { _ in try phone.object("Item", "Milk")?.setValue("2 litres", forKey: "note") }
        try await settle(phone, kitchen)
        for device in [kitchen, phone] {
            #expect(try device.text("Item", "Milk", "note") == "2 litres")
            let conflict = try #require(try await device.sync.conflicts().first)
            #expect(conflict.losing == "1 litre" && conflict.winning == "2 litres" && conflict.property == "note")
        }
        let conflict = try #require(try await kitchen.sync.conflicts().first)
        try await kitchen.sync.restore(conflict)
        try await settle(kitchen, phone)
        for device in [kitchen, phone] {
            #expect(try device.text("Item", "Milk", "note") == "1 litre")
        }
        #expect(try await kitchen.sync.conflicts().isEmpty)
    }

    @Test func aDeletionArrives() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in
            let unit = kitchen.new("Unit", ["name": "kg"])
            kitchen.new("Item", ["name": "Milk"]).setValue(unit, forKey: "unit")
        }
        try await settle(kitchen, phone)
        try phone.save { context in
            if let unit = try phone.object("Unit", "kg") { context.delete(unit) }
        }
        try await settle(phone, kitchen)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try kitchen.contents().count == 1)
    }

    @Test func defaultDataOfTwoDevicesBecomeOne() async throws {
        let (kitchen, phone) = try devices()
        for device in [kitchen, phone] {
            try device.save { _ in for name in ["kg", "l", "g"] { _ = device.new("Unit", ["name": name]) } }
        }
        try await settle(kitchen, phone)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try phone.contents().count == 3)
    }

    @Test func sumsAddWhatEachDeviceAdded() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk", "count": 10]) }
        try await settle(kitchen, phone)
        try kitchen.save { _ in try kitchen.object("Item", "Milk")?.setValue(13, forKey: "count") }
        try phone.save { _ in try phone.object("Item", "Milk")?.setValue(9, forKey: "count") }
        try await settle(kitchen, phone)
        for device in [kitchen, phone] {
            #expect(try device.text("Item", "Milk", "count") == "12")
        }
    }

    @Test func orderedMembersOfBothDevicesHaveOneOrder() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in
            let list = kitchen.new("List", ["name": "Week"])
            let items = ["a", "b", "c"].map { kitchen.new("Item", ["name": $0]) }
            list.setValue(NSOrderedSet(array: items), forKey: "items")
        }
        try await settle(kitchen, phone)
        for (device, name, place) in [(kitchen, "k", 1), (phone, "p", 1)] {
            try device.save { _ in
                let list = try #require(try device.object("List", "Week"))
                list.mutableOrderedSetValue(forKey: "items").insert(device.new("Item", ["name": name]), at: place)
            }
        }
        try await settle(kitchen, phone)
        #expect(try phone.contents() == kitchen.contents())
        try phone.save { _ in
            let items = try phone.object("List", "Week")?.value(forKey: "items") as? NSOrderedSet
            let names = items?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } ?? []
            #expect(names.count == 5 && names.filter { $0.count == 1 && "abc".contains($0) } == ["a", "b", "c"])
            #expect(names.first == "a" && names.suffix(2) == ["b", "c"])
        }
    }

    @Test func membersOfManyToManysAreAddedAndRemovedOneByOne() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in
            let item = kitchen.new("Item", ["name": "Milk"])
            item.setValue(Set(["x", "y"].map { kitchen.new("Tag", ["name": $0]) }) as NSSet, forKey: "tags")
        }
        try await settle(kitchen, phone)
        try kitchen.save { _ in
            let milk = try #require(try kitchen.object("Item", "Milk"))
            milk.mutableSetValue(forKey: "tags").add(kitchen.new("Tag", ["name": "z"]))
        }
        try phone.save { _ in
            let milk = try #require(try phone.object("Item", "Milk"))
            let x = try #require(try phone.object("Tag", "x"))
            milk.mutableSetValue(forKey: "tags").remove(x)
        }
        try await settle(kitchen, phone)
        #expect(try phone.contents() == kitchen.contents())
        try phone.save { _ in
            let tags = try phone.object("Item", "Milk")?.value(forKey: "tags") as? NSSet
            let names = tags?.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }.sorted()
            #expect(names == ["y", "z"])
        }
    }

    @Test func anEditedObjectThatWasDeletedElsewhereIsKeptInTheJournal() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk", "note": "old"]) }
        try await settle(kitchen, phone)
        try kitchen.save { context in if let milk = try kitchen.object("Item", "Milk") { context.delete(milk) } }
        try phone.save { _ in try phone.object("Item", "Milk")?.setValue("new", forKey: "note") }
        try await settle(kitchen, phone)
        #expect(try phone.contents().isEmpty && kitchen.contents().isEmpty)
        let conflict = try #require(try await phone.sync.conflicts().first { $0.property == "note" })
        #expect(conflict.reason == .deleted && conflict.losing == "new")
        try await phone.sync.restore(conflict)
        try await settle(phone, kitchen)
        #expect(try phone.contents() == kitchen.contents())
        #expect(try kitchen.text("Item", "Milk", "note") == "new")
    }

    @Test func nothingIsSentWhenNothingHasChanged() async throws {
        let (kitchen, phone) = try devices()
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        try await settle(kitchen, phone)
        for device in [kitchen, phone, kitchen, phone] {
            let summary = try await device.exchange()
            #expect(summary == SyncSummary())
        }
    }
}
