import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

/// Values of the exchange, without a place.
@Suite struct ExchangeTableTests {
    private let device = DeviceID(high: 1, low: 2)

    @Test func delaysDoubleUpToAnHour() throws {
        let key = FileKey(device, .segment(1))
        var schedule = RetrySchedule()
        var (now, delays): (UInt64, [UInt64]) = (1_000_000, [])
        for _ in 0..<12 {
            #expect(schedule.isDue(key, now: now))
            schedule.noteFailure(key, nil, now: now)
            #expect(!schedule.isDue(key, now: now))
            let next = try #require(schedule.entries[key]?.next)
            delays.append((next - now) / 1000)
            now = next
        }
        #expect(delays == [5, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600])
        #expect(schedule.failingTime(key, now: now) == now - 1_000_000)
        #expect(schedule.isDue(key, now: 5), "the clock was set back")
        schedule.noteSuccess(key)
        #expect(schedule.isDue(key, now: now) && schedule.entries.isEmpty)
    }

    @Test func aListingIsSortedAndHasEachFileOnce() {
        let digest = String(repeating: "0a", count: 32)
        let files = DeviceFiles([
            "segment-0000000000000010", "segment-0000000000000002", "segment-0000000000000010",
            "hello-0000000000000001",
            "blob-\(digest)", "model-\(digest)", "snapshot-0000000000000003", "other", "segment-x",
        ])
        #expect(files.segments == [2, 10] && files.hellos == [1] && files.snapshots == [3])
        #expect(files.blobs == [Data(repeating: 10, count: 32)] && files.models == files.blobs)
        #expect(files.contains(.segment(10)) && !files.contains(.segment(3)) && !files.isEmpty)
        #expect(DeviceFiles(["other"]).isEmpty)
    }

    @Test(arguments: [
        ("00000000-0000-0001-0000-000000000002", true), ("00000000-0000-000A-0000-000000000002", false),
        ("00000000-0000-0001-0000-00000000000", false), ("sealed", false), ("", false),
    ])
    func foldersOfDevicesAreIdentifiers(name: String, isDevice: Bool) {
        #expect((DeviceID(folder: name) != nil) == isDevice)
    }

    @Test(
        arguments: [
            ([1...5], [], [1...5]), ([1...5], [1...5], []), ([1...5], [2...3], [1...1, 4...5]), ([1...5], [0...9], []),
            ([3...5], [1...3, 5...9], [4...4]), ([1...5, 8...9], [4...8], [1...3, 9...9]), ([], [1...2], []),
            ([1...UInt64.max], [5...UInt64.max], [1...4]), ([7...7], [1...6, 8...9], [7...7]),
        ] as [([ClosedRange<UInt64>], [ClosedRange<UInt64>], [ClosedRange<UInt64>])])
    func vectorsAreSubtracted(all: [ClosedRange<UInt64>], known: [ClosedRange<UInt64>], rest: [ClosedRange<UInt64>]) {
        func vector(_ ranges: [ClosedRange<UInt64>]) -> VersionVector {
            var vector = VersionVector()
            for range in ranges { vector.insert(device, range) }
            return vector
        }
        #expect(vector(all).subtracting(vector(known)) == vector(rest))
        #expect(vector(all).intersects(vector(known)) == (vector(all) != vector(rest)))
    }
}
