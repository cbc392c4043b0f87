import Synchronization

/// What a stand-in answers instead of doing its work, and which of its answers are lost.
package final class StandInFaults: Sendable {
    fileprivate struct State {
        var answers: [String: (answer: LoopbackServer.Answer, left: Int)] = [:]
        var lost: [String: Int] = [:]
    }

    /// Guards what goes wrong.
    private let state = Mutex(State())

    package init() {}

    /// Has requests answered so from now on.
    ///
    /// - Parameters:
    ///   - method: `nil` for all.
    ///   - times: for how many requests.
    package func set(_ method: String?, _ answer: LoopbackServer.Answer?, times: Int = .max) {
        state.withLock { $0.answers[method ?? ""] = answer.map { ($0, times) } }
    }

    /// Has the next requests of a method carried out, and their answers lost.
    package func loseAnswers(_ method: String, times: Int = 1) { state.withLock { $0.lost[method] = times } }

    func answer(
        _ request: LoopbackServer.Request, _ work: () -> LoopbackServer.Answer
    ) -> LoopbackServer.Answer {
        if let answer = state.withLock({ $0.take(request.method) }) { return answer }
        var answer = work()
        answer.isLost = state.withLock { state in
            guard let left = state.lost[request.method], left > 0 else { return false }
            state.lost[request.method] = left - 1
            return true
        }
        return answer
    }
}

extension StandInFaults.State {
    mutating func take(_ method: String) -> LoopbackServer.Answer? {
        for key in ["", method] {
            guard let (answer, left) = answers[key], left > 0 else { continue }
            answers[key] = (answer, left - 1)
            return answer
        }
        return nil
    }
}
