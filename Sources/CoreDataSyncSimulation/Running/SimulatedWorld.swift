import CoreDataSync
import CoreDataSyncEngine
import Foundation
import Synchronization

/// What the devices of a simulation share: a place, the time, and random numbers.
final class SimulatedWorld: Sendable {
    let place = MemoryPlace()
    /// Where stores and backups are.
    let folder: URL

    private struct State {
        var milliseconds: UInt64 = 800_000_000_000
        var ahead: [Int: Int] = [:]
        /// The most that any clock was ahead.
        var greatest = 0
        var numbers: SimulationNumbers
    }

    /// Guards the time and the numbers.
    private let state: Mutex<State>

    init(seed: UInt64) throws {
        state = Mutex(State(numbers: SimulationNumbers(seed: seed, "identifiers")))
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("simulation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func advance(milliseconds: UInt64) { state.withLock { $0.milliseconds += milliseconds } }
    func advance(seconds: Int) { advance(milliseconds: UInt64(max(0, seconds)) * 1000) }

    /// Sets the clock of a device wrong; 0 corrects it.
    func set(_ device: Int, ahead seconds: Int) {
        state.withLock { state in
            state.ahead[device] = seconds
            state.greatest = max(state.greatest, seconds)
        }
    }

    /// Corrects all clocks, and lets the time pass until none of them was ahead.
    func correctClocks() {
        state.withLock { state in
            state.milliseconds += UInt64(state.greatest) * 1000
            state.ahead = [:]
        }
    }

    func now(of device: Int) -> Date {
        state.withLock { state in
            let offset = Int64(state.ahead[device, default: 0]) * 1000
            return SyncTime.date(UInt64(max(1, Int64(state.milliseconds) + offset)))
        }
    }

    /// The time of the stores, in seconds since 2001: no clock is wrong there.
    var time: Double { state.withLock { Double($0.milliseconds) / 1000 } }

    func random() -> UInt64 { state.withLock { $0.numbers.next() } }
}
