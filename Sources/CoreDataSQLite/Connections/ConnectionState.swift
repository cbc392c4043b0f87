import CSQLite
import CoreDataPrimitives
import CoreDataSQL

/// What a connection and its statements share; they are used by one thread at a time.
final class ConnectionState {
    let database: OpaquePointer
    /// What the function for `now()` says.
    let clock: StoreClock
    // Read for every value that is bound; one thread at a time has the connection.
    @exclusivity(unchecked) var observer: (any SQLObserver)?
    /// Statements that have been stepped and not been reset.
    @exclusivity(unchecked) var runningCount = 0
    /// Counts how often every statement was ended at once; runs of earlier epochs are over.
    @exclusivity(unchecked) var epoch = 0
    /// Whether the driver has begun a transaction that it will end.
    @exclusivity(unchecked) var isInTransaction = false
    /// Whether SQLite has rolled that transaction back by itself; what came after would be on its own.
    @exclusivity(unchecked) var isDoomed = false
    /// What a ``SQLiteKeyedStatement`` looks for, until it is taken.
    @exclusivity(unchecked) var nextKey: Int64?
    var reports: [DerivedAttributeReport] = []
    /// Whether ``schemaWatch`` is to be asked where a statement was prepared anew.
    @exclusivity(unchecked) var watchesSchema = false
    /// Whether it is to be asked after the next first step: of a new connection, and as long as it refuses.
    @exclusivity(unchecked) var mustCheckSchema = false
    @exclusivity(unchecked) var isCheckingSchema = false
    var schemaWatch: SchemaWatch?
    /// Whose state it is; `nil` once that is gone. A weak reference would make every use of a connection slower.
    unowned(unsafe) var connection: SQLiteConnection?

    /// Asked now and then while a statement runs whether it shall go on.
    var stop: StatementStop? {
        didSet { stop === oldValue ? () : askStop() }
    }

    init(database: OpaquePointer, clock: StoreClock) {
        self.database = database
        self.clock = clock
    }

    private func askStop() {
        guard let stop else { return sqlite3_progress_handler(database, 0, nil, nil) }
        // The state has the stop for as long as SQLite asks it.
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

    /// Whether SQLite knows the functions and collations of ``SQLiteFunctions``.
    private var hasFunctions = false

    /// Prepares a statement; once more with our functions and collations where it asks for one of them.
    ///
    /// To have them takes a tenth of what it takes to open a small store and to read from it, which asks for none.
    func prepare(_ body: () -> Int32) throws -> Int32 {
        let code = body()
        return code != SQLITE_OK ? try addFunctions(missedBy: code) ? body() : code : code
    }

    /// Whether a statement failed for want of them, and has them now.
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

/// Who says when statements are to stop.
final class StatementStop: Sendable {
    /// So many steps of SQLite's machine lie between two questions: some hundred microseconds.
    static let steps: Int32 = 4000

    let isStopped: @Sendable () -> Bool

    init(_ isStopped: @escaping @Sendable () -> Bool) { self.isStopped = isStopped }
}
