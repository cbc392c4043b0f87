import CSQLite
import CoreDataSQL
import Foundation

/// The milliseconds of a coarse clock that is cheap to read and may be some milliseconds late.
enum Ticks {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// The maximum time between two reads of one burst.
    static let burstGap: Int64 = 8
    /// The number of reads after which a burst is assumed. The timer for an open transaction wakes a thread, which
    /// costs as much as dozens of transactions. A program that opens a store and fetches once avoids that.
    static let burstStart = 8
    /// The maximum time that a transaction stays open between reads, and in total.
    static let longestBurst = 100
}

// A burst: single statements in fast succession, for example when faults fire one by one. They share a transaction that
// stays open between them, because beginning and ending a transaction costs as much as reading a row.
//
// Each statement still sees the newest state. Before it runs, the header of the log's index is compared with its state
// when the transaction began; an outdated transaction is ended first. An open transaction can prevent a reset of the
// log, so it ends before each write of this database, and after at most a tenth of a second.
//
//  ```
//              in a burst, log unchanged while reading        next statement: log unchanged
//    closed ────────────────────────────────────────▶ open ────────────────────────────────▶ open
//       ▲                                              │ log changed, a write, sweep, 100 ms
//       └──────────────────────────────────────────────┘
//  ```
extension SQLiteConnection {
    /// The state of the connection's current burst.
    struct Burst {
        /// The time when the connection was last lent, and the time since the loan before.
        var lastLoan: Int64 = 0
        var gap: Int64 = .max
        /// The number of single statements in fast succession.
        var count = 0
        /// The log's state in the open transaction.
        var state: WriteAheadLogIndex.State?
        var start: Int64 = 0
    }

    var lastLoan: Int64 { burst.lastLoan }
    var hasOpenBurst: Bool { burst.state != nil }

    func noteLoan(at ticks: Int64) {
        burst.gap = ticks - burst.lastLoan
        burst.lastLoan = ticks
    }

    /// Counts the single statement for which the connection was lent; returns whether it belongs to a burst.
    func countsAsBurst() -> Bool {
        burst.count = burst.gap <= Ticks.burstGap ? burst.count + 1 : 0
        return burst.count >= Ticks.burstStart
    }

    func endBurst() {
        guard burst.state != nil else { return }
        burst.state = nil
        for statement in burstStatements { sqlite3_reset(statement.pointer) }
        endReading()
    }

    /// Runs `body` on the newest state, in the open transaction or in a new one that may stay open.
    func burstTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        guard let index = logIndex else { return try withoutTransaction(endsStatements: true, body) }
        if let state = burst.state, state != index.state || burst.lastLoan - burst.start > Ticks.longestBurst {
            endBurst()
        }
        if burst.state != nil {
            do {
                defer { resetStatements() }
                return try body(self)
            } catch {
                endBurst()
                throw error
            }
        }
        let before = index.state
        try begin(.beginDeferred)
        var staysOpen = false
        defer { if !staysOpen { endReading() } }
        let result = try body(self)
        resetStatements()
        // The first statement fixes the state that the transaction sees. If the log has not changed meanwhile, it is
        // this state.
        staysOpen = index.state == before && sqlite3_get_autocommit(handle) == 0
        if staysOpen {
            burst.state = before
            burst.start = burst.lastLoan
        }
        return result
    }
}
