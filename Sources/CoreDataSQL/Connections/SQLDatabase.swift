import CoreDataPrimitives
import Foundation

/// A database that is open: a pool of readers beside one writer.
///
/// Both calls block until a connection is free and run `body` on the calling thread. A reader sees the last committed
/// state and does not wait for the writer. Nested calls inside `body` are a programming error.
package protocol SQLDatabase: AnyObject, Sendable {
    /// The SQL dialect, with the database's capabilities.
    var dialect: SQLDialect { get }

    /// The constraints that the user's options request for tables; `nil` to keep the existing constraints.
    var wantedConstraints: ConstraintKinds? { get }

    @discardableResult
    func read<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// Reads like ``read(_:)``, but a single statement without a transaction: the statement sees one state of the
    /// database. This saves the statements that begin and end a transaction, two thirds of the cost of a row by key.
    @discardableResult
    func readStatement<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// Runs `body` on the writing connection in a transaction that takes the write lock first. The transaction commits
    /// when `body` returns, and rolls back when it throws.
    ///
    /// `committed` is called after the commit, before another client of this database can write.
    @discardableResult
    func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R

    /// Writes like ``write(_:committed:)``, but concurrently with other writers. Another writer may change rows that
    /// `body` reads, unless the statement locks them. So `body` must verify that its statements find the expected rows.
    ///
    /// With `atOnce`, the commit is sent to the server in one batch with the statements before it, and their results
    /// arrive only after that. If a statement does not find its expected rows, nothing is written and the call throws
    /// ``SQLFailure/Kind/expectation``. Run it again without `atOnce` to let the statement report the conflict.
    @discardableResult
    func writeBesideOthers<R>(
        atOnce: Bool, _ body: (any SQLConnection) throws -> R, committed: (R) -> Void
    ) throws -> R

    /// Runs `body` on the writing connection without a transaction, for statements that cannot run in one.
    @discardableResult
    func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// Pins the current committed state: a read-only database that shows this state for as long as it is retained.
    ///
    /// Callers share a snapshot until the next commit. The result is `nil` if the database cannot preserve a snapshot
    /// during writes.
    ///
    /// - Throws: ``SQLFailure`` of the kind `.tooManyStates` if the options do not allow another snapshot.
    func pinned() throws -> (any SQLDatabase)?

    /// Prepares a file that was opened with ``DatabaseOptions/isLookedAtFirst`` for writing, before any other client
    /// reads from the database.
    func prepareFile() throws

    /// Writes all commits to the disk, so that they survive a power failure. Callers use it before they delete files
    /// that older commits need.
    func synchronize() throws

    /// Closes every connection after waiting for those in use; the database is unusable afterwards.
    func close()

    /// Switches to the file at the path, unless `check`, which receives a connection to it, throws. Running calls
    /// finish on the old file first.
    func move(to path: String, check: (any SQLConnection) throws -> Void) throws

    /// Makes the statements that run now, on any connection, fail with ``SQLFailure/Kind/interrupted``.
    func interrupt()

    /// Runs `body`. Once `isStopped` returns true, reads of the calling thread fail with
    /// ``SQLFailure/Kind/interrupted``, even if a statement has not returned a row yet. Other threads are not affected.
    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R

    /// Sets the observer of all statements in calls that begin from now on; `nil` removes it.
    func setObserver(_ observer: (any SQLObserver)?)

    /// Adds another observer of all statements in calls that begin from now on.
    func addObserver(_ observer: any SQLObserver)
    /// Removes an observer that ``addObserver(_:)`` added.
    func removeObserver(_ observer: any SQLObserver)

    /// Makes readers call `check`, with their connection, after any client changed the schema. They call it before the
    /// first row of a statement that may have been written for another schema. The statement throws the check's errors.
    func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?)

    /// Passes an event that no statement shows to the observer, if there is one.
    func note(_ text: @autoclosure () -> String)

    /// Makes a counter of commits by other clients, with a connection of its own; `nil` if no other client can write to
    /// the database.
    func makeCommitCounter() throws -> (any SQLCommitCounter)?

    /// Calls `told` on a separate queue after each commit by another client, until the watch is cancelled or released.
    /// `nil` if the database must be polled, see ``makeCommitCounter()``.
    func watchCommits(_ told: @escaping @Sendable () -> Void) throws -> (any SQLCommitWatch)?

    /// Acquires the named lock among all clients of the store, on a connection of its own, unless another client holds
    /// it.
    func hold(_ name: String) throws -> SQLHolding

    // MARK: Operations with database-specific statements

    /// Checks the whole file; returns the problems, empty if there are none.
    func integrityProblems() throws -> [String]

    /// Returns the database's plan for a query, one line per step.
    func plan(of query: SQLText) throws -> [String]

    /// Returns the database's settings, by its own names: `["page_size": "4096"]`.
    func settings() throws -> [String: String]

    /// Collects statistics of the values, which the query planner uses to choose indexes.
    func analyze() throws

    /// Releases the space of deleted rows.
    func vacuum() throws
}

