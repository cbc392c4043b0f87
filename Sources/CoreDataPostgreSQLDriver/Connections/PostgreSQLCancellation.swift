import CPostgreSQL
import Foundation
import Synchronization

/// Cancels the statements that a session waits for, from any thread, and none that the session sends later.
///
/// The server cancels whatever the session runs when the request arrives. So the session sends nothing while a request is on its way:
///
/// ```
///  session   ── statement 1 ──▶ result ── settle() ──────────┬──▶ statement 2
///  request         └── on its way ──▶ the server has read it ┘
/// ```
/// A request has a connection and a thread of its own: it blocks neither its caller nor other connections if the server cannot be reached.
final class PostgreSQLCancellation: @unchecked Sendable {
    // Safe because libpq allows PQcancel from any thread, and the rest is atomic or guarded by the condition.

    /// The bits of ``state``.
    private enum Bit {
        /// The session waits for results.
        static let running: UInt8 = 1
        /// A request is on its way to the server.
        static let sent: UInt8 = 2
        /// A request was made for the results that the session waits for.
        static let meant: UInt8 = 4
    }

    private let handle: OpaquePointer?
    private let limit: Duration
    private let clock: PostgreSQLClock
    private let state = Atomic<UInt8>(0)
    /// Signalled when a request is no longer on its way.
    private let condition = NSCondition()

    /// - Parameters:
    ///   - connection: an open connection.
    ///   - limit: how long the session waits for a request that is on its way.
    ///   - clock: measures that.
    init(_ connection: OpaquePointer, limit: Duration, clock: PostgreSQLClock) {
        handle = PQgetCancel(connection)
        (self.limit, self.clock) = (limit, clock)
    }

    deinit { if let handle { PQfreeCancel(handle) } }

    /// Begins to wait for results, which a request may cancel from now on.
    func begin() { state.bitwiseOr(Bit.running, ordering: .acquiringAndReleasing) }

    /// Ends the wait for results: requests do nothing until the next one begins.
    func end() { state.bitwiseAnd(~(Bit.running | Bit.meant), ordering: .acquiringAndReleasing) }

    /// Whether a request was made for the results that the session waits for.
    var isMeant: Bool { state.load(ordering: .acquiring) & Bit.meant != 0 }

    /// Sends a request if the session waits for results and no other request is on its way; returns at once.
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
        // Safe because this object frees the handle, and the thread holds the object.
        nonisolated(unsafe) let handle = handle
        Thread.detachNewThread { [self] in
            var message = [CChar](repeating: 0, count: 256)
            // Returns once the server has signalled the session, or cannot be reached.
            PQcancel(handle, &message, Int32(message.count))
            condition.withLock {
                state.bitwiseAnd(~Bit.sent, ordering: .acquiringAndReleasing)
                condition.broadcast()
            }
        }
    }

    /// Waits until no request is on its way, for as long as the limit allows.
    ///
    /// - Returns: whether none is; the session must send nothing more if one still is.
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
