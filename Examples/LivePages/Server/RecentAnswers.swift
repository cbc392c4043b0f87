/// Keeps what forms that add something were answered, so that a form that is sent twice adds once.
///
/// A page puts a random key into such a form, see ``Page/once``. A second tap, or a browser that sends the form again after it lost the
/// answer, sends the same key and the same fields, and gets the first answer. An answer that is a page, as for a field with a
/// problem, is not kept: nothing was added.
@MainActor package final class RecentAnswers {
    private struct Request: Hashable {
        /// The browser's, so that no browser gets the answers of another.
        let token: String
        let path: String
        /// With the key. A form that was changed after a Back is another one.
        let fields: [String: String]
    }

    private static let most = 200
    private static let age = Duration.seconds(600)

    private var answers: [Request: Task<Reply, any Error>] = [:]
    /// The oldest first.
    private var order: [(request: Request, time: ContinuousClock.Instant)] = []

    /// The answer of the handler, or that which it gave to the same form before.
    func reply(to visit: Visit, _ handler: @escaping Desk.Handler) async throws -> Reply {
        guard let key = visit.form["once"], Secret.isOne(key) else { return try await handler(visit) }
        let request = Request(token: visit.token, path: visit.path, fields: visit.form.texts)
        forgetOld()
        if let task = answers[request] { return try await task.value }
        let task = Task { try await handler(visit) }
        answers[request] = task
        order.append((request, .now))
        do {
            let reply = try await task.value
            if case .redirect(_, let flash) = reply, flash?.kind != .problem { return reply }
            answers[request] = nil
            return reply
        } catch {
            answers[request] = nil
            throw error
        }
    }

    /// Forgets all: what was undone can be added anew by the same form.
    func forgetAll() {
        answers = [:]
        order = []
    }

    private func forgetOld() {
        while let oldest = order.first, order.count >= Self.most || oldest.time < .now - Self.age {
            answers[oldest.request] = nil
            order.removeFirst()
        }
    }
}
