import CoreData
import CoreDataSyncSimulation
import Foundation
import Testing

@testable import CoreDataSync
@testable import CoreDataSyncEngine

/// Devices that leave a place and join again, under other names, and what they tell people of each other.
@Suite struct LeavingStoryTests {
    @Test func aPlaceThatCannotBeReachedIsLeftWithoutTellingIt() async throws {
        let (folder, place) = (try TemporaryFolder(), MemoryPlace())
        let faulty = FaultyPlace(place, seed: 1, .none)
        let kitchen = try SyncingDevice("Kitchen", place)
        let phone = try SyncingDevice("Phone", faulty, url: folder("phone.sqlite"))
        try kitchen.save { _ in _ = kitchen.new("Unit", ["name": "kg"]) }
        try await settle(kitchen, phone)
        faulty.hook = { _ in throw SyncPlaceError(.unavailable, "The drive is not connected.") }
        await #expect(throws: SyncPlaceError.self) { try await phone.sync.leave() }
        #expect(phone.sync.store.sidecar.settings.token != nil)
        try await phone.sync.leave(tellingOthers: false)
        #expect(phone.sync.store.sidecar.settings.token == nil)
        #expect(try phone.text("Unit", "kg", "name") == "kg")
        // The others do not know it.
        try await kitchen.exchange()
        #expect(try await kitchen.sync.devices().map(\.name) == ["Kitchen", "Phone"])
        faulty.hook = nil
        try phone.restart()
        try await settle(kitchen, phone)
        #expect(try kitchen.contents() == phone.contents())
    }

    @Test func aDeviceWithAnotherNameTellsTheOthers() async throws {
        let (folder, place) = (try TemporaryFolder(), MemoryPlace())
        let kitchen = try SyncingDevice("Kitchen", place)
        let phone = try SyncingDevice("Phone", place, url: folder("phone.sqlite"))
        try await settle(kitchen, phone)
        let id = phone.sync.store.sidecar.settings.device
        let renamed = try Sync(phone.container, to: place, device: "Tablet", options: phone.options)
        try await renamed.syncNow()
        try await kitchen.exchange()
        #expect(try await kitchen.sync.devices().map(\.name) == ["Kitchen", "Tablet"])
        // It is the same device.
        #expect(try await kitchen.sync.devices().last?.id == id.uuid)
    }

    @Test func aLeaseEndsAfterTheLastHello() async throws {
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place)
        let phone = try SyncingDevice("Phone", place) { $0.lease = 1000 }
        try await settle(kitchen, phone)
        let device = try #require(try await kitchen.sync.devices().last)
        #expect(device.leaseEnds.timeIntervalSince(device.lastSeen) == 1000)
        #expect(!device.hasExpired)
        kitchen.clock.advance(seconds: 2000)
        #expect(try await kitchen.sync.devices().last?.hasExpired == true)
    }

    @Test func whatWaitsIsCountedByEntityAndReason() async throws {
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place, model: ModelVersionStoryTests.new())
        let phone = try SyncingDevice("Phone", place, model: ModelVersionStoryTests.old())
        try kitchen.save { _ in
            let shop = kitchen.new("Shop", ["name": "Corner"])
            for name in ["a", "b"] { _ = kitchen.new("Item", ["name": name, "colour": "red", "shop": shop]) }
        }
        try await settle(kitchen, phone)
        #expect(
            try await phone.sync.waiting() == [
                SyncWaiting(entity: "Item", reason: .unknownProperty, count: 2),
                SyncWaiting(entity: "Shop", reason: .unknownEntity, count: 1),
            ])
        #expect(phone.sync.state.waiting == 3)
        #expect(try await kitchen.sync.waiting() == [])
    }

    @Test func reasonsAreToldApart() {
        let state = ObjectState(
            id: GlobalID(UUID()), entity: .init("Item", Stamp(ticks: 1, device: DeviceID(UUID()))))
        func reason(_ text: String, _ waitsFor: GlobalID? = nil) -> SyncWaiting.Reason {
            SyncWaiting.Reason(ParkedState(state: state, waitsFor: waitsFor, reason: text))
        }
        #expect(reason("missing value") == .missingValue)
        #expect(reason("waits for its required object", GlobalID(UUID())) == .missingObject)
        #expect(reason("name is too short") == .refused("name is too short"))
        #expect(reason("the store refuses it: name is too short") == .refused("name is too short"))
    }
}
