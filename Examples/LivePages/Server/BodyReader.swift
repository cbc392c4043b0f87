import Foundation
import Hummingbird
import Synchronization

/// Reads what a form sends: bounded in length and in time, and not more than its beginning before it is known whether it is admitted.
struct BodyReader: Sendable {
    enum Outcome: Sendable {
        case whole(ByteBuffer)
        /// It is not admitted.
        case refused
        case tooLong
        /// It ended before its end.
        case cutOff
        /// It took too long.
        case late
    }

    /// After how many bytes it is known whether a form is admitted.
    static let beginning = 64 * 1024
    /// How much of what is refused is read all the same, and for how long: a browser that is refused while it sends does not read why.
    static let mostDiscarded = 128 * 1024 * 1024
    private static let discarding = Duration.seconds(3)

    /// How many bytes the request says that it has.
    let length: Int?
    let limit: Int
    let time: Duration
    /// Whether a form with that beginning is admitted; asked once.
    let admits: @Sendable (ByteBuffer) -> Bool
    /// Why nothing of it is kept, where that is known before.
    var refusal: Outcome?

    /// Reads what is refused, so that the browser reads why.
    static func discard(_ body: RequestBody) async throws {
        let reader = BodyReader(length: nil, limit: 0, time: discarding, admits: { _ in false }, refusal: .refused)
        _ = try await reader.read(body)
    }

    /// When the reading ends, and why nothing is kept.
    private final class Progress: Sendable {
        private struct State {
            var end: ContinuousClock.Instant
            var refusal: Outcome?
        }

        private let state: Mutex<State>

        init(_ time: Duration) { state = Mutex(State(end: .now + time)) }

        var refusal: Outcome? { state.withLock { $0.refusal } }
        var isOver: Bool { state.withLock { $0.end < .now } }

        func refuse(_ outcome: Outcome) {
            state.withLock { state in
                state.refusal = outcome
                state.end = min(state.end, .now + BodyReader.discarding)
            }
        }
    }

    func read(_ body: RequestBody) async throws -> Outcome {
        let progress = Progress(time)
        if let refusal { progress.refuse(refusal) }
        return try await withThrowingTaskGroup(of: Outcome.self) { group in
            group.addTask { try await read(body, progress) }
            group.addTask {
                while !progress.isOver { try await Task.sleep(for: .milliseconds(250)) }
                return progress.refusal ?? .late
            }
            defer { group.cancelAll() }
            return try await group.next() ?? .late
        }
    }

    private func read(_ body: RequestBody, _ progress: Progress) async throws -> Outcome {
        do { return try await pieces(of: body, progress) } catch is CancellationError {
            throw CancellationError()
        } catch {
            // The connection has ended in the middle of it.
            return progress.refusal ?? .cutOff
        }
    }

    private func pieces(of body: RequestBody, _ progress: Progress) async throws -> Outcome {
        var all = ByteBuffer()
        var count = 0
        var isAdmitted = false
        for try await piece in body {
            count += piece.readableBytes
            if let refusal = progress.refusal {
                if count > Self.mostDiscarded { return refusal }
                continue
            }
            all.writeImmutableBuffer(piece)
            if all.readableBytes > limit {
                progress.refuse(.tooLong)
            } else if !isAdmitted, all.readableBytes >= Self.beginning {
                isAdmitted = admits(all)
                if !isAdmitted { progress.refuse(.refused) }
            }
            if progress.refusal != nil { all = ByteBuffer() }
        }
        if let refusal = progress.refusal { return refusal }
        // A connection that is closed ends what is read as if it were all.
        try Task.checkCancellation()
        if let length, count < length { return .cutOff }
        return isAdmitted || admits(all) ? .whole(all) : .refused
    }
}
