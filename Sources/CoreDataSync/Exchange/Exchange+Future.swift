import CoreDataSyncEngine
import Foundation

/// Files of devices whose clocks are wrong.
extension Exchange {
    /// Whether a file that was read once waits for the time of its stamps.
    ///
    /// It is not read again until then: such files would fill each portion anew.
    func isFuture(_ key: FileKey, now: UInt64) -> Bool {
        future[key].map { $0 > now &+ HybridClock.tolerance } ?? false
    }

    /// Notes a file with a stamp more than a day ahead of this device's clock: all later writes here would follow it.
    ///
    /// - Returns: whether the file waits.
    func isPostponed(_ key: FileKey, _ states: [ObjectState], now: UInt64) -> Bool {
        future[key] = states.lazy.compactMap(\.lastStamp).max()?.milliseconds
        if isFuture(key, now: now) { return true }
        future[key] = nil
        return false
    }

    /// The latest time in the files that wait, by device; forgets files that are gone or that wait no more.
    func futures(_ files: [DeviceID: DeviceFiles], now: UInt64) -> [DeviceID: UInt64] {
        future = future.filter { isFuture($0.key, now: now) && files[$0.key.device]?.contains($0.key.file) ?? false }
        return future.reduce(into: [:]) { times, entry in
            times[entry.key.device] = max(times[entry.key.device] ?? 0, entry.value)
        }
    }
}

extension ObjectState {
    /// The latest stamp in the state.
    package var lastStamp: Stamp? {
        let edges = edges.values.lazy.flatMap { [$0.added, $0.removed].compactMap { $0 } }.max()
        return [created, deleted, properties.values.lazy.map(\.stamp).max(), edges].compactMap { $0 }.max()
    }
}
