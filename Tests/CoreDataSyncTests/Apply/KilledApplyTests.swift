import CoreData
import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

/// A device that dies after it saved what others sent, and before it noted that.
@Suite struct KilledApplyTests {
    private struct Killed: Error {}

    /// Exchanges until the device dies after its next save of what others sent.
    private func die(_ device: SyncingDevice) async throws {
        device.checkpoint { if $0 == "apply.saved" { throw Killed() } }
        await #expect(throws: Killed.self) { try await device.exchange() }
        device.checkpoint { _ in }
    }

    /// - Parameter restarts: whether the process ends; otherwise a write of the sidecar has failed.
    @Test(arguments: [true, false]) func whatTheUserDeletesThenStaysDeleted(restarts: Bool) async throws {
        let folder = try TemporaryFolder()
        let place = MemoryPlace()
        let kitchen = try SyncingDevice("Kitchen", place)
        let phone = try SyncingDevice("Phone", place, url: folder("phone.sqlite"))
        try await settle(kitchen, phone)
        try kitchen.save { _ in for name in ["a", "b"] { _ = kitchen.new("Item", ["name": name]) } }
        try await kitchen.exchange()
        try await die(phone)
        try phone.save { _ in try phone.delete("Item", "a") }
        if restarts { try phone.restart() }
        try await settle(phone, kitchen)
        for device in [phone, kitchen] { #expect(try device.names("Item") == ["b"], "\(device.name)") }
    }

    /// An edit that arrived before its object is later than the object's creation.
    @Test func anEditThatCameBeforeItsObjectStays() async throws {
        let folder = try TemporaryFolder()
        let base = MemoryPlace()
        let hiding = HidingPlace(base)
        let kitchen = try SyncingDevice("Kitchen", base)
        let phone = try SyncingDevice("Phone", hiding, url: folder("phone.sqlite"))
        try await settle(kitchen, phone)
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "a", "note": "first"]) }
        try await kitchen.exchange()
        let first = kitchen.sync.store.sidecar.settings.lastSegment
        try kitchen.set("Item", "a", ["note": "second"])
        try await kitchen.exchange()
        hiding.hide { file in
            switch FileName(file) {
            case .segment(first), .snapshot: true
            default: false
            }
        }
        try await phone.exchange()
        #expect(try phone.text("Item", "a", "note") == nil)
        hiding.showAll()
        phone.clock.advance(seconds: 7_200)
        try await die(phone)
        #expect(try phone.text("Item", "a", "note") == "second")
        try phone.restart()
        try await settle(phone, kitchen)
        for device in [phone, kitchen] { #expect(try device.text("Item", "a", "note") == "second", "\(device.name)") }
    }
}
