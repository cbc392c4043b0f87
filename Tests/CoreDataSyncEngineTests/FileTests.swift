import Foundation
import TestSupport
import Testing

@testable import CoreDataSyncEngine

/// Segments, snapshots and hellos as bytes.
@Suite struct FileTests {
    static let device = DeviceID(high: 1, low: 1)

    static func seen() -> VersionVector {
        var seen = VersionVector()
        seen.insert(device, 1...4)
        seen.insert(DeviceID(high: 2, low: 2), 7)
        return seen
    }

    static func segment(seed: UInt64, count: Int = 10) -> Segment {
        var random = RandomStates(seed: seed)
        var nilNames = NilNames()
        // Segments of older versions have none.
        if seed % 3 == 0 { (nilNames["Item"], nilNames["Other"]) = (["unit", "name", "only here"], []) }
        return Segment(
            device: device, number: 5, modelHash: Data([1, 2, 3]), seen: seen(),
            states: (0..<count).map { _ in random.state(random.numbers.pick(RandomStates.ids)) }, nilNames: nilNames)
    }

    static let hello = Hello(
        device: device, name: "Kitchen iPad", number: 3, modelHash: Data([1]), seen: seen(), date: 817_000_000_000,
        storeName: "Groceries.sqlite", left: true)

    @Test(arguments: Trials.seeds(20))
    func readsASegmentThatItWrote(seed: UInt64) throws {
        let segment = Self.segment(seed: seed, count: Int(seed) - 1)
        #expect(try Segment(bytes: segment.bytes) == segment)
        #expect(segment.bytes == segment.bytes)
    }

    @Test func equalSegmentsHaveEqualBytes() {
        // Dictionaries of equal content differ in their order.
        var (a, b) = (Self.segment(seed: 1, count: 0), Self.segment(seed: 1, count: 0))
        var random = RandomStates(seed: 9)
        for _ in 0..<20 {
            let state = random.state()
            var other = ObjectState(id: state.id, entity: state.entity)
            other.properties.reserveCapacity(200)
            other.edges.reserveCapacity(100)
            other.merge(state)
            a.states.append(state)
            b.states.append(other)
        }
        #expect(a == b)
        #expect(a.bytes == b.bytes)
    }

    @Test func readsASnapshotThatItWrote() throws {
        let segment = Self.segment(seed: 4)
        let snapshot = Snapshot(
            device: segment.device, number: 2, modelHash: segment.modelHash, contains: segment.seen,
            states: segment.states)
        #expect(try Snapshot(bytes: snapshot.bytes) == snapshot)
        let fault = #expect(throws: FileFault.self) { try Segment(bytes: snapshot.bytes) }
        #expect(fault?.kind == .malformed)
    }

    @Test func readsAHelloThatItWrote() throws {
        #expect(try Hello(bytes: Self.hello.bytes) == Self.hello)
    }

    @Test func leaseEndsAfterItsTimeAndWithAGoodbye() {
        var hello = Self.hello
        #expect(!hello.hasLease(now: hello.date))
        hello.left = false
        #expect(hello.hasLease(now: hello.date + Hello.usualLease))
        #expect(!hello.hasLease(now: hello.date + Hello.usualLease + 1))
        hello.date = .max
        #expect(hello.hasLease(now: .max))
    }

    @Test func tornForeignAndNewerFilesAreToldApart() {
        let bytes = Self.hello.bytes
        func kind(_ bytes: Data) -> FileFault.Kind? {
            do { _ = try Hello(bytes: bytes) } catch { return error.kind }
            return nil
        }
        #expect(kind(bytes) == nil)
        #expect(kind(Data()) == .torn)
        #expect(kind(bytes.dropLast()) == .torn)
        #expect(kind(bytes + [0]) == .torn)
        #expect(kind(Data("<html>404</html>".utf8)) == .foreign)
        var newer = ByteWriter()
        newer.raw(Array("OCDS".utf8) + [0x20, 1])
        newer.fixed64(3)
        newer.raw([1, 2, 3])
        newer.raw(Frame.digest(newer.bytes))
        #expect(kind(newer.asData) == .newerVersion)
    }

    @Test func fieldsOfANewerMinorVersionAreSkipped() throws {
        var reader = try Frame.open(.hello, Self.hello.bytes)
        var payload = ByteWriter()
        payload.raw([99, 2, 1, 1])
        payload.raw(try reader.raw(reader.remaining))
        #expect(try Hello(bytes: Frame.seal(.hello, payload.bytes)) == Self.hello)
        payload.raw([99, 0])
        #expect(throws: FileFault.self) { try Hello(bytes: Frame.seal(.hello, payload.bytes)) }
    }

    @Test(arguments: [
        ("hello-0000000000000003", FileName.hello(3)), ("segment-0000000000000012", .segment(12)),
        ("snapshot-9999999999999999", .snapshot(FileName.greatestNumber)),
        ("blob-" + String(repeating: "0a", count: 32), .blob(Data(repeating: 10, count: 32))),
        ("model-" + String(repeating: "ff", count: 32), .model(Data(repeating: 255, count: 32))),
    ])
    func printsAndParsesNames(text: String, name: FileName) {
        #expect(FileName(text) == name)
        #expect(name.description == text)
    }

    @Test(arguments: [
        "", "-", "hello", "hello-", "hello-3", "hello-0000000000000000", "hello-00000000000000003", "segment-٣",
        "segment-+000000000000003", ".segment-0000000000000003", "segment-0000000000000003.tmp", "blob-0a",
        "blob-" + String(repeating: "0A", count: 32), "other-0000000000000003", "hello-é", "segment-٣٣٣٣٣٣٣٣",
    ])
    func otherNamesAreNone(text: String) {
        #expect(FileName(text) == nil)
    }
}
