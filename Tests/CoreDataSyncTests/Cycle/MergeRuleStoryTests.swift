import CoreData
import CoreDataSync
import Foundation
import Testing

/// What the words in a model's `userInfo` do on two devices.
@Suite struct MergeRuleStoryTests {
    private let kitchen: SyncingDevice
    private let phone: SyncingDevice

    init() throws {
        let place = MemoryPlace()
        kitchen = try SyncingDevice("Kitchen", place, model: ModelMaking.warehouse())
        phone = try SyncingDevice("Phone", place, model: ModelMaking.warehouse())
    }

    private func delete(_ device: SyncingDevice, _ entity: String, _ name: String) throws {
        try device.save { _ in try device.delete(entity, name) }
    }

    private func settled() async throws {
        try await settle(kitchen, phone)
        #expect(try kitchen.contents() == phone.contents())
    }

    @Test(arguments: [(edit: 1, delete: 100, lives: false), (edit: 100, delete: 1, lives: true)])
    func theLaterOfEditAndDeletionWins(_ row: (edit: UInt64, delete: UInt64, lives: Bool)) async throws {
        try kitchen.save { _ in _ = kitchen.new("Box", ["name": "a", "text": "old"]) }
        try await settled()
        kitchen.clock.advance(seconds: row.delete)
        try delete(kitchen, "Box", "a")
        phone.clock.advance(seconds: row.edit)
        try phone.set("Box", "a", ["text": "new"])
        try await settled()
        #expect(try kitchen.text("Box", "a", "text") == (row.lives ? "new" : nil))
        if !row.lives {
            #expect(try await phone.sync.conflicts().contains { $0.reason == .deleted && $0.losing == "new" })
        }
    }

    @Test(arguments: ["low", "high"]) func aValueThatTheRuleRejectsIsWrittenBack(_ key: String) async throws {
        try kitchen.save { _ in _ = kitchen.new("Counter", ["name": "a", "low": 5, "high": 5]) }
        try await settled()
        let (better, worse) = key == "low" ? (3.0, 4.0) : (7.0, 6.0)
        try kitchen.set("Counter", "a", [key: better])
        try phone.set("Counter", "a", [key: worse])
        try await settled()
        #expect(try phone.text("Counter", "a", key) == "\(better)")
        // On the device itself, too, and without another one.
        try phone.set("Counter", "a", [key: worse])
        try await phone.exchange()
        #expect(try phone.text("Counter", "a", key) == "\(better)")
        try await settled()
        #expect(try await phone.exchange() == SyncSummary())
    }

    @Test func aSumBeginsAnewWithAnObjectThatIsCreatedAgain() async throws {
        try kitchen.save { _ in _ = kitchen.new("Counter", ["name": "a", "count": 10]) }
        try await settled()
        try phone.set("Counter", "a", ["count": 15])
        try await settled()
        try delete(kitchen, "Counter", "a")
        try await settled()
        #expect(try phone.contents().isEmpty)
        try phone.save { _ in _ = phone.new("Counter", ["name": "a", "count": 3]) }
        try await settled()
        #expect(try kitchen.text("Counter", "a", "count") == "3")
        try kitchen.set("Counter", "a", ["count": 4])
        try phone.set("Counter", "a", ["count": 1])
        try await settled()
        #expect(try kitchen.text("Counter", "a", "count") == "2")
    }

    @Test func anObjectThatIsCreatedAgainInTheSameSaveBeginsAnew() async throws {
        try kitchen.save { _ in _ = kitchen.new("Counter", ["name": "a", "count": 10, "low": 1, "high": 9]) }
        try await settled()
        try phone.save { _ in
            try phone.delete("Counter", "a")
            _ = phone.new("Counter", ["name": "a", "count": 2, "low": 4, "high": 5])
        }
        try await settled()
        for (key, value) in [("count", "2"), ("low", "4.0"), ("high", "5.0")] {
            #expect(try kitchen.text("Counter", "a", key) == value, "\(key)")
        }
    }
}
