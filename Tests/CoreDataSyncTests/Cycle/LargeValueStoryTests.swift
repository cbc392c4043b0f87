import CoreData
import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

/// Files of large values are deleted when nobody can need them any more.
@Suite struct LargeValueStoryTests {
    private let place = MemoryPlace()

    private func photo(_ number: Int) -> Data {
        Data((0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number &* 7 &+ $0 >> 8) })
    }

    private func photo(of name: String, _ device: SyncingDevice) throws -> Data? {
        try device.save { _ in try device.object("Item", name)?.value(forKey: "photo") as? Data }
    }

    private func blobs(_ device: SyncingDevice) async throws -> Set<Data> {
        DeviceFiles(try await place.list(device.folder)).blobs
    }

    /// Every large value that a file in a device's folder names is in that folder.
    private func checkNamedValuesExist(_ device: SyncingDevice) async throws {
        let files = DeviceFiles(try await place.list(device.folder))
        for file in files.segments.map(FileName.segment) + files.snapshots.map(FileName.snapshot) {
            let data = try #require(try await place.read(file.description, in: device.folder))
            var named: Set<Data> = []
            let states = if file.isSegment { try Segment(bytes: data).states } else { try Snapshot(bytes: data).states }
            for state in states { state.addBlobs(to: &named) }
            #expect(named.isSubset(of: files.blobs), "\(device.name) \(file)")
        }
    }

    @Test func formerValuesAreDeleted() async throws {
        let (kitchen, phone) = (try SyncingDevice("Kitchen", place), try SyncingDevice("Phone", place))
        try kitchen.save { _ in
            _ = kitchen.new("Item", ["name": "a"])
            _ = kitchen.new("Item", ["name": "b", "photo": photo(1_000)])
            _ = kitchen.new("Item", ["name": "gone", "photo": photo(1_001)])
        }
        try await settle(kitchen, phone)
        try kitchen.save { _ in try kitchen.delete("Item", "gone") }
        for number in 0..<40 {
            try kitchen.set("Item", "a", ["photo": photo(number)])
            try await settle(kitchen, phone, rounds: 1)
            try await checkNamedValuesExist(kitchen)
        }
        try await settle(kitchen, phone)
        #expect(try await blobs(kitchen).count < 25)
        // A device that joins finds everything.
        let tablet = try SyncingDevice("Tablet", place)
        try await settle(tablet, kitchen)
        for device in [phone, tablet] {
            #expect(try photo(of: "a", device) == photo(39))
            #expect(try photo(of: "b", device) == photo(1_000))
            #expect(device.sync.state.waiting == 0)
        }
    }

    /// A value that was replaced and comes back has a file again.
    @Test func aValueThatComesBackIsSentAgain() async throws {
        let (kitchen, phone) = (try SyncingDevice("Kitchen", place), try SyncingDevice("Phone", place))
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "a"]) }
        for number in Array(0..<40) + [0] {
            try kitchen.set("Item", "a", ["photo": photo(number)])
            try await settle(kitchen, phone, rounds: 1)
        }
        try await settle(kitchen, phone)
        try await checkNamedValuesExist(kitchen)
        #expect(try photo(of: "a", phone) == photo(0))
        #expect(try kitchen.contents() == phone.contents())
    }

    /// The device has a lease, so its segments and what they name stay.
    @Test func aDeviceThatIsBehindFindsWhatItReads() async throws {
        let (kitchen, phone) = (try SyncingDevice("Kitchen", place), try SyncingDevice("Phone", place))
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "a"]) }
        try await settle(kitchen, phone)
        for number in 0..<40 {
            try kitchen.set("Item", "a", ["photo": photo(number)])
            try await settle(kitchen, rounds: 1)
            try await checkNamedValuesExist(kitchen)
        }
        try await settle(phone)
        #expect(phone.sync.state.waiting == 0)
        #expect(try kitchen.contents() == phone.contents())
        #expect(try await blobs(kitchen).count > 0)
    }
}
