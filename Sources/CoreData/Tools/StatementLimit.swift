import CoreDataSQL
import CoreDataStore
import Foundation
import Synchronization

/// More statements were run than a guard allows.
public struct StatementLimitError: LocalizedError, Sendable, CustomStringConvertible {
    /// How many were allowed.
    public let limit: Int
    /// The statements that ran, in order, with their values.
    public let statements: [FetchStatement]

    /// The number of statements, and each of them.
    public var errorDescription: String? { description }

    public var description: String {
        let list = statements.enumerated().map { "\($0.offset + 1). \($0.element)" }.joined(separator: "\n")
        return "\(statements.count) statements were run where \(limit) \(limit == 1 ? "is" : "are") allowed:\n\(list)"
    }
}

extension NSManagedObjectContext {
    /// Runs `body`, and throws an error with all statements if it made the context's stores run more than that number.
    ///
    ///     let names = try context.withStatementLimit(2) {
    ///         try context.fetch(request).map { $0.unit?.name }        // one statement, and one for each unit
    ///     }
    ///     // StatementLimitError: 12 statements were run where 2 are allowed:
    ///     // 1. SELECT … FROM ZITEM t0
    ///     // 2. SELECT … FROM ZUNIT t0 WHERE t0.Z_PK = ?
    ///     //   with 3 …
    ///
    /// Statements that begin and end transactions, and those of other threads, do not count. The effects of `body`
    /// stay: use it in tests and for analysis.
    ///
    /// - Throws: ``StatementLimitError``; the errors of `body`.
    ///
    /// Not in Apple's API.
    @discardableResult
    public nonisolated final func withStatementLimit<R>(_ limit: Int, _ body: () throws -> R) throws -> R {
        checkOwned("withStatementLimit(_:_:)")
        let counter = StatementCounter()
        let sources = (persistentStoreCoordinator?.attachedStores ?? []).compactMap { store in
            (store.target as? any ObservableSource).map { (source: $0, observer: StoreCounter(counter, store.url)) }
        }
        for (source, observer) in sources { source.addObserver(observer) }
        defer { for (source, observer) in sources { source.removeObserver(observer) } }
        let result = try body()
        let statements = counter.statements
        if statements.count > limit { throw StatementLimitError(limit: limit, statements: statements) }
        return result
    }
}

/// The statements of one thread.
private final class StatementCounter: Sendable {
    private let thread = UInt(truncatingIfNeeded: pthread_self())
    /// Guards the list.
    private let list = Mutex<[FetchStatement]>([])

    var statements: [FetchStatement] { list.withLock { $0 } }

    func note(_ sql: String, _ bindings: [SQLValue], _ store: URL?) {
        guard thread == UInt(truncatingIfNeeded: pthread_self()), !TransactionText.isOne(sql) else { return }
        list.withLock { $0.append(FetchStatement(store: store, sql: sql, bindings: bindings)) }
    }
}

/// Passes one store's statements to a counter.
private final class StoreCounter: SQLObserver {
    private let counter: StatementCounter
    private let url: URL?

    init(_ counter: StatementCounter, _ url: URL?) {
        self.counter = counter
        self.url = url
    }

    func willRun(_ sql: String, bindings: [SQLValue]) throws { counter.note(sql, bindings, url) }
}
