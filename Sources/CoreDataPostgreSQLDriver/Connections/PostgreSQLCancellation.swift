import CPostgreSQL
import Foundation
import Synchronization

/// Cancels the statements whose results a session is waiting for, from any thread, but no statements that it sends
/// later.
///
/// The server cancels whatever the session runs when the request arrives. So the session sends nothing while a request
/// is in flight:
///
/// ```
///  session   ── statement 1 ──▶ result ── settle() ─────────┬──▶ statement 2
///  request         └── in flight ──▶ the server has read it ┘
/// ```
/// A request uses its own connection and thread. So an unreachable server blocks neither the caller nor other
/// connections.
final class PostgreSQLCancellation: @unchecked Sendable {
    // Safe because libpq allows PQcancel from any thread, and the rest is atomic or guarded by the condition.

    /// The bits of ``state``.
    private enum Bit {
        /// The session waits for results.
        static let running: UInt8 = 1
        /// A request is in flight.
        static let sent: UInt8 = 2
        /// A request was made to cancel the current wait.
        static let meant: UInt8 = 4
    }

    private let handle: OpaquePointer?
    private let limit: Duration
    private let clock: PostgreSQLClock
    private let state = Atomic<UInt8>(0)
    /// Signalled when a request is no longer in flight.
    private let condition = NSCondition()

    /// - Parameters:
    ///   - connection: an open connection.
    ///   - limit: the maximum time that the session waits for a request in flight.
    ///   - clock: the clock for that limit.
    init(_ connection: OpaquePointer, limit: Duration, clock: PostgreSQLClock) {
        handle = PQgetCancel(connection)
        (self.limit, self.clock) = (limit, clock)
    }

    deinit { if let handle { PQfreeCancel(handle) } }

    /// Starts a wait for results, which requests may cancel from now on.
    func begin() { state.bitwiseOr(Bit.running, ordering: .acquiringAndReleasing) }

    /// Ends the wait for results: requests do nothing until the next one begins.
    func end() { state.bitwiseAnd(~(Bit.running | Bit.meant), ordering: .acquiringAndReleasing) }

    /// Whether a request was made to cancel the current wait.
    var isMeant: Bool { state.load(ordering: .acquiring) & Bit.meant != 0 }

    /// Sends a request if the session waits for results and no other request is in flight; returns at once.
    func request() {
        guard let handle else { return }
        var known = state.load(ordering: .acquiring)
        while known & (Bit.running | Bit.sent) == Bit.running {
            let (isExchanged, original) = state.compareExchange(
                expected: known, desired: known | Bit.sent | Bit.meant, ordering: .acquiringAndReleasing)
            if isExchanged { return send(handle) }
            known = original
        }
    }

    private func send(_ handle: OpaquePointer) {
        // Safe because this object frees the handle, and the thread retains the object.
        nonisolated(unsafe) let handle = handle
        Thread.detachNewThread { [self] in
            var message = [CChar](repeating: 0, count: 256)
            // Returns after the server has signalled the session, or cannot be reached.
            PQcancel(handle, &message, Int32(message.count))
            condition.withLock {
                state.bitwiseAnd(~Bit.sent, ordering: .acquiringAndReleasing)
                condition.broadcast()
            }
        }
    }

    /// Waits until no request is in flight, or until the limit.
    ///
    /// - Returns: whether no request is in flight; if one is, the session must not send anything more.
    func settle() -> Bool { state.load(ordering: .acquiring) & Bit.sent == 0 || waitForRequest() }

    private func waitForRequest() -> Bool {
        let deadline = clock.deadline(in: limit)
        return condition.withLock {
            while state.load(ordering: .acquiring) & Bit.sent != 0 {
                guard clock.wait(for: condition, until: deadline) else { return false }
            }
            return true
        }
    }
}
