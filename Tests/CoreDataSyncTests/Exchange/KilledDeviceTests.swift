import CoreDataDigests
import CoreDataSync
import CoreDataSyncEngine
import Foundation
import Synchronization
import TestSupport
import Testing

/// A device that dies at any call of the place loses nothing, and sends no number twice with other bytes.
@Suite struct KilledDeviceTests {
    private struct Killed: Error {}

    /// All that a device does with a place, from what it keeps.
    private func work(_ device: TestDevice) async throws {
        let sending = try await device.send()
        if let failure = sending.failure { throw failure }
        let received = try await device.receive()
        if let failure = received.failure { throw failure }
        try await device.exchange.publish(device.hello())
        try await device.exchange.write(device.snapshot())
        let own = try await device.exchange.ownFiles()
        let cleaning = try await device.exchange.delete(
            own.segments.filter { $0 < 3 }.map(FileName.segment) + own.snapshots.map(FileName.snapshot))
        if let failure = cleaning.failure { throw failure }
    }

    /// - Parameter call: the number of the call before which the device dies; `nil` for none.
    /// - Returns: the number of calls of the first run.
    private func run(_ call: Int?, answersAreLost: Bool) async throws -> Int {
        let (base, clock) = (MemoryPlace(), TestClock())
        let (other, device) = (TestDevice(2, base, clock: clock), TestDevice(1, base, clock: clock))
        for number in 1...3 { other.edit("other \(number)") }
        try await other.send()
        let photo = Data(repeating: 3, count: 20_000)
        for number in 1...3 { device.edit("\(number)", blob: number == 2 ? photo : nil) }

        let isDead = Atomic(false)
        device.place.hook = { operation in
            if operation.number == call { isDead.store(true, ordering: .relaxed) }
            if isDead.load(ordering: .relaxed) { throw Killed() }
        }
        if answersAreLost, let call {
            // The call is made, but the device dies before it has the answer.
            let place = device.place
            place.hook = { operation in
                if operation.number == call { place.faults.lostAnswers = 1 }
                if operation.number > call { throw Killed() }
            }
        }
        let isKilled: Bool
        do {
            try await work(device)
            isKilled = false
        } catch { isKilled = true }
        // A call of a listing or a reading has no answer to lose.
        #expect(isKilled || call == nil || answersAreLost, "call \(call ?? 0)")
        let count = device.place.count

        device.place.hook = nil
        device.place.heal()
        device.restart()
        clock.advance(seconds: 10)
        #expect(try await device.receive().strangeSegment == nil, "call \(call ?? 0)")
        try await work(device)
        #expect(device.outbox.isEmpty)
        for number in try await device.exchange.ownFiles().segments {
            let bytes = try await base.read(FileName.segment(number).description, in: device.folder)
            #expect(bytes == device.made[number], "call \(call ?? 0)")
        }

        while try await other.receive().hasMore {}
        #expect(other.known == device.known && other.states == device.states, "call \(call ?? 0)")
        #expect(try await other.exchange.blob(Digests.sha256(photo), of: device.id) == photo)
        let names = try await base.list(device.folder).filter { $0.hasPrefix("hello") || $0.hasPrefix("snapshot") }
        #expect(names.count == 2, "call \(call ?? 0): \(names)")
        return count
    }

    @Test(arguments: [false, true])
    func nothingIsLostWhereverADeviceDies(answersAreLost: Bool) async throws {
        let count = try await run(nil, answersAreLost: answersAreLost)
        #expect(count > 15)
        for call in 1...count { _ = try await run(call, answersAreLost: answersAreLost) }
    }
}
