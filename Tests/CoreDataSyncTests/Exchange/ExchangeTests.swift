import CoreDataDigests
import CoreDataSyncEngine
import Foundation
import Testing

@testable import CoreDataSync

/// What one device sends arrives at another one, whatever else is in the place.
@Suite struct ExchangeTests {
    private let base = MemoryPlace()
    private let clock = TestClock()
    private func device(_ number: UInt64, _ change: (inout Exchange.Limits) -> Void = { _ in }) -> TestDevice {
        TestDevice(number, base, clock: clock, limits: TestDevice.limits(change))
    }

    @Test func segmentsArriveOnce() async throws {
        let (a, b) = (device(1), device(2))
        let segments = (1...3).map { a.edit("\($0)") }
        #expect(try await a.send().sent == [1, 2, 3])
        let received = try await b.receive()
        // Of what the writer had received, a reader keeps what is said of itself.
        let expected = segments.map { segment in
            var part = segment
            part.seen = segment.seen.part(of: b.id)
            return part
        }
        #expect(received.segments == expected)
        #expect(received.missing.isEmpty && received.faults.isEmpty && !received.hasMore)
        #expect(try await b.receive().segments.isEmpty)
        #expect(try await a.receive().segments.isEmpty, "its own are known")
        a.edit()
        try await a.send()
        #expect(try await b.receive().segments.map(\.number) == [4])
    }

    @Test func whatThePlaceHasAlreadyCountsAsSent() async throws {
        let a = device(1)
        a.edit()
        a.edit()
        let outbox = a.outbox
        try await a.send()
        a.restart()
        let sending = try await a.exchange.send(outbox)
        #expect(sending.sent == [1, 2] && sending.taken == nil && sending.waiting == [] && sending.failure == nil)
    }

    @Test func aCopyOfADeviceIsToldAndSendsNoMore() async throws {
        let (a, copy) = (device(1), device(1))
        a.edit("mine")
        copy.edit("the copy's")
        copy.edit("more of the copy's")
        try await a.send()
        let sending = try await copy.send()
        #expect(sending.taken == 1 && sending.sent == [])
        #expect(try await base.list(a.folder) == ["segment-0000000000000001"])
        #expect(try await base.read("segment-0000000000000001", in: a.folder) == a.made[1])
    }

    @Test func aRestoredDeviceSeesTheNumbersThatItDoesNotKnow() async throws {
        let (a, restored) = (device(1), device(1))
        for _ in 0..<2 { a.edit() }
        try await a.send()
        restored.edit()
        #expect(try await restored.receive().strangeSegment == 2)
        #expect(try await a.receive().strangeSegment == nil)
    }

    @Test func aDamagedFileUnderTheOwnIDIsNoProof() async throws {
        let (a, b) = (device(1), device(2))
        let whole = Segment(device: a.id, number: 1, modelHash: Data(), seen: VersionVector(), states: []).bytes
        _ = try await base.create("segment-0000000000000001", in: a.folder, whole.dropLast(7))
        #expect(try await a.receive().strangeSegment == nil)
        b.edit()
        let other = try #require(b.made[1])
        _ = try await base.create("segment-0000000000000002", in: a.folder, other)
        #expect(try await a.receive().strangeSegment == nil, "another device's segment under this name")
    }

    @Test func filesOfOthersAreIgnoredOrNamed() async throws {
        let (a, b, c) = (device(0xA), device(2), device(3))
        a.edit()
        try await a.send()
        let bytes = try #require(a.made[1])
        for (folder, name) in [
            (a.folder.uppercased(), "segment-0000000000000001"), ("lost-and-found", "segment-0000000000000001"),
            (a.folder, "segment-1"), (a.folder, "segment-0000000000000001.sync-conflict-1"), (a.folder, "journal-1"),
            // Under the name of another number, and in the folder of another device.
            (a.folder, "segment-0000000000000007"), (c.folder, "segment-0000000000000001"),
        ] {
            #expect(try await base.create(name, in: folder, bytes))
        }
        let received = try await b.receive()
        #expect(received.segments.map(\.number) == [1])
        #expect(received.faults.map(\.key) == [FileKey(c.id, .segment(1)), FileKey(a.id, .segment(7))])
        #expect(received.faults.allSatisfy { $0.fault.kind == .foreign })
        #expect(received.faults.last?.description.contains("“segment-0000000000000007”") == true)
    }