extension SQLDatabase {
    @discardableResult
    package func write<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        try write(body, committed: { _ in })
    }

    /// A database with a single writer has no concurrent writers.
    @discardableResult
    package func writeBesideOthers<R>(
        atOnce: Bool, _ body: (any SQLConnection) throws -> R, committed: (R) -> Void
    ) throws -> R { try write(body, committed: committed) }

    package var wantedConstraints: ConstraintKinds? { nil }
    package func pinned() throws -> (any SQLDatabase)? { nil }
    package func prepareFile() throws {}
    package func synchronize() throws {}
    package func hold(_ name: String) throws -> SQLHolding { .unknown }
    package func watchCommits(_ told: @escaping @Sendable () -> Void) throws -> (any SQLCommitWatch)? { nil }
}

/// A subscription to commits, which ends when it is cancelled or released.
package protocol SQLCommitWatch: AnyObject, Sendable {
    func cancel()
}

/// Detects commits to a database: two values differ if another client committed between them.
package protocol SQLCommitCounter: AnyObject, Sendable {
    func value() throws -> Int64
    /// Releases the connection; called once.
    func close()
}

/// One connection, used by one thread at a time.
package protocol SQLConnection: AnyObject {
    var dialect: SQLDialect { get }

    /// Returns the statement of the text, which is prepared once and cached, without bindings.
    ///
    /// A statement in use is not returned twice: a second call with its text prepares another statement.
    func statement(_ sql: String) throws -> any SQLStatement

    /// Returns a statement that fetches rows of a table by key, one at a time.
    ///
    /// `select` reads only the table and has no condition; `key` is a column of unique integers.
    func keyedStatement(_ select: SelectStatement, key: String) -> any SQLKeyedStatement

    /// Runs statements that return nothing.
    func execute(_ sql: String) throws

    /// Whether results of ``SQLStatement/runLater(expecting:otherwise:)`` arrive later, so that many statements share
    /// one round trip.
    var pipelines: Bool { get }
    /// Whether the commit is sent together with the queued statements. A queued statement then fails by itself if it
    /// does not find the expected rows.
    var commitsAtOnce: Bool { get }
    /// Whether statements queued from now on may run in any order: one statement writes each row, and none reads other
    /// rows.
    var runsInAnyOrder: Bool { get set }
    /// Completes all queued statements and throws their errors; does nothing if they can wait for the commit that is
    /// sent with them.
    func settle() throws

    /// Begins to copy rows into a table; no other statement may run until it ends. `nil` if the database does not
    /// support it.
    ///
    /// It costs additional round trips; for thousands of rows, it saves more time than they cost.
    func copy(_ statement: CopyStatement) throws -> (any SQLRowCopy)?

    /// Prevents a timeout of the transaction during a long pause without statements.
    func expectPauses() throws

    /// Runs a part of a transaction that may fail: its changes are then rolled back, and the transaction continues.
    func attempting<R>(_ body: () throws -> R) throws -> R

    /// Returns whether a table with these columns exists in the schema that the connection last read; `nil` if only a
    /// statement can find out.
    func knowsTable(_ name: String, columns: [String]) -> Bool?

    /// Returns a number that changes with each change of the schema; a transaction sees its own changes.
    func schemaVersion() throws -> Int64
    /// Verifies that the number equals `version`, possibly later, together with the next statement; if not, `otherwise`
    /// runs before the error is reported.
    func expectSchemaVersion(_ version: Int64, otherwise: @escaping () throws -> Void) throws
    /// Changes the number, so that other clients read the schema again.
    ///
    /// - Parameter tables: tables whose rows this transaction converted to a format that clients with the old schema
    ///   must not read.
    func changeSchemaVersion(rowsOf tables: [String]) throws
    /// Makes reads of the number cheaper, if the database supports it; called in the transaction that creates a store.
    func keepSchemaVersion() throws

    /// Writes comments on tables and columns, if the database keeps comments.
    func describe(_ comments: [SchemaComment]) throws
    /// Returns whether the view of the history is missing and can be created.
    func lacksHistoryView() throws -> Bool
    /// Makes the view of the history for other programs, if the database has such views. The history's tables must
    /// exist.
    func makeHistoryView() throws
    /// Drops the view; this must happen before its tables are dropped.
    func dropHistoryView() throws

    /// Returns the object that the connection's user stored with it under a small number. It may be used only while
    /// holding the connection, and is released when the connection closes. `nil` if none was stored.
    func companion(_ number: Int) -> AnyObject?
    func keep(_ companion: AnyObject, as number: Int)

    /// The derived attributes that triggers set since the current write began, in order.
    var derivedAttributeReports: [DerivedAttributeReport] { get }
}

