import CSQLite
import CoreDataPrimitives
import CoreDataSQL

/// The state that a connection shares with its statements; one thread uses it at a time.
final class ConnectionState {
    let database: OpaquePointer
    /// The clock of the function for `now()`.
    let clock: StoreClock
    // Accessed for every bound value; one thread at a time holds the connection.
    @exclusivity(unchecked) var observer: (any SQLObserver)?
    /// The number of statements that were stepped and not reset.
    @exclusivity(unchecked) var runningCount = 0
    /// Counts how often all statements were ended together; runs of earlier epochs have ended.
    @exclusivity(unchecked) var epoch = 0
    /// Whether the driver has begun a transaction that it will end.
    @exclusivity(unchecked) var isInTransaction = false
    /// Whether SQLite rolled that transaction back by itself; further statements would run outside a transaction.
    @exclusivity(unchecked) var isDoomed = false
    /// The key that a ``SQLiteKeyedStatement`` requests next, until the function reads it.
    @exclusivity(unchecked) var nextKey: Int64?
    var reports: [DerivedAttributeReport] = []
    /// Whether to call ``schemaWatch`` after SQLite prepared a statement again.
    @exclusivity(unchecked) var watchesSchema = false
    /// Whether to call it after the next first step: for a new connection, and while the check fails.
    @exclusivity(unchecked) var mustCheckSchema = false
    @exclusivity(unchecked) var isCheckingSchema = false
    var schemaWatch: SchemaWatch?
    /// The connection; `nil` after it is deallocated. A weak reference would make every use of a connection slower.
    unowned(unsafe) var connection: SQLiteConnection?

    /// Polled while a statement runs, to decide whether it continues.
    var stop: StatementStop? {
        didSet { stop === oldValue ? () : askStop() }
    }

    init(database: OpaquePointer, clock: StoreClock) {
        self.database = database
        self.clock = clock
    }

    private func askStop() {
        guard let stop else { return sqlite3_progress_handler(database, 0, nil, nil) }
        // The state retains the stop for as long as SQLite polls it.
        sqlite3_progress_handler(
            database, StatementStop.steps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<StatementStop>.fromOpaque(context).takeUnretainedValue().isStopped() ? 1 : 0
            }, Unmanaged.passUnretained(stop).toOpaque())
    }

    func failure(_ code: Int32, sql: String? = nil) -> SQLFailure {
        if isInTransaction, sqlite3_get_autocommit(database) != 0 { isDoomed = true }
        return .last(of: database, code: code, sql: sql)
    }

    /// Whether the functions and collations of ``SQLiteFunctions`` are registered.
    private var hasFunctions = false

    /// Prepares a statement. If it uses one of our functions or collations, registers them and prepares it again.
    ///
    /// Registration takes a tenth of the time of opening a small store and reading from it, which needs none of them.
    func prepare(_ body: () -> Int32) throws -> Int32 {
        let code = body()
        return code != SQLITE_OK ? try addFunctions(missedBy: code) ? body() : code : code
    }

    /// Registers the functions if a statement failed because they were missing; returns whether it did.
    func addFunctions(missedBy code: Int32) throws -> Bool {
        guard !hasFunctions, code & 0xff == SQLITE_ERROR else { return false }
        let message = String(cString: sqlite3_errmsg(database))
        guard message.contains("no such function") || message.contains("no such collation") else { return false }
        hasFunctions = true
        try SQLiteFunctions.register(on: self)
        return true
    }

    func checkTransaction(_ sql: String) throws {
        guard isDoomed else { return }
        throw SQLFailure.misuse("the transaction was rolled back after an earlier failure", sql: sql)
    }
}

/// Decides when statements stop.
final class StatementStop: Sendable {
    /// The number of virtual machine steps between two polls: some hundred microseconds.
    static let steps: Int32 = 4000

    let isStopped: @Sendable () -> Bool

    init(_ isStopped: @escaping @Sendable () -> Bool) { self.isStopped = isStopped }
}