    @Test func portionsAreBoundedAndNoDeviceWaits() async throws {
        let text = String(repeating: "x", count: 2000)
        let (a, b, c) = (device(1), device(2) { $0.portionBytes = 10_000 }, device(3))
        for _ in 0..<20 { a.edit(text) }
        c.edit(text)
        try await a.send()
        try await c.send()
        let first = try await b.receive()
        #expect(first.hasMore && (4...6).contains(first.segments.count))
        #expect(first.segments.contains { $0.device == c.id })
        #expect(first.missing.isEmpty, "a segment that is not read yet is not missing")
        var portions = 1
        while try await b.receive().hasMore { portions += 1 }
        #expect((4...5).contains(portions))
        #expect(b.known.contiguous(a.id) == 20 && b.known.contiguous(c.id) == 1)
    }

    @Test func manyFilesAreReadAtTheSameTime() async throws {
        let (a, b) = (device(1), device(2) { $0.parallelReads = 8 })
        for number in 0..<30 { a.edit("\(number)") }
        try await a.send()
        #expect(try await b.receive().segments.count == 30)
    }

    // MARK: - Large values

    @Test func largeValuesArriveBeforeTheirSegmentsAndAreRead() async throws {
        let (a, b) = (device(1), device(2))
        let photo = Data(repeating: 7, count: 20_000)
        let digest = Digests.sha256(photo)
        a.edit("with a photo", blob: photo)
        a.place.hook = { operation in
            if operation.kind == .create, operation.file?.hasPrefix("segment") == true { throw CancellationError() }
        }
        await #expect(throws: CancellationError.self) { _ = try await a.send() }
        #expect(try await base.list(a.folder) == [FileName.blob(digest).description])
        a.place.hook = nil
        try await a.send()
        try await b.receive()
        #expect(try await b.exchange.blob(digest, of: a.id) == photo)
        #expect(try await b.exchange.blob(Digests.sha256(Data()), of: a.id) == nil)
    }

    @Test func aDamagedLargeValueIsReadFromAnotherDevice() async throws {
        let (a, b, c) = (device(1), device(2), device(3))
        let photo = Data(repeating: 7, count: 20_000)
        let name = FileName.blob(Digests.sha256(photo)).description
        _ = try await base.create(name, in: a.folder, photo.dropLast())
        try await b.receive()
        #expect(try await b.exchange.blob(Digests.sha256(photo), of: a.id) == nil)
        _ = try await base.create(name, in: c.folder, photo)
        #expect(try await b.receive().faults.map(\.key.device) == [a.id])
        #expect(try await b.exchange.blob(Digests.sha256(photo), of: a.id) == photo)
    }

    @Test func modelsAreReadByTheirHash() async throws {
        let (a, b) = (device(1), device(2))
        let model = ModelOutline([.init("Item", properties: [.init("name", .attribute(type: "string", merge: "last"))])]
        )
        let other = ModelOutline([])
        #expect(try await a.exchange.send(model) == .sent)
        #expect(try await a.exchange.send(model) == .sent)
        _ = try await base.create(other.name.description, in: a.folder, model.bytes)
        #expect(try await b.exchange.model(model.hash, of: a.id) == model)
        #expect(try await b.exchange.model(other.hash, of: a.id) == nil)
        #expect(try await b.receive().faults.map(\.fault.kind) == [.foreign])
    }

    // MARK: - Hello

    @Test func aHelloReplacesTheOneBefore() async throws {
        let (a, b) = (device(1), device(2))
        #expect(try await a.exchange.publish(a.hello()) == 1)
        a.edit()
        #expect(try await a.exchange.publish(a.hello()) == 2)
        a.restart()
        #expect(try await a.exchange.publish(a.hello()) == 3)
        #expect(try await base.list(a.folder) == ["hello-0000000000000003"])
        let hello = try #require(try await b.receive().hellos.first)
        #expect(hello.device == a.id && hello.number == 3 && hello.seen == a.known)
    }

    @Test func anOlderHelloIsReadWhereTheNewestIsDamaged() async throws {
        let (a, b) = (device(1), device(2))
        try await a.exchange.publish(a.hello())
        _ = try await base.create("hello-0000000000000002", in: a.folder, Data("OCDS".utf8))
        let received = try await b.receive()
        #expect(received.hellos.map(\.number) == [1])
        #expect(received.faults.map(\.key.file) == [.hello(2)])
        #expect(try await a.exchange.publish(a.hello()) == 3)
        #expect(try await b.receive().hellos.map(\.number) == [3])
    }

    @Test func leavingAndSilentDevicesHaveNoLease() async throws {
        let (a, b, c) = (device(1), device(2), device(3))
        try await a.exchange.publish(a.hello(lease: 10_000))
        try await c.exchange.leave(c.hello())
        #expect(try await b.receive().devicesWithoutLease(now: clock.now) == [c.id])
        clock.advance(seconds: 11)
        #expect(try await b.receive().devicesWithoutLease(now: clock.now) == [a.id, c.id])
    }
}