extension SQLConnection {
    package func knowsTable(_ name: String, columns: [String]) -> Bool? { nil }

    /// For a database where a failed statement does not change the transaction.
    package func attempting<R>(_ body: () throws -> R) throws -> R { try body() }

    package func copy(_ statement: CopyStatement) throws -> (any SQLRowCopy)? { nil }

    package var pipelines: Bool { false }
    package var commitsAtOnce: Bool { false }
    package var runsInAnyOrder: Bool {
        get { false }
        set {}
    }
    package func settle() throws {}
    package func expectPauses() throws {}
    package func keepSchemaVersion() throws {}
    package func describe(_ comments: [SchemaComment]) throws {}
    package func lacksHistoryView() throws -> Bool { false }
    package func makeHistoryView() throws {}
    package func dropHistoryView() throws {}

    package func expectSchemaVersion(_ version: Int64, otherwise: @escaping () throws -> Void) throws {
        if try schemaVersion() != version { try otherwise() }
    }

    /// Returns the statement with its values bound; the caller must reset it.
    package func statement(_ statement: some SQLRenderable) throws -> any SQLStatement {
        try self.statement(statement.text(in: dialect))
    }

    /// Runs one statement and returns the number of changed rows.
    @discardableResult
    package func run(_ statement: some SQLRenderable) throws -> Int { try run(statement.text(in: dialect)) }

    /// Returns all rows of a query as values; for small results.
    package func rows(_ query: some SQLRenderable) throws -> [[SQLValue]] { try rows(query.text(in: dialect)) }

    /// Returns the statement of the text with its values bound; the caller must reset it.
    package func statement(_ text: SQLText) throws -> any SQLStatement {
        let statement = try statement(text.sql)
        if !text.bindings.isEmpty { try statement.bind(text.bindings, at: 0) }
        return statement
    }

    /// Runs one statement and returns the number of changed rows.
    @discardableResult
    package func run(_ text: SQLText) throws -> Int {
        let statement = try statement(text)
        defer { statement.reset() }
        return try statement.run()
    }

