import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

@Suite struct PurgePlanTests {
    private static let device = RandomStates.devices[0]
    private static let now: UInt64 = 817_000_000_000
    private static let day: UInt64 = 86_400_000

    private static func vector(_ numbers: ClosedRange<UInt64>?) -> VersionVector {
        var vector = VersionVector()
        if let numbers { vector.insert(device, numbers) }
        return vector
    }

    private static func hello(
        _ device: Int, _ number: UInt64 = 1, seen: ClosedRange<UInt64>?, daysAgo: UInt64 = 0, left: Bool = false
    ) -> Hello {
        Hello(
            device: RandomStates.devices[device], name: "", number: number, modelHash: Data(), seen: vector(seen),
            date: now - daysAgo * day, storeName: "", left: left)
    }

    /// The device has the segments 1 to 6 of 10 bytes each in the place.
    private func deleted(_ hellos: [Hello], snapshot: ClosedRange<UInt64>?, size: Int = 1_000) -> [UInt64] {
        let plan = PurgePlan(
            device: Self.device, hellos: hellos, segments: (1...6).reversed().map { .init($0, size: 10) },
            snapshots: snapshot.map { [.init(1, size: size, contains: Self.vector($0))] } ?? [], ownHellos: [],
            now: Self.now)
        return plan.files.compactMap { if case .segment(let number) = $0 { number } else { nil } }
    }

    @Test func segmentsStayUntilASnapshotContainsThem() {
        #expect(deleted([], snapshot: nil) == [])
        #expect(deleted([Self.hello(1, seen: 1...6)], snapshot: nil) == [])
        #expect(deleted([Self.hello(1, seen: 1...6)], snapshot: 1...4) == [1, 2, 3, 4])
    }

    @Test func segmentsStayUntilEveryDeviceWithALeaseReceivedThem() {
        let reader = Self.hello(1, seen: 1...5)
        #expect(deleted([reader, Self.hello(2, seen: 1...2)], snapshot: 1...6) == [1, 2])
        #expect(deleted([reader, Self.hello(2, seen: 2...3)], snapshot: 1...6) == [2, 3])
        #expect(deleted([reader, Self.hello(2, seen: nil)], snapshot: 1...6) == [])
        #expect(deleted([reader, Self.hello(2, seen: nil, daysAgo: 60)], snapshot: 1...6) == [])
        #expect(deleted([reader, Self.hello(2, seen: nil, daysAgo: 61)], snapshot: 1...6) == [1, 2, 3, 4, 5])
        #expect(deleted([reader, Self.hello(2, seen: nil, left: true)], snapshot: 1...6) == [1, 2, 3, 4, 5])
        #expect(deleted([], snapshot: 1...6) == [1, 2, 3, 4, 5, 6])
    }

    @Test func theGreatestHelloOfADeviceIsValid() {
        let (old, new) = (Self.hello(1, 1, seen: 1...1), Self.hello(1, 2, seen: 1...3))
        #expect(deleted([old, new], snapshot: 1...6) == [1, 2, 3])
        #expect(deleted([new, old], snapshot: 1...6) == [1, 2, 3])
    }

    /// Its own hello says nothing of other devices.
    @Test func ownHelloIsNoReader() {
        #expect(deleted([Self.hello(0, seen: nil)], snapshot: 1...6) == [1, 2, 3, 4, 5, 6])
    }

    @Test func segmentsThatOutweighTheSnapshotAreNotKeptForADeviceThatStaysAway() {
        let away = Self.hello(1, seen: nil)
        #expect(deleted([away], snapshot: 1...6, size: 60) == [])
        #expect(deleted([away], snapshot: 1...6, size: 59) == [1])
        #expect(deleted([away], snapshot: 1...6, size: 25) == [1, 2, 3, 4])
        // Only the snapshot can stand for them.
        #expect(deleted([away], snapshot: 1...4, size: 0) == [1, 2, 3, 4])
    }

    @Test func olderSnapshotsHellosAndUnneededValuesAreDeleted() {
        func digest(_ byte: UInt8) -> Data { Data(repeating: byte, count: 32) }
        let plan = PurgePlan(
            device: Self.device, hellos: [], segments: [],
            snapshots: [3, 1, 2].map { .init($0, size: 1, contains: VersionVector()) }, ownHellos: [7, 9, 8],
            blobs: [digest(1), digest(2), digest(3)], neededBlobs: [digest(2), digest(4)], now: Self.now)
        #expect(plan.files == [.snapshot(1), .snapshot(2), .hello(7), .hello(8), .blob(digest(1)), .blob(digest(3))])
        #expect(!plan.isSnapshotDue)
    }

    /// The newest snapshot counts, not one that contains more.
    @Test func theNewestSnapshotStandsForSegments() {
        let plan = PurgePlan(
            device: Self.device, hellos: [], segments: [.init(1, size: 10)],
            snapshots: [
                .init(1, size: 9, contains: Self.vector(1...1)), .init(2, size: 9, contains: Self.vector(nil)),
            ], ownHellos: [1], now: Self.now)
        #expect(plan.files == [.snapshot(1)])
    }

    @Test(
        arguments: [
            (0, 0, nil, false), (1, 65_536, nil, false), (1, 65_537, nil, true), (1, 65_537, 65_537, false),
            (1, 65_538, 65_537, true), (999, 60_000, 100_000, false), (1_000, 6_250, 100_000, false),
            (1_000, 6_251, 100_000, true), (9_999, 10, 1_000_000, false), (10_000, 10, 1_000_000, true),
            (1_000, 1, nil, true),
        ] as [(Int, Int, Int?, Bool)])
    func snapshotIsDueWhenSegmentsOutweighTheLast(count: Int, size: Int, snapshot: Int?, isDue: Bool) {
        #expect(PurgePlan.isSnapshotDue(looseSegments: count, ofSize: size, snapshot: snapshot) == isDue)
    }

    @Test func onlySegmentsThatNoSnapshotContainsCount() {
        func isDue(_ contains: ClosedRange<UInt64>?) -> Bool {
            PurgePlan(
                device: Self.device, hellos: [], segments: (1...3).map { .init($0, size: 40_000) },
                snapshots: [.init(1, size: 50_000, contains: Self.vector(contains))], ownHellos: [], now: Self.now
            ).isSnapshotDue
        }
        #expect(isDue(nil) && isDue(1...1) && !isDue(1...2) && !isDue(1...3))
    }
}
