import Foundation
import Synchronization

/// The blocks of main contexts, which the main queue runs in their order.
///
/// While a block of the main queue turns the run loop, the main queue runs no other block, here as on Apple's
/// platforms. An `async` test of the main actor that waits for an `XCTestExpectation` by `wait(for:timeout:)` does so.
/// There a timer of the main run loop runs what the main queue cannot.
///
/// ```
///  block ──▶ main queue ──────────────────────────────▶ runs it
///       └──▶ timer of the main run loop, second firing ─▶ runs it, unless the main queue did
/// ```
/// A run loop that serves the main queue does that between two firings of the timer, so the timer changes no order.
final class MainQueueWork: Sendable {
    static let shared = MainQueueWork()
    private static let interval: TimeInterval = 0.02

    /// A block that is run once, by the main queue or by the timer.
    private final class Entry: @unchecked Sendable {
        // Safe because `ticks` is guarded by the lock of the work, and the block belongs to the caller of `run()` that
        // takes it.
        private var block: (@Sendable () -> Void)?
        private let taken = Atomic<Bool>(false)
        var ticks = 0

        init(_ block: @escaping @Sendable () -> Void) { self.block = block }

        var isTaken: Bool { taken.load(ordering: .acquiring) }

        func run() {
            guard !taken.exchange(true, ordering: .acquiringAndReleasing) else { return }
            let block = block
            self.block = nil
            block?()
        }
    }

    private struct State {
        /// Blocks that have not run, and blocks that the other queue has run already.
        var waiting: ArraySlice<Entry> = []
        /// Set once the main thread has used a main context.
        var timer: Transfer<Timer>?
        var isArmed = false

        mutating func forgetTaken() {
            while let first = waiting.first, first.isTaken { waiting.removeFirst() }
            if waiting.isEmpty { waiting = [] }
        }
    }

    /// Guards what waits, and the timer's next date.
    private let state = Mutex(State())
    private let isPrepared = Atomic<Bool>(false)

    /// Adds the timer to the main run loop, if the caller is on the main thread. After the main thread ended, as by
    /// `dispatchMain()`, nothing can be added, and nothing turns that run loop.
    func prepare() {
        guard Thread.isMainThread, !isPrepared.exchange(true, ordering: .acquiringAndReleasing) else { return }
        let timer = Timer(fire: .distantFuture, interval: Self.interval, repeats: true) { [self] _ in tick() }
        RunLoop.main.add(timer, forMode: .common)
        let made = Transfer(timer)
        state.withLock { $0.timer = made }
    }

    /// Runs the block on the main queue, after all that waits there.
    func async(_ block: @escaping @Sendable () -> Void) {
        prepare()
        let entry = Entry(block)
        let isKept = state.withLock { state in
            guard let timer = state.timer else { return false }
            state.waiting.append(entry)
            if !state.isArmed {
                state.isArmed = true
                timer.value.fireDate = Date(timeIntervalSinceNow: Self.interval)
            }
            return true
        }
        guard isKept else { return DispatchQueue.main.async(execute: block) }
        DispatchQueue.main.async { [self] in
            entry.run()
            state.withLock { $0.forgetTaken() }
        }
    }

    /// Runs the blocks that the main queue has not run since the last firing.
    private func tick() {
        let late = state.withLock { state in
            state.forgetTaken()
            for entry in state.waiting { entry.ticks += 1 }
            if state.waiting.isEmpty {
                state.isArmed = false
                state.timer?.value.fireDate = .distantFuture
            }
            return state.waiting.filter { $0.ticks > 1 }
        }
        for entry in late { entry.run() }
    }
}