    /// Returns all rows of a query as values; for small results.
    package func rows(_ text: SQLText) throws -> [[SQLValue]] {
        let statement = try statement(text)
        defer { statement.reset() }
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.value)) }
        return rows
    }
}

/// A bulk copy of rows into a table, value by value in the order of its columns.
package protocol SQLRowCopy: AnyObject {
    func beginRow() throws
    func append(_ value: Int64) throws
    /// Appends a row; for the parameters see ``SQLStatement/bind(_:columns:kinds:at:)``.
    func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind]) throws
    /// Completes the copy. Throws if the table refuses a row; then no row was copied.
    func end() throws
    /// Cancels a copy that has not ended; afterwards the transaction can only roll back.
    func giveUp()
}

/// A prepared statement. Parameters and columns count from 0.
package protocol SQLStatement: AnyObject {
    /// Binds the values to the parameters from `first` on.
    func bind(_ values: [SQLValue], at first: Int) throws

    func bind(_ value: Int64, at parameter: Int) throws

    /// Binds columns of a row to the parameters from `first` on: one call for a whole row.
    ///
    /// `columns[i]` is the row's column for parameter `first + i`; `kinds` are those of the row's layout.
    func bind(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws

    /// Appends a value to the array that is bound to the parameter; `nil` for NULL.
    func append(_ value: Int64?, at parameter: Int) throws

    /// Appends columns of a row to the arrays that are bound to the parameters from `first` on; for the parameters see
    /// ``bind(_:columns:kinds:at:)``.
    func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws

    /// The total size of the arrays in bytes.
    var arrayByteCount: Int { get }

    /// Moves to the next row; returns false if there is none. Afterwards the statement must be reset to run again.
    func step() throws -> Bool

    /// Steps to the end and returns the number of rows that the statement changed. The statement can then run again
    /// with the same bindings.
    @discardableResult
    func run() throws -> Int

    /// Runs like ``run()``, but the result may arrive later. `otherwise` runs if the number of changed rows is not the
    /// expected one.
    func runLater(expecting count: Int?, otherwise: @escaping () throws -> Void) throws

    /// Runs an `INSERT … ON CONFLICT … DO UPDATE` that must only update, like ``run()``; `nil` if it inserted a row.
    func runUpdating() throws -> Int?

    var columnCount: Int { get }
    func columnName(_ column: Int) -> String
    func value(_ column: Int) -> SQLValue
    /// The integer, 0 for NULL.
    func integer(_ column: Int) -> Int64
    /// Returns the integers, 0 for NULL, of three columns from `first` on: the first columns of each row.
    func threeIntegers(from first: Int) -> (Int64, Int64, Int64)
    func isNull(_ column: Int) -> Bool

    /// Reads the columns from `first` on into the builder's columns, in order: one call for a whole row.
    ///
    /// A value of another storage class is converted by the database's rules: a date that was stored as an integer is
    /// read as a double.
    func read(into builder: RowBuilder, kinds: [ColumnKind], from first: Int)

    /// Reads the result's column `columns[i]` into the builder's column *i*; for a negative index, the builder's column
    /// stays NULL.
    func read(into builder: RowBuilder, kinds: [ColumnKind], columns: [Int])

    /// Writes the columns of the fields to the caller's memory as Swift types: one call for a whole row.
    ///
    /// Bit *i* of the result is set if field *i* was written. The caller converts the other fields with ``value(_:)``,
    /// including all fields after the first 64.
    func write(_ fields: UnsafeBufferPointer<TypedField>, to row: UnsafeMutableRawPointer) -> UInt64

    /// Writes the current row and those after it to the caller's memory, `stride` bytes apart: one call for many rows.
    /// It stops after the first incomplete row.
    ///
    /// `rows` counts the complete rows, also on failure. If the call reports that there are no more rows, so does the
    /// next ``step()``.
    func write(
        _ fields: UnsafeBufferPointer<TypedField>, to place: UnsafeMutableRawPointer, stride: Int, room: Int,
        rows: inout Int
    ) throws -> TypedRowsEnd

    /// Ends the current run and clears the bindings. The client that requested the statement must call it, also on
    /// failure.
    func reset()
}

extension SQLDatabase {
    /// A database that cannot be polled while it runs a statement.
    package func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try body()
    }
}

