import CoreDataSQL
import CoreDataStore
import Foundation
import Synchronization

@testable import CoreData

extension LibraryStack {
    /// What the first store's statements run on.
    var database: any SQLDatabase {
        guard let engine = coordinator.attachedStores[0].source as? StoreEngine else {
            preconditionFailure("the store is no database")
        }
        return engine.database
    }

    /// The statements that `body` makes the store run, transactions aside.
    func statements(_ body: () throws -> Void) rethrows -> [String] {
        let recorder = SQLRecorder()
        database.setObserver(recorder)
        defer { database.setObserver(nil) }
        try body()
        return recorder.work
    }

    /// Runs `body` with the nth statement failing. The end of a reader's transaction does not count: what was
    /// read by then is good, whether or not it ends well.
    func failing(statement number: Int, _ body: () throws -> Void) -> (didFail: Bool, error: (any Error)?) {
        let failure = NthStatementFailure(number)
        database.setObserver(failure)
        defer { database.setObserver(nil) }
        do {
            try body()
            return (failure.didFail, nil)
        } catch { return (failure.didFail, error) }
    }
}

/// Makes the nth statement fail; the end of a reader's transaction does not count.
final class NthStatementFailure: SQLObserver {
    private struct State {
        var remaining: Int
        var isReading = false
        var didFail = false
    }

    private let state: Mutex<State>

    init(_ number: Int) { state = Mutex(State(remaining: number)) }

    var didFail: Bool { state.withLock(\.didFail) }

    func willRun(_ sql: String, bindings: [SQLValue]) throws {
        let fails = state.withLock { state in
            if sql == "BEGIN" { state.isReading = true }
            if sql == "COMMIT", state.isReading {
                state.isReading = false
                return false
            }
            state.remaining -= 1
            if state.remaining == 0 { state.didFail = true }
            return state.remaining == 0
        }
        if fails { throw SQLFailure(kind: .full, code: 13, message: "injected failure", sql: sql) }
    }
}
