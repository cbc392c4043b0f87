import Foundation
import Synchronization

/// Lets requests wait until the files of a group, or of an account's devices, change.
///
/// A change of this process wakes them at once. For those of other processes on the same store the revision is read
/// from time to time.
package final class PlaceWatcher: Sendable {
    private struct State {
        var nextID = 0
        var waiting: [UUID: [Int: CheckedContinuation<Void, Never>]] = [:]
    }

    /// Guards the requests that wait.
    private let state = Mutex(State())
    private let interval: Duration
    private let patience: Duration

    /// - Parameters:
    ///   - interval: the time between two looks at the store.
    ///   - patience: the longest time that a request waits: shorter than the silence that proxies accept.
    package init(interval: Duration = .seconds(1), patience: Duration = .seconds(25)) {
        (self.interval, self.patience) = (interval, patience)
    }

    /// Wakes the requests that wait for a group.
    package func announce(_ group: UUID) {
        let waiting = state.withLock { $0.waiting.removeValue(forKey: group) }
        waiting?.values.forEach { $0.resume() }
    }

    /// Returns the revision of a group's files: at once if it is another one than `known`, else after the next change,
    /// or after some time.
    func revision(
        of group: UUID, after known: Int64, _ read: @Sendable () async throws -> Int64
    ) async throws -> Int64 {
        let end = ContinuousClock.now + patience
        while true {
            let revision = try await read()
            if revision != known || ContinuousClock.now >= end { return revision }
            await wait(for: group)
            if Task.isCancelled { return revision }
        }
    }

    /// Returns after the next announcement, after the interval, or when the task is cancelled.
    private func wait(for group: UUID) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let interval = interval
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isCancelled = state.withLock { state in
                    if Task.isCancelled { return true }
                    state.waiting[group, default: [:]][id] = continuation
                    return false
                }
                if isCancelled { return continuation.resume() }
                // Begun only now: before, it could end without anything to wake.
                Task { [self] in
                    try? await Task.sleep(for: interval)
                    stopWaiting(id, group)
                }
            }
        } onCancel: {
            stopWaiting(id, group)
        }
    }

    private func stopWaiting(_ id: Int, _ group: UUID) {
        let continuation = state.withLock { state in
            let continuation = state.waiting[group]?.removeValue(forKey: id)
            if state.waiting[group]?.isEmpty == true { state.waiting[group] = nil }
            return continuation
        }
        continuation?.resume()
    }
}
