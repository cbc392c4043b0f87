import CoreDataSync
import CoreDataSyncEngine
import Foundation
import Synchronization
import Testing

/// A device whose clock is more than a day ahead: its files wait, and delay nothing.
@Suite struct WrongClockTests {
    private let base = MemoryPlace()
    private let clock = TestClock()

    private func device(_ number: UInt64) -> TestDevice {
        TestDevice(number, base, clock: clock, limits: TestDevice.limits { $0.portionBytes = 10_000 })
    }

    /// Receives until there is no more, but not for ever.
    private func receiveAll(_ device: TestDevice) async throws -> Received {
        for _ in 0..<100 {
            let received = try await device.receive()
            if !received.hasMore { return received }
        }
        Issue.record("the exchange does not end")
        return Received()
    }

    @Test func itsFilesAreReadOnceAndThenWhenTheirTimeComes() async throws {
        let (reader, wrong, right) = (device(1), device(2), device(3))
        let text = String(repeating: "x", count: 3_000)
        let ahead = clock.now + 3 * 86_400_000
        for _ in 0..<12 { wrong.edit(text, at: ahead) }
        wrong.edit("right again", at: clock.now)
        for _ in 0..<12 { right.edit(text) }
        for device in [wrong, right] { try await device.send() }
        let reads = Atomic(0)
        let folder = wrong.folder
        reader.place.hook = { operation in
            guard operation.kind == .read, operation.folder == folder else { return }
            reads.add(1, ordering: .relaxed)
        }
        let received = try await receiveAll(reader)
        #expect(received.future == [wrong.id: ahead])
        #expect(reads.load(ordering: .relaxed) == 13)
        #expect(reader.known.contiguous(right.id) == 12)
        #expect(reader.known.ranges(of: wrong.id) == [13...13])
        #expect(received.missing.isEmpty && received.faults.isEmpty)
        #expect(try await receiveAll(reader).future == [wrong.id: ahead])
        #expect(reads.load(ordering: .relaxed) == 13, "they are not read again")

        clock.advance(seconds: 2 * 86_400 + 1)
        let later = try await receiveAll(reader)
        #expect(reader.known.contiguous(wrong.id) == 13 && later.future.isEmpty)
        #expect(reads.load(ordering: .relaxed) == 25)
    }

    @Test func aSnapshotWithSuchStampsWaitsToo() async throws {
        let (reader, wrong) = (device(1), device(2))
        wrong.edit("a", at: clock.now + 3 * 86_400_000)
        try await wrong.send()
        try await wrong.exchange.write(wrong.snapshot())
        try await wrong.exchange.publish(wrong.hello())
        try await base.delete(FileName.segment(1).description, in: wrong.folder)
        let count = Atomic(0)
        reader.place.hook = { if $0.file?.hasPrefix("snapshot") == true { count.add(1, ordering: .relaxed) } }
        for _ in 0..<3 {
            let received = try await receiveAll(reader)
            #expect(received.snapshots.isEmpty && received.future.count == 1)
        }
        #expect(count.load(ordering: .relaxed) == 1)
        clock.advance(seconds: 3 * 86_400)
        #expect(try await receiveAll(reader).snapshots.count == 1)
    }

    @Test func theStateNamesTheDevice() async throws {
        let (kitchen, phone) = (try SyncingDevice("Kitchen", base), try SyncingDevice("Phone", base))
        // What existed before has no time.
        try await settle(phone, kitchen)
        phone.clock.advance(seconds: 3 * 86_400)
        try phone.save { _ in _ = phone.new("Item", ["name": "ahead"]) }
        try kitchen.save { _ in _ = kitchen.new("Item", ["name": "Milk"]) }
        for _ in 0..<2 { try await settle(phone, kitchen) }
        #expect(try kitchen.names("Item") == ["Milk"])
        #expect(kitchen.sync.state.troubles.count == 1)
        #expect(kitchen.sync.state.troubles.first?.contains("Phone") == true)
        kitchen.clock.advance(seconds: 3 * 86_400)
        try await settle(kitchen)
        #expect(try kitchen.names("Item") == ["Milk", "ahead"])
        #expect(kitchen.sync.state.troubles == [])
    }
}
