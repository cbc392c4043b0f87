import CoreData
import Foundation
import Testing

@testable import CoreDataSync

/// Full disks, and places and stores that can only be read: the state tells why, nothing is lost, and the next exchange
/// goes on.
@Suite struct DiskStoryTests {
    private let folder: TemporaryFolder
    init() throws { folder = try TemporaryFolder() }

    private func failure(_ device: SyncingDevice) async throws -> any Error {
        let thrown = await #expect(throws: (any Error).self) { try await device.exchange() }
        guard case .failed(let error, let retry) = device.sync.state.activity else {
            Issue.record("\(device.sync.state)")
            return try #require(thrown)
        }
        #expect(retry > SyncTime.date(device.clock.now))
        return error
    }

    private func edit(_ device: SyncingDevice, _ number: Int, size: Int = 10) throws {
        try device.save { _ in
            _ = device.new("Item", ["name": "\(device.name) \(number)", "note": String(repeating: "x", count: size)])
        }
    }

    private func settled(_ kitchen: SyncingDevice, _ phone: SyncingDevice) async throws {
        try await settle(kitchen, phone)
        #expect(try kitchen.contents() == phone.contents())
    }

    @Test(.enabled(if: SmallDisk.isPossible, SmallDisk.missing)) func aFullPlaceTakesItLater() async throws {
        let disk = try SmallDisk(megabytes: 1)
        let place = FolderPlace(disk("place"))
        let (kitchen, phone) = (
            try SyncingDevice("Kitchen", place, url: folder("a.sqlite")), try SyncingDevice("Phone", place)
        )
        try edit(kitchen, 0)
        try await settled(kitchen, phone)
        try edit(phone, 1)
        try await phone.exchange()
        try disk.fill()
        for number in 2..<5 {
            try edit(kitchen, number, size: 5_000)
            let error = try #require(try await failure(kitchen) as? SyncPlaceError)
            #expect(error.reason == .full && error.localizedDescription.contains(disk.url.path), "\(error)")
        }
        #expect(kitchen.sync.state.unsent == 3)
        #expect(try kitchen.names("Item").contains("Phone 1"), "a full place can be read")
        try disk.free()
        try kitchen.restart()
        try await settled(kitchen, phone)
        #expect(try phone.names("Item").count == 5)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk("place").path).count == 2)
    }

    @Test(.enabled(if: SmallDisk.isPossible, SmallDisk.missing)) func aPlaceThatBecomesReadOnlyIsRead() async throws {
        let disk = try SmallDisk(megabytes: 4)
        let place = FolderPlace(disk("place"))
        let (kitchen, phone) = (
            try SyncingDevice("Kitchen", place, url: folder("a.sqlite")), try SyncingDevice("Phone", place)
        )
        try edit(kitchen, 0)
        try await settled(kitchen, phone)
        try edit(phone, 1)
        try await phone.exchange()
        try edit(kitchen, 2)
        try disk.remount("ro")
        let error = try #require(try await failure(kitchen) as? SyncPlaceError)
        #expect(error.reason == .readOnly, "\(error)")
        #expect(try kitchen.names("Item") == ["Kitchen 0", "Kitchen 2", "Phone 1"])
        try disk.remount("rw")
        try await settled(kitchen, phone)
        #expect(try phone.names("Item").count == 3)
    }

    /// Store and sidecar are on it; the place is not.
    @Test(.enabled(if: SmallDisk.isPossible, SmallDisk.missing)) func aFullDiskOfTheStoreTakesItLater() async throws {
        let disk = try SmallDisk(megabytes: 4)
        let place = MemoryPlace()
        let (kitchen, phone) = (
            try SyncingDevice("Kitchen", place, url: disk("Shop.sqlite")), try SyncingDevice("Phone", place)
        )
        try edit(kitchen, 0)
        try await settled(kitchen, phone)
        try edit(kitchen, 1, size: 50_000)
        for number in 2..<12 { try edit(phone, number, size: 12_000) }
        try await phone.exchange()
        try disk.fill()
        for _ in 0..<3 {
            let error = try await failure(kitchen)
            let text = (error as? CocoaError)?.localizedDescription ?? "\(error)"
            #expect(text.lowercased().contains("full") || text.contains("space"), "\(text)")
        }
        try disk.free()
        try kitchen.restart()
        try await settled(kitchen, phone)
        #expect(try phone.names("Item").count == 12)
        #expect(try await phone.sync.devices().count == 2, "the device kept its ID")
    }

    @Test func aStoreThatBecomesReadOnlySendsAndReceivesLater() async throws {
        let place = MemoryPlace()
        let (kitchen, phone) = (
            try SyncingDevice("Kitchen", place, url: folder("a.sqlite")), try SyncingDevice("Phone", place)
        )
        try edit(kitchen, 0)
        try await settled(kitchen, phone)
        try edit(kitchen, 1)
        try edit(phone, 2)
        try await phone.exchange()
        kitchen.isReadOnly = true
        try kitchen.restart()
        for _ in 0..<2 {
            let error = try await failure(kitchen)
            let text = (error as? CocoaError)?.localizedDescription ?? "\(error)"
            #expect(text.contains("read-only") || text.contains("reading only"), "\(text)")
        }
        try await phone.exchange()
        #expect(try phone.names("Item") == ["Kitchen 0", "Kitchen 1", "Phone 2"])
        kitchen.isReadOnly = false
        try kitchen.restart()
        try await settled(kitchen, phone)
        #expect(try kitchen.names("Item") == ["Kitchen 0", "Kitchen 1", "Phone 2"])
    }
}
