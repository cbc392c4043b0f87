/// The opening of a store that takes its time: how far it is, cancelled, begun anew.
@MainActor package final class Opening {
    package enum State: Equatable {
        case running
        case cancelled
        /// The server's log has the reason.
        case failed
        case done
    }

    package private(set) var state = State.running
    /// From 0 to 1.
    package private(set) var progress = 0.0
    private let open: @MainActor (@escaping @Sendable (Double) -> Void) async throws -> Void
    private var task: Task<Void, Never>?

    package init(_ open: @escaping @MainActor (@escaping @Sendable (Double) -> Void) async throws -> Void) {
        self.open = open
    }

    package func begin() {
        guard task == nil else { return }
        state = .running
        progress = 0
        task = Task {
            do {
                try await open { fraction in Task { @MainActor in self.progress = max(self.progress, fraction) } }
                state = .done
            } catch { state = Task.isCancelled ? .cancelled : .failed }
            task = nil
        }
    }

    /// Ends it; the store stays as it was.
    package func cancel() { task?.cancel() }
}
