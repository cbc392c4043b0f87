import CoreDataDigests
import CoreDataSync
import CoreDataSyncEngine
import CoreDataSyncSimulation
import Foundation
import Synchronization

/// A clock that a test sets.
final class TestClock: Sendable {
    private let time: Mutex<UInt64>
    init(_ time: UInt64 = 1_000_000_000) { self.time = Mutex(time) }
    var now: UInt64 { time.withLock { $0 } }
    func advance(seconds: UInt64) { time.withLock { $0 += seconds * 1000 } }
}

/// A device without a store: what it keeps survives `restart()`, its exchange does not.
final class TestDevice {
    let id: DeviceID
    let place: FaultyPlace
    let clock: TestClock
    private(set) var exchange: Exchange
    /// By which the place is sealed, over its faults.
    private let passphrase: String?
    private let limits: Exchange.Limits

    var outbox: [OutgoingSegment] = []
    /// The bytes of every segment that was ever made here.
    private(set) var made: [UInt64: Data] = [:]
    private(set) var lastSegment: UInt64 = 0
    var known = VersionVector()
    /// The segments and snapshots that were received.
    private(set) var kept: Set<FileKey> = []
    private(set) var states: [GlobalID: ObjectState] = [:]

    static func limits(_ change: (inout Exchange.Limits) -> Void = { _ in }) -> Exchange.Limits {
        var limits = Exchange.Limits()
        // Calls in one order, so that equal seeds make equal faults.
        limits.parallelReads = 1
        change(&limits)
        return limits
    }

    init(
        _ number: UInt64, _ base: any SyncPlace, clock: TestClock, seed: UInt64 = 1,
        _ faults: FaultyPlace.Faults = .none, limits: Exchange.Limits = TestDevice.limits(), passphrase: String? = nil
    ) {
        id = DeviceID(high: 0x1111_2222_3333_8444, low: 0x8000_0000_0000_0000 + number)
        place = FaultyPlace(base, seed: seed, faults)
        (self.clock, self.limits, self.passphrase) = (clock, limits, passphrase)
        exchange = Self.exchange(place, id, clock, limits, passphrase)
    }

    private static func exchange(
        _ place: FaultyPlace, _ id: DeviceID, _ clock: TestClock, _ limits: Exchange.Limits, _ passphrase: String?
    ) -> Exchange {
        let sealed = passphrase.map { SealedPlace(place, passphrase: $0, cost: .forTests) }
        return Exchange(place: sealed ?? place, device: id, limits: limits) { clock.now }
    }

    var folder: String { id.description }

    /// Begins anew with what is kept, as after a crash.
    func restart() {
        exchange = Self.exchange(place, id, clock, limits, passphrase)
    }

    /// Makes a segment with one object, puts it into the outbox, and returns it.
    ///
    /// - Parameter time: what the device's clock shows, in milliseconds.
    @discardableResult
    func edit(_ text: String = "", blob: Data? = nil, at time: UInt64 = 1) -> Segment {
        lastSegment += 1
        let stamp = Stamp(ticks: time << 16 + lastSegment, device: id)
        var state = ObjectState(id: GlobalID(high: id.low, low: lastSegment), entity: .init("Item", stamp))
        state.created = stamp
        state.properties["name"] = .last(stamp, .string(text))
        if let blob {
            state.properties["photo"] = .last(stamp, .blob(digest: Digests.sha256(blob), size: blob.count))
        }
        let segment = Segment(device: id, number: lastSegment, modelHash: Data([1]), seen: known, states: [state])
        states[state.id] = state
        known.insert(id, lastSegment)
        made[lastSegment] = segment.bytes
        outbox.append(OutgoingSegment(number: lastSegment, bytes: segment.bytes, blobs: blob.map { [$0] } ?? []))
        return segment
    }

    @discardableResult
    func send() async throws -> Sending {
        let sending = try await exchange.send(outbox)
        outbox.removeAll { sending.sent.contains($0.number) }
        return sending
    }

    @discardableResult
    func receive() async throws -> Received {
        let received = try await exchange.receive(known: known, lastSegment: lastSegment)
        known = received.known(known)
        for segment in received.segments {
            kept.insert(FileKey(segment.device, .segment(segment.number)))
            merge(segment.states)
        }
        for snapshot in received.snapshots {
            kept.insert(FileKey(snapshot.device, .snapshot(snapshot.number)))
            merge(snapshot.states)
        }
        return received
    }

    private func merge(_ parts: [ObjectState]) {
        for part in parts { states[part.id] = states[part.id].map { $0.merged(with: part) } ?? part }
    }

    func hello(lease: UInt64 = Hello.usualLease) -> Hello {
        Hello(
            device: id, name: "Device", number: 1, modelHash: Data([1]), seen: known, date: clock.now,
            storeName: "Store", leaseMilliseconds: lease)
    }

    func snapshot() -> Snapshot {
        Snapshot(
            device: id, number: 1, modelHash: Data([1]), contains: known,
            states: states.values.sorted { $0.id < $1.id })
    }
}
