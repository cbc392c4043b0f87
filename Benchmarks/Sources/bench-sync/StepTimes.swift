import CoreDataSync
import Measuring
import Synchronization

/// The processor time at which each step of an exchange began.
final class StepTimes: Sendable {
    private struct State {
        var steps: [(step: SyncProgress.Step, time: Double)] = []
        var files = 0
        var start = Machine.processorTime
        var end = 0.0
    }

    private let state = Mutex(State())

    func note(_ progress: SyncProgress) {
        state.withLock { state in
            state.steps.append((progress.step, Machine.processorTime))
            if progress.step == .sending, let total = progress.total { state.files = max(state.files, total) }
        }
    }

    func end() { state.withLock { $0.end = Machine.processorTime } }

    /// Seconds of the whole exchange.
    var total: Double { state.withLock { $0.end - $0.start } }

    /// The number of files that were sent.
    var files: Int { state.withLock { $0.files } }

    /// Seconds that all steps of a kind took together, each until the next step began.
    func seconds(_ step: SyncProgress.Step) -> Double {
        state.withLock { state in
            let ends = state.steps.dropFirst().map(\.time) + [state.end]
            return zip(state.steps, ends).reduce(0) { $1.0.step == step ? $0 + $1.1 - $1.0.time : $0 }
        }
    }
}
