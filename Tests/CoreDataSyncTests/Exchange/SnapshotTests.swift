import CoreDataDigests
import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

/// Segments that nobody needs are deleted; who does need them reads snapshots.
@Suite struct SnapshotTests {
    private let base = MemoryPlace()
    private let clock = TestClock()
    private func device(_ number: UInt64) -> TestDevice { TestDevice(number, base, clock: clock) }

    /// Device 1 with five segments, of which a snapshot stands for the first three.
    private func purged() async throws -> TestDevice {
        let a = device(1)
        for number in 1...3 { a.edit("\(number)") }
        try await a.send()
        #expect(try await a.exchange.write(a.snapshot()) == 1)
        for number in 4...5 { a.edit("\(number)") }
        try await a.send()
        let cleaning = try await a.exchange.delete((1...3).map { FileName.segment($0) })
        #expect(cleaning.deleted.count == 3 && cleaning.kept == [])
        try await a.exchange.publish(a.hello())
        return a
    }

    @Test func aNewDeviceReadsTheSnapshotAndWhatCameAfter() async throws {
        let (a, b) = (try await purged(), device(2))
        let received = try await b.receive()
        #expect(received.snapshots.count == 1 && received.segments.map(\.number) == [4, 5])
        #expect(received.missing.isEmpty && b.states == a.states)
        #expect(try await b.receive().snapshots.isEmpty)
    }

    @Test func aDeviceThatKnowsTheSegmentsReadsNoSnapshot() async throws {
        let b = device(2)
        let a = try await purged()
        b.known.insert(a.id, 1...3)
        b.place.hook = { if $0.kind == .read, $0.file?.hasPrefix("snapshot") == true { Issue.record("read") } }
        #expect(try await b.receive().segments.map(\.number) == [4, 5])
    }

    @Test func aCallerThatDidNotKeepASnapshotGetsItAgain() async throws {
        let (a, b) = (try await purged(), device(2))
        let known = b.known
        try await b.receive()
        b.known = known
        #expect(try await b.receive().snapshots.map(\.device) == [a.id])
    }

    @Test func segmentsInASnapshotAreNotRead() async throws {
        let a = try await purged()
        try await a.exchange.write(a.snapshot())
        let b = device(2)
        let received = try await b.receive()
        #expect(received.snapshots.map(\.number) == [2] && received.segments.isEmpty)
        #expect(b.known == a.known)
    }

    @Test func aSegmentThatIsListedLateNeedsNoSnapshotAtOnce() async throws {
        let (a, b) = (device(1), device(2))
        for _ in 1...3 { a.edit() }
        try await a.send()
        try await a.exchange.write(a.snapshot())
        let name = FileName.segment(2).description
        try await base.delete(name, in: a.folder)
        let first = try await b.receive()
        #expect(first.segments.map(\.number) == [1, 3] && first.snapshots.isEmpty)
        #expect(first.missing.ranges(of: a.id) == [2...2])
        clock.advance(seconds: 59)
        #expect(try await b.receive().snapshots.isEmpty)
        clock.advance(seconds: 1)
        #expect(try await b.receive().snapshots.map(\.number) == [1], "lost for good")
        #expect(b.known.contiguous(a.id) == 3)
    }

    @Test func aSegmentThatStaysDamagedIsFoundInAnothersSnapshot() async throws {
        let (a, b, c) = (device(1), device(2), device(3))
        a.edit()
        try await a.send()
        try await c.receive()
        try await c.exchange.write(c.snapshot())
        let name = FileName.segment(1).description
        try await base.delete(name, in: a.folder)
        _ = try await base.create(name, in: a.folder, Data("OCDS and more".utf8))
        #expect(try await b.receive().missing.ranges(of: a.id) == [1...1])
        clock.advance(seconds: 60)
        #expect(try await b.receive().snapshots.map(\.device) == [c.id])
        let received = try await b.receive()
        #expect(received.missing.isEmpty && received.faults.isEmpty, "nobody needs the damaged file")
    }

