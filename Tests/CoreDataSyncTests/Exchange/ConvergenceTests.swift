import CoreDataSync
import CoreDataSyncEngine
import Foundation
import TestSupport
import Testing

/// Devices that send, receive, purge and crash at random over an unreliable place know the same in the end.
@Suite struct ConvergenceTests {
    @Test(arguments: Trials.seeds(40))
    func devicesKnowTheSameInTheEnd(seed: UInt64) async throws {
        let base = MemoryPlace()
        try await run(seed, base, devices: seed % 2 == 0 ? 2 : 3, steps: 120)
    }

    @Test(arguments: Trials.seeds(4))
    func devicesKnowTheSameInTheEndOverAFolder(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        try await run(seed, FolderPlace(folder.url), devices: 3, steps: 40)
        let partial = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).filter { $0.contains("/.") }
        #expect(partial == [])
    }

    @Test(arguments: Trials.seeds(8))
    func devicesKnowTheSameInTheEndOverASealedPlace(seed: UInt64) async throws {
        let base = MemoryPlace()
        try await run(seed, base, devices: 3, steps: 80, passphrase: "p")
        #expect(try await base.list("sealed").isEmpty == false)
    }

    private func run(
        _ seed: UInt64, _ base: any SyncPlace, devices count: UInt64, steps: Int, passphrase: String? = nil
    ) async throws {
        var numbers = SeededNumbers(seed: seed)
        let clock = TestClock()
        let devices = (1...count).map { number in
            TestDevice(
                number, base, clock: clock, seed: seed &* 31 &+ number, .rough,
                limits: TestDevice.limits { $0.portionBytes = 4096 }, passphrase: passphrase)
        }
        for _ in 0..<steps {
            try await step(numbers.pick(devices), &numbers)
            clock.advance(seconds: UInt64(numbers.below(20)))
        }
        for device in devices { device.place.heal() }
        // Every file that failed is read again within an hour.
        for _ in 0..<4 {
            for device in devices {
                #expect(try await device.send().taken == nil, "seed \(seed)")
                try await device.exchange.publish(device.hello())
            }
            clock.advance(seconds: 3600)
            for device in devices { while try await device.receive().hasMore {} }
        }
        for device in devices {
            #expect(device.outbox.isEmpty, "seed \(seed)")
            #expect(device.known == devices[0].known, "seed \(seed)")
            #expect(device.states == devices[0].states, "seed \(seed)")
            let received = try await device.receive()
            #expect(
                received.missing.isEmpty && received.faults.isEmpty && received.strangeSegment == nil, "seed \(seed)")
            for number in try await device.exchange.ownFiles().segments {
                let bytes = try await device.exchange.place.read(
                    FileName.segment(number).description, in: device.folder)
                #expect(bytes == device.made[number], "seed \(seed)")
            }
        }
        #expect(devices.allSatisfy { $0.known.contiguous($0.id) == $0.lastSegment }, "seed \(seed)")
    }

    private func step(_ device: TestDevice, _ numbers: inout SeededNumbers) async throws {
        switch numbers.below(16) {
        case 0..<4: device.edit("\(numbers.next())")
        case 4..<8: #expect(try await device.send().taken == nil)
        case 8..<12: _ = try? await device.receive()
        case 12: _ = try? await device.exchange.publish(device.hello())
        case 13: _ = try? await device.exchange.write(device.snapshot())
        case 14:
            guard let own = try? await device.exchange.ownFiles() else { return }
            let files = own.segments.map(FileName.segment) + own.snapshots.map(FileName.snapshot)
            _ = try? await device.exchange.delete(files)
        default: device.restart()
        }
    }
}
