import CoreData
import CoreDataSync
import Foundation
import Testing

/// Stores that are attached to a place, leave it and join again; and stores without a history.
@Suite struct SeedingStoryTests {
    private let place = MemoryPlace()

    private func device(_ name: String) throws -> SyncingDevice {
        try SyncingDevice(name, place)
    }

    private func add(_ device: SyncingDevice, _ sizes: [String: Double]) throws {
        try device.save { _ in for (name, size) in sizes { _ = device.new("Unit", ["name": name, "size": size]) } }
    }

    private func sizes(_ device: SyncingDevice) throws -> [String: Double] {
        try device.context.performAndWait {
            device.context.refreshAllObjects()
            let units = try device.context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Unit"))
            return Dictionary(
                units.map { ($0.value(forKey: "name") as? String ?? "", $0.value(forKey: "size") as? Double ?? -1) },
                uniquingKeysWith: { _, _ in -2 })
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let seeding: Seeding
        let result: [String: Double]
        /// Another value that is right.
        var or: [String: Double]?
        var testDescription: String { seeding.rawValue }
    }

    @Test(arguments: [
        Row(seeding: .merge, result: ["kg": 1, "l": 1, "g": 2], or: ["kg": 2, "l": 1, "g": 2]),
        Row(seeding: .preferLocal, result: ["kg": 2, "l": 1, "g": 2]),
        Row(seeding: .preferRemote, result: ["kg": 1, "l": 1, "g": 2]),
        Row(seeding: .replaceLocal, result: ["kg": 1, "l": 1]),
    ])
    func aStoreIsAttachedAsItsOwnerWants(_ row: Row) async throws {
        let (kitchen, phone) = (try device("Kitchen"), try device("Phone"))
        try add(kitchen, ["kg": 1, "l": 1])
        try add(phone, ["kg": 2, "g": 2])
        try await kitchen.exchange()
        try await phone.sync.start(seeding: row.seeding)
        await phone.sync.stop()
        try await settle(kitchen, phone)
        let found = try sizes(kitchen)
        #expect(found == row.result || found == row.or, "\(found)")
        #expect(try sizes(phone) == found)
        #expect(try kitchen.contents() == phone.contents())
    }

    @Test(arguments: Seeding.allCases) func anEditIsNewerThanWhatExistedBefore(_ seeding: Seeding) async throws {
        let (kitchen, phone) = (try device("Kitchen"), try device("Phone"))
        try add(kitchen, ["kg": 1])
        try add(phone, ["kg": 2])
        try await kitchen.exchange()
        try kitchen.save { _ in try kitchen.object("Unit", "kg")?.setValue(3.0, forKey: "size") }
        try await kitchen.exchange()
        try await phone.sync.start(seeding: seeding)
        await phone.sync.stop()
        try await settle(kitchen, phone)
        for device in [kitchen, phone] { #expect(try sizes(device) == ["kg": 3], "\(device.name)") }
    }

    @Test(arguments: Seeding.allCases) func aDeviceThatLeftCanJoinAgain(_ seeding: Seeding) async throws {
        let (kitchen, phone) = (try device("Kitchen"), try device("Phone"))
        try add(kitchen, ["kg": 1])
        try await settle(kitchen, phone)
        try phone.save { _ in _ = phone.new("Item", ["name": "Milk"]) }
        try await settle(phone, kitchen)
        try await phone.sync.leave()
        guard case .stopped = phone.sync.state.activity else {
            Issue.record("\(phone.sync.state)")
            return
        }
        #expect(try sizes(phone) == ["kg": 1])
        try await kitchen.exchange()
        #expect(try await kitchen.sync.devices().count == 1)
        try kitchen.save { _ in try kitchen.object("Unit", "kg")?.setValue(5.0, forKey: "size") }
        try add(phone, ["g": 2])
        try await kitchen.exchange()
        try await phone.sync.start(seeding: seeding)
        await phone.sync.stop()
        try await settle(kitchen, phone)
        #expect(try sizes(kitchen) == (seeding == .replaceLocal ? ["kg": 5] : ["kg": 5, "g": 2]))
        #expect(try kitchen.contents() == phone.contents())
        #expect(try await kitchen.sync.devices().count == 2)
    }

    @Test(arguments: [NSXMLStoreType, NSInMemoryStoreType, NSBinaryStoreType])
    func aStoreWithoutHistoryIsCompared(_ type: String) async throws {
        let folder = try TemporaryFolder()
        let kitchen = try device("Kitchen")
        let phone = try SyncingDevice(
            "Phone", place, url: type == NSInMemoryStoreType ? nil : folder("phone.store"), type: type, history: false)
        try add(kitchen, ["kg": 1, "l": 1])
        try add(phone, ["kg": 1, "g": 2])
        try await settle(kitchen, phone)
        #expect(try kitchen.contents() == phone.contents())
        try phone.save { _ in
            try phone.delete("Unit", "l")
            try phone.object("Unit", "g")?.setValue(3.0, forKey: "size")
            _ = phone.new("Item", ["name": "Milk", "count": 3, "unit": try #require(try phone.object("Unit", "kg"))])
        }
        try kitchen.save { _ in try kitchen.object("Unit", "kg")?.setValue(4.0, forKey: "size") }
        try await settle(phone, kitchen)
        #expect(try kitchen.contents() == phone.contents())
        #expect(try sizes(kitchen) == ["kg": 4, "g": 3])
        #expect(try kitchen.text("Item", "Milk", "unit.name") == "kg")
        #expect(try await phone.exchange() == SyncSummary())
    }
}