    @Test func anotherDevicesSnapshotServesWhereOneIsDamaged() async throws {
        let (a, c) = (try await purged(), device(3))
        try await c.receive()
        try await c.exchange.write(c.snapshot())
        let name = FileName.snapshot(1).description
        try await base.delete(name, in: a.folder)
        _ = try await base.create(name, in: a.folder, Data("OCDS and more".utf8))
        let b = device(2)
        let received = try await b.receive()
        #expect(received.snapshots.map(\.device) == [c.id] && received.faults.isEmpty, "nothing is missing")
        #expect(b.known.contiguous(a.id) == 5)
    }

    /// What a device says that it has seen cannot make another one read for ever.
    @Test func numbersThatNeverExistedAreMissingAndCostNothing() async throws {
        let (a, b) = (device(1), device(2))
        var hello = a.hello()
        hello.seen.insert(device(3).id, 1...UInt64.max)
        try await a.exchange.publish(hello)
        try await a.exchange.write(a.snapshot())
        clock.advance(seconds: 100)
        try await b.receive()
        clock.advance(seconds: 100)
        #expect(try await b.receive().missing.ranges(of: device(3).id) == [1...UInt64.max])
        let before = b.place.count
        try await b.receive()
        #expect(b.place.count - before == 2, "two listings")
    }

    // MARK: - Deleting

    @Test func whatThePlanNamesIsDeleted() async throws {
        let (a, b) = (device(1), device(2))
        for _ in 1...3 { a.edit() }
        try await a.send()
        for _ in 1...2 { try await a.exchange.write(a.snapshot()) }
        try await b.receive()
        try await b.exchange.publish(b.hello())
        a.edit()
        try await a.send()
        try await a.exchange.publish(a.hello())
        let received = try await a.receive()
        let own = try #require(received.own)
        let snapshots = try await a.exchange.ownSnapshots()
        #expect(snapshots.map(\.number) == [1, 2] && snapshots.last?.contains.contiguous(a.id) == 3)
        let plan = PurgePlan(
            device: a.id, hellos: received.hellos, segments: own.segments.map { .init($0, size: 100) },
            snapshots: snapshots, ownHellos: own.hellos, now: clock.now)
        #expect(try await a.exchange.delete(plan.files).kept == [])
        #expect(
            try await base.list(a.folder) == [
                "hello-0000000000000001", "segment-0000000000000004", "snapshot-0000000000000002",
            ])
        let c = device(3)
        try await c.receive()
        #expect(c.known == a.known && c.states == a.states)
    }

    @Test func nothingIsDeletedThatNoIntactSnapshotContains() async throws {
        let a = device(1)
        let photo = Data(repeating: 1, count: 100)
        let old = Data(repeating: 2, count: 100)
        a.edit(blob: photo)
        try await a.send()
        _ = try await a.exchange.put(.blob(Digests.sha256(old)), old)
        let files: [FileName] = [
            .segment(1), .segment(2), .blob(Digests.sha256(photo)), .blob(Digests.sha256(old)), .snapshot(1), .hello(1),
        ]
        #expect(try await a.exchange.delete(files).kept == files, "no snapshot")
        try await a.exchange.write(a.snapshot())
        a.edit()
        try await a.send()
        try await a.exchange.publish(a.hello())
        let name = FileName.snapshot(1).description
        let bytes = try #require(try await base.read(name, in: a.folder))
        try await base.delete(name, in: a.folder)
        _ = try await base.create(name, in: a.folder, bytes.dropLast())
        #expect(try await a.exchange.delete(files).kept == files, "a damaged snapshot")
        try await base.delete(name, in: a.folder)
        _ = try await base.create(name, in: a.folder, bytes)
        let cleaning = try await a.exchange.delete(files)
        #expect(cleaning.deleted == [.segment(1), .blob(Digests.sha256(old))])
        #expect(cleaning.kept == [.segment(2), .blob(Digests.sha256(photo)), .snapshot(1), .hello(1)])
        #expect(try await a.exchange.write(a.snapshot()) == 2)
        #expect(try await a.exchange.delete([.snapshot(1), .snapshot(2)]).deleted == [.snapshot(1)])
    }
}
