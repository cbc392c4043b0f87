import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import CoreDataSQLite
import Foundation
import StoreTestSupport
import Synchronization
import Testing

@testable import CoreDataStore

/// A store on a server that others make at the same time, over and over.
@Suite struct SerializationTests {
    /// Refuses to make tables, as a server does that has others do so.
    private final class Refusal: SQLObserver {
        private let left: Mutex<Int>
        let count = Atomic<Int>(0)

        init(_ times: Int) { left = Mutex(times) }

        func willRun(_ sql: String, bindings: [SQLValue]) throws {
            guard sql.hasPrefix("CREATE TABLE") else { return }
            guard
                left.withLock({
                    $0 -= 1
                    return $0 >= 0
                })
            else { return }
            count.wrappingAdd(1, ordering: .relaxed)
            throw SQLFailure(kind: .serialization, code: 40001, message: "could not serialize access")
        }

        func didRun(_ sql: String, duration: Duration, rows: Int) {}
        func note(_ text: String) {}
    }

    private func open(refusing times: Int) throws -> Int {
        let refusal = Refusal(times)
        var options = StoreOptions(path: nil)
        options.database.server = URL(string: "test://server/shop")
        do {
            let engine = try StoreEngine.open(model: Bookshop.model, options: options) { _ in
                let database = try SQLiteDatabase(SQLiteOptions(.memory))
                database.setObserver(refusal)
                return database
            }
            engine.database.close()
        } catch let failure as SQLFailure where failure.kind == .serialization { return -1 }
        return refusal.count.load(ordering: .relaxed)
    }

    @Test func aStoreIsMadeAfterSomeFailures() throws { #expect(try open(refusing: 3) == 3) }

    @Test func failuresThatDoNotEndAreTold() throws { #expect(try open(refusing: 60) == -1) }
}
