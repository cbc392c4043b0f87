import CoreDataSQL
import Foundation

@testable import CoreData

extension LibraryStack {
    /// The statements that `body` makes the store run, transactions aside.
    func statements(_ body: () throws -> Void) rethrows -> [String] {
        let recorder = SQLRecorder()
        let database = coordinator.sqlStores[0].engine.database
        database.setObserver(recorder)
        defer { database.setObserver(nil) }
        try body()
        return recorder.work
    }

    /// The statements that `body` makes the store run, with the nth failing.
    func failing(statement number: Int, _ body: () throws -> Void) -> (didFail: Bool, error: (any Error)?) {
        let injector = SQLFaultInjector(failingStatement: number)
        let database = coordinator.sqlStores[0].engine.database
        database.setObserver(injector)
        defer { database.setObserver(nil) }
        do {
            try body()
            return (injector.hasFailed, nil)
        } catch { return (injector.hasFailed, error) }
    }
}
