import Synchronization

/// Observes every statement that a database runs, including transactions: for logging, and for tests that assert the
/// statements of an operation.
///
/// The methods are called on the thread that runs the statement, which waits for them.
package protocol SQLObserver: AnyObject, Sendable {
    /// Called before a statement's first step; throwing makes the statement fail with that error instead.
    func willRun(_ sql: String, bindings: [SQLValue]) throws

    /// Called after the run; `rows` is the number of returned or changed rows.
    func didRun(_ sql: String, duration: Duration, rows: Int)

    /// Called with one line about an event that is not a statement.
    func note(_ text: String)
}

extension SQLObserver {
    package func willRun(_ sql: String, bindings: [SQLValue]) throws {}
    package func didRun(_ sql: String, duration: Duration, rows: Int) {}
    package func note(_ text: String) {}
}

/// Records the statements that a database ran.
///
///     let recorder = SQLRecorder()
///     database.setObserver(recorder)
///     …
///     recorder.statements      // ["BEGIN IMMEDIATE", "UPDATE …", "COMMIT"]
package final class SQLRecorder: SQLObserver {
    package struct Run: Hashable, Sendable {
        package var sql: String
        package var bindings: [SQLValue]

        package init(sql: String, bindings: [SQLValue]) {
            self.sql = sql
            self.bindings = bindings
        }
    }

    /// Guards the list.
    private let list = Mutex<[Run]>([])
    /// Guards the notes.
    private let noted = Mutex<[String]>([])

    package init() {}

    package var runs: [Run] { list.withLock { $0 } }

    package var statements: [String] { runs.map(\.sql) }

    /// The statements that are not about transactions.
    package var work: [String] {
        statements.filter { !TransactionText.isOne($0) }
    }

    package var notes: [String] { noted.withLock { $0 } }

    package func removeAll() {
        list.withLock { $0.removeAll() }
        noted.withLock { $0.removeAll() }
    }

    package func note(_ text: String) { noted.withLock { $0.append(text) } }

    package func willRun(_ sql: String, bindings: [SQLValue]) throws {
        list.withLock { $0.append(Run(sql: sql, bindings: bindings)) }
    }
}

/// Makes the nth statement from now on fail, counted from 1. Tests use it to prove that a failure at any statement
/// leaves everything unchanged.
package final class SQLFaultInjector: SQLObserver {
    private struct State {
        var remaining: Int
        var hasFailed = false
    }

    private let failure: SQLFailure
    /// Guards the count.
    private let state: Mutex<State>

    package init(failingStatement number: Int, with failure: SQLFailure? = nil) {
        state = Mutex(State(remaining: number))
        self.failure = failure ?? SQLFailure(kind: .full, code: 13, message: "injected failure")
    }

    /// Whether the failing statement was reached.
    package var hasFailed: Bool { state.withLock { $0.hasFailed } }

    package func willRun(_ sql: String, bindings: [SQLValue]) throws {
        let fails = state.withLock { state in
            state.remaining -= 1
            guard state.remaining == 0 else { return false }
            state.hasFailed = true
            return true
        }
        if fails {
            var failure = failure
            failure.sql = sql
            throw failure
        }
    }
}
