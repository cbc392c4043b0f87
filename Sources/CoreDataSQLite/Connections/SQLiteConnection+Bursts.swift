import CSQLite
import CoreDataSQL
import Foundation

/// Milliseconds of a clock that is cheap to read and may be a few of them behind.
enum Ticks {
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Reads that follow one another this fast belong together.
    static let burstGap: Int64 = 8
    /// After so many of them more are to be expected. To look after a transaction that stays open wakes a thread, which costs
    /// as much as dozens of transactions: a program that opens a store and fetches once is spared it.
    static let burstStart = 8
    /// How long a transaction may stay open between reads, and altogether.
    static let longestBurst = 100
}

// A burst: single statements that follow one another fast, as when faults fire one by one. They share a transaction, which
// stays open between them, because to begin and end one costs as much as to read a row.
//
// Each statement sees the newest state all the same: before it runs, the header of the log's index is compared with what
// it was when the transaction began, and a transaction that is behind is ended first. What an open transaction could hinder is
// that the log begins anew, so it never outlives a write of this database, nor a tenth of a second.
//
//  ```
//              in a burst, log unchanged while reading        next statement: log unchanged
//    closed ────────────────────────────────────────▶ open ────────────────────────────────▶ open
//       ▲                                              │ log changed, a write, sweep, 100 ms
//       └──────────────────────────────────────────────┘
//  ```
extension SQLiteConnection {
    /// What is known of the burst that the connection is in.
    struct Burst {
        /// When the connection was last lent, and the time between that and the loan before.
        var lastLoan: Int64 = 0
        var gap: Int64 = .max
        /// How many single statements have followed one another that fast.
        var count = 0
        /// Of the transaction that is open.
        var state: WriteAheadLogIndex.State?
        var start: Int64 = 0
    }

    var lastLoan: Int64 { burst.lastLoan }
    var hasOpenBurst: Bool { burst.state != nil }

    func noteLoan(at ticks: Int64) {
        burst.gap = ticks - burst.lastLoan
        burst.lastLoan = ticks
    }

    /// Counts the single statement for which the connection was lent; whether it is in a burst.
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

    /// Runs `body` on the newest state, in the transaction that is open or in one that may stay open.
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
        // The first statement has fixed what the transaction sees: that is this state if it has not changed meanwhile.
        staysOpen = index.state == before && sqlite3_get_autocommit(handle) == 0
        if staysOpen {
            burst.state = before
            burst.start = burst.lastLoan
        }
        return result
    }
}
