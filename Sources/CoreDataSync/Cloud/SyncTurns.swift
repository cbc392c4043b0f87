import Foundation

/// Lets one synchronisation of a store's file run at a time: the next one waits until the one before has ended.
actor SyncTurns {
    static let shared = SyncTurns()

    /// By file, who waits; a file without a turn is not in it.
    private var waiting: [String: [(number: Int, resume: CheckedContinuation<Bool, Never>)]] = [:]
    private var last = 0

    /// Waits for the file.
    ///
    /// - Returns: whether the caller has it now, and must call ``release(_:)``; `false` if its task was cancelled.
    func take(_ file: String) async -> Bool {
        if Task.isCancelled { return false }
        guard waiting[file] != nil else {
            waiting[file] = []
            return true
        }
        last += 1
        let number = last
        return await withTaskCancellationHandler {
            await withCheckedContinuation { resume in
                if Task.isCancelled { resume.resume(returning: false) } else { waiting[file]?.append((number, resume)) }
            }
        } onCancel: {
            Task { await self.giveUp(number, file) }
        }
    }

    private func giveUp(_ number: Int, _ file: String) {
        guard let index = waiting[file]?.firstIndex(where: { $0.number == number }) else { return }
        waiting[file]?.remove(at: index).resume.resume(returning: false)
    }

    /// Hands the file to the one that has waited longest.
    func release(_ file: String) {
        guard var others = waiting[file] else { return }
        if others.isEmpty {
            waiting[file] = nil
        } else {
            let next = others.removeFirst()
            waiting[file] = others
            next.resume.resume(returning: true)
        }
    }
}
