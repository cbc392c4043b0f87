import Foundation
import Synchronization

/// Makes and delivers messages one after the other, after the requests were answered.
final class DeliveryQueue: Sendable {
    /// Makes a message; `nil` if there is none to deliver.
    typealias Job = @Sendable () async throws -> AccountMessage?

    private struct State {
        var waiting: [Job] = []
        var isDelivering = false
        var finishers: [CheckedContinuation<Void, Never>] = []
    }

    /// So many messages wait at most; more are dropped, and their failure is recorded.
    private static let bound = 1000

    private let delivery: (any LinkDelivery)?
    private let failed: @Sendable () async -> Void
    /// Guards the messages and whether a task delivers them.
    private let state = Mutex(State())

    /// - Parameter failed: called for each message that could not be made or delivered.
    init(_ delivery: (any LinkDelivery)?, failed: @escaping @Sendable () async -> Void) {
        self.delivery = delivery
        self.failed = failed
    }

    /// Takes the message and returns at once.
    func add(_ message: AccountMessage?) {
        if let message { add { message } }
    }

    /// Takes the job and returns at once.
    func add(_ job: @escaping Job) {
        guard let delivery else { return }
        let (isTaken, begins) = state.withLock { state in
            guard state.waiting.count < Self.bound else { return (false, false) }
            state.waiting.append(job)
            defer { state.isDelivering = true }
            return (true, !state.isDelivering)
        }
        if !isTaken { Task { await failed() } }
        if begins { Task { await deliver(with: delivery) } }
    }

    /// Returns when no message waits.
    func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.isDelivering { state.finishers.append(continuation) }
                return !state.isDelivering
            }
            if isIdle { continuation.resume() }
        }
    }

    private func deliver(with delivery: any LinkDelivery) async {
        while let job = next() {
            do {
                if let message = try await job() { try await delivery.deliver(message) }
            } catch { await failed() }
        }
    }

    /// Takes the next job. Without one, the task ends, and with it the waiting of ``finish()``.
    private func next() -> Job? {
        let (job, finishers) = state.withLock { state in
            if !state.waiting.isEmpty {
                return (Job?.some(state.waiting.removeFirst()), [CheckedContinuation<Void, Never>]())
            }
            defer { (state.isDelivering, state.finishers) = (false, []) }
            return (nil, state.finishers)
        }
        for finisher in finishers { finisher.resume() }
        return job
    }
}