/// A database without array parameters.
extension SQLStatement {
    package func append(_ value: Int64?, at parameter: Int) throws { throw SQLFailure.noArrays }
    package func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws {
        throw SQLFailure.noArrays
    }
    package var arrayByteCount: Int { 0 }
}

extension SQLFailure {
    fileprivate static var noArrays: SQLFailure {
        SQLFailure(kind: .other, code: 0, message: "the database takes no arrays")
    }
}

extension SQLStatement {
    package func write(_ fields: UnsafeBufferPointer<TypedField>, to row: UnsafeMutableRawPointer) -> UInt64 { 0 }

    package func write(
        _ fields: UnsafeBufferPointer<TypedField>, to place: UnsafeMutableRawPointer, stride: Int, room: Int,
        rows: inout Int
    ) throws -> TypedRowsEnd {
        room > 0 ? .part(write(fields, to: place)) : .full
    }

    package func runLater(expecting count: Int?, otherwise: @escaping () throws -> Void) throws {
        let changed = try run()
        if let count, changed != count { try otherwise() }
    }
}

/// Fetches rows of a table by key.
///
///     let items = connection.keyedStatement(select, key: "Z_PK")
///     defer { items.end() }
///     if let item = try items.row(7) { … }    // SELECT … FROM ZITEM WHERE Z_PK = ?
package protocol SQLKeyedStatement: AnyObject {
    /// Returns the statement positioned at the row with the key, `nil` if there is none; valid until ``end()`` or the
    /// next key.
    func row(_ key: Int64) throws -> (any SQLStatement)?

    /// Ends the statement. A client that requested a row must call it, also on failure, before it returns the
    /// connection.
    func end()
}

/// An error that the database reported: code, message and the statement without its values.
package struct SQLFailure: EngineFailure, Sendable {
    package enum Kind: Sendable {
        case busy
        /// Two rows have the same value in a unique column.
        case constraint
        /// A row refers to a row that does not exist.
        case reference
        /// A value violates a check constraint of the table.
        case check
        /// The database cannot store the value in any column.
        case unkept
        case corrupt
        case notADatabase
        case readOnly
        /// The user has no permission to read it.
        case unreadable
        case full
        case cannotOpen
        /// The file was moved from the path where it was opened.
        case moved
        /// This program cancelled the statement.
        case interrupted
        /// The server cancelled the statement, because of a timeout or at another client's request.
        case timedOut
        case missingTable
        /// A text of a row was used as a regular expression and is not a valid one.
        case pattern
        /// The pinned snapshot no longer exists.
        case stateGone
        /// No more snapshots can be pinned.
        case tooManyStates
        /// A conflict with another transaction, or a deadlock; a retry may succeed.
        case serialization
        /// A statement in a batch with its commit did not find the expected rows; nothing was written.
        case expectation
        /// The database cannot evaluate the statement for the stored values: a number is out of range, or a type lacks
        /// the operator.
        case computation
        /// The connection to the server was lost, or no connection was free in time.
        case disconnected
        /// The connection was lost during the commit; it is unknown whether the transaction committed.
        case unknownOutcome
        case other
    }

    package var kind: Kind
    /// The driver's own code, e.g. SQLite's extended result code.
    package var code: Int
    package var message: String
    package var sql: String?
    /// The first bytes of a file that is not a database, if the driver read them.
    package var fileStart: [UInt8]?

    package init(kind: Kind, code: Int, message: String, sql: String? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.sql = sql
    }
}
