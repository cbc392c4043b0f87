import CoreDataPrimitives
import Foundation

/// A database that is open: a pool of readers beside one writer.
///
/// Both calls block until a connection is free and run `body` on the calling thread. A reader sees the last
/// committed state and does not wait for the writer. Nested calls from inside `body` are a programmer's error.
package protocol SQLDatabase: AnyObject, Sendable {
    /// How it is written to, and what it can do.
    var dialect: SQLDialect { get }

    /// The constraints that whoever opened it wants its tables to have; `nil` for those that they have.
    var wantedConstraints: ConstraintKinds? { get }

    @discardableResult
    func read<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// As ``read(_:)``, for a single statement, which sees one state of the database by itself: it spares the statements
    /// that begin and end a transaction, two thirds of what a row by key costs.
    @discardableResult
    func readStatement<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// Runs `body` on the writing connection in one transaction that begins by taking the write lock: committed
    /// when `body` returns, rolled back when it throws.
    ///
    /// `committed` is called after that, before anybody else can write by this database.
    @discardableResult
    func write<R>(_ body: (any SQLConnection) throws -> R, committed: (R) -> Void) throws -> R

    /// As ``write(_:committed:)``, while others may write, too: what `body` reads may be another's to change, unless the
    /// statement locks it. For those who see to it that their statements find what they count on.
    ///
    /// `atOnce` has the commit go to a server together with the statements before it, whose results nobody sees until then. Where one of
    /// them does not find the rows that it counts on nothing is written, and ``SQLFailure/Kind/expectation`` is thrown: run again without
    /// it, the statement tells of them by itself.
    @discardableResult
    func writeBesideOthers<R>(
        atOnce: Bool, _ body: (any SQLConnection) throws -> R, committed: (R) -> Void
    ) throws -> R

    /// Runs `body` on the writing connection without a transaction, for statements that forbid one.
    @discardableResult
    func writeWithoutTransaction<R>(_ body: (any SQLConnection) throws -> R) throws -> R

    /// What was committed when this is called, and nothing later, for as long as somebody holds it: a database that only reads.
    ///
    /// Whoever asks while nobody has committed gets the same one. `nil` where the database cannot keep a former state while it is
    /// written to.
    ///
    /// - Throws: ``SQLFailure`` of the kind `.tooManyStates` where as many are held as the options allow.
    func pinned() throws -> (any SQLDatabase)?

    /// Makes the file ready to be written to, where it was opened with ``DatabaseOptions/isLookedAtFirst``, before anybody else reads from
    /// the database.
    func prepareFile() throws

    /// Closes every connection, waiting for those in use; the database is unusable afterwards.
    func close()

    /// Reads and writes the file at that path from now on, unless the check, which gets a connection to it, throws; what is
    /// under way ends in the old one first.
    func move(to path: String, check: (any SQLConnection) throws -> Void) throws

    /// Makes the statements that run now, on any connection, fail with ``SQLFailure/Kind/interrupted``.
    func interrupt()

    /// Runs `body`, and has what it reads with the calling thread fail with ``SQLFailure/Kind/interrupted`` once `isStopped` says so:
    /// also a statement that has not given a row yet, and no other thread's.
    func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R

    /// Shows the observer every statement of the calls that begin from now on; `nil` ends that.
    func setObserver(_ observer: (any SQLObserver)?)

    /// Shows another observer every statement, too, of the calls that begin from now on.
    func addObserver(_ observer: any SQLObserver)
    /// Ends what ``addObserver(_:)`` began.
    func removeObserver(_ observer: any SQLObserver)

    /// Has readers call the check, with their connection, before they give the first row of a statement that may be of another
    /// schema than it was written for: whenever somebody has changed the schema. What it throws the statement throws.
    func setSchemaCheck(_ check: (@Sendable (any SQLConnection) throws -> Void)?)

    /// Tells the observer, if there is one, what no statement shows.
    func note(_ text: @autoclosure () -> String)

    /// What counts the commits of others, on a connection of its own; `nil` for a database that nobody else can write to.
    func makeCommitCounter() throws -> (any SQLCommitCounter)?

    /// Calls `told` when somebody has committed, on a queue of its own, until the watch is cancelled or nobody holds it; `nil` for a
    /// database that has to be asked, see ``makeCommitCounter()``.
    func watchCommits(_ told: @escaping @Sendable () -> Void) throws -> (any SQLCommitWatch)?

    /// Holds what has that name among all who use the store, on a connection of its own, unless somebody else does.
    func hold(_ name: String) throws -> SQLHolding

    // MARK: What databases have words of their own for

    /// Checks the whole file; the problems found, empty where there are none.
    func integrityProblems() throws -> [String]

    /// How the database would go about a query, a line a step.
    func plan(of query: SQLText) throws -> [String]

    /// What the database says of itself, by its own names: `["page_size": "4096"]`.
    func settings() throws -> [String: String]

    /// Learns how values are spread, for the choice of indexes.
    func analyze() throws

    /// Gives back the space of what was deleted.
    func vacuum() throws
}

extension SQLDatabase {
    @discardableResult
    package func write<R>(_ body: (any SQLConnection) throws -> R) throws -> R {
        try write(body, committed: { _ in })
    }

    /// A database that has one writer at a time has no others.
    @discardableResult
    package func writeBesideOthers<R>(
        atOnce: Bool, _ body: (any SQLConnection) throws -> R, committed: (R) -> Void
    ) throws -> R { try write(body, committed: committed) }

    package var wantedConstraints: ConstraintKinds? { nil }
    package func pinned() throws -> (any SQLDatabase)? { nil }
    package func prepareFile() throws {}
    package func hold(_ name: String) throws -> SQLHolding { .unknown }
    package func watchCommits(_ told: @escaping @Sendable () -> Void) throws -> (any SQLCommitWatch)? { nil }
}

/// What tells of commits until it is cancelled, or nobody holds it.
package protocol SQLCommitWatch: AnyObject, Sendable {
    func cancel()
}

/// Tells whether anybody has committed to a database: two values differ if somebody did between them.
package protocol SQLCommitCounter: AnyObject, Sendable {
    func value() throws -> Int64
    /// Gives the connection up; called once.
    func close()
}

/// One connection, used by one thread at a time.
package protocol SQLConnection: AnyObject {
    var dialect: SQLDialect { get }

    /// The statement of that text, prepared once and kept; it is reset and has no bindings.
    ///
    /// A statement that is still in use is never handed out twice: a second call with its text prepares another.
    func statement(_ sql: String) throws -> any SQLStatement

    /// What gives rows of a table by its key, one after the other.
    ///
    /// `select` is of the table alone and has no condition; `key` is its column with whole numbers that differ.
    func keyedStatement(_ select: SelectStatement, key: String) -> any SQLKeyedStatement

    /// Runs statements that return nothing.
    func execute(_ sql: String) throws

    /// Whether what runs by ``SQLStatement/runLater(expecting:otherwise:)`` is told of late, so that many statements share a
    /// way to a server and back.
    var pipelines: Bool { get }
    /// Whether the commit is to go with what is sent: a statement that is put off fails by itself where it does not find the rows that it
    /// counts on.
    var commitsAtOnce: Bool { get }
    /// Whether what is put off from now on may run in any order, since each row is written by one statement only, and none looks at others.
    var runsInAnyOrder: Bool { get set }
    /// Has all that was put off be done, and throws what came of it; nothing where it can wait for the commit that is to go with it.
    func settle() throws

    /// Begins to copy rows into a table, which nothing else is asked before its end; `nil` where the database does not take rows so.
    ///
    /// It costs ways to the server of its own, for thousands of rows less than what statements take longer.
    func copy(_ statement: CopyStatement) throws -> (any SQLRowCopy)?

    /// Has the transaction last though nothing is asked of it for a while.
    func expectPauses() throws

    /// Runs a part of a transaction that may fail without it: what it did is taken back then, and the transaction goes on.
    func attempting<R>(_ body: () throws -> R) throws -> R

    /// Whether there is a table of that name with those columns, of the schema as the connection last read it; `nil` where
    /// only a statement can tell.
    func knowsTable(_ name: String, columns: [String]) -> Bool?

    /// A number that changes whenever anybody changes the schema; in a transaction, as the transaction sees it.
    func schemaVersion() throws -> Int64
    /// Sees that the number is that one, perhaps late, with what runs next; else `otherwise` runs before anything is told of that.
    func expectSchemaVersion(_ version: Int64, otherwise: @escaping () throws -> Void) throws
    /// Makes the number another one, so that others look at the schema again.
    ///
    /// - Parameter tables: those whose rows this transaction has made into what the former schema does not know; nobody reads them as that.
    func changeSchemaVersion(rowsOf tables: [String]) throws
    /// Has the number be had for less, where the database knows how; in the transaction that makes a store, before that has one.
    func keepSchemaVersion() throws

    /// Writes comments on tables and columns, if the database keeps comments.
    func describe(_ comments: [SchemaComment]) throws
    /// Whether the view of the history is missing, and can be made.
    func lacksHistoryView() throws -> Bool
    /// Makes the view of the history for other programs, if the database has such views. The history's tables exist.
    func makeHistoryView() throws
    /// Drops the view: its tables cannot be dropped before it.
    func dropHistoryView() throws

    /// What the connection's user keeps with it, under a small number, and uses only while it has the connection; it goes
    /// when the connection is closed. `nil` where nothing has been kept.
    func companion(_ number: Int) -> AnyObject?
    func keep(_ companion: AnyObject, as number: Int)

    /// The derived attributes that triggers have set since the current write began, in order.
    var derivedAttributeReports: [DerivedAttributeReport] { get }
}

extension SQLConnection {
    package func knowsTable(_ name: String, columns: [String]) -> Bool? { nil }

    /// For a database of which a statement that fails leaves the transaction as it was.
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

    /// The statement with its values bound; whoever gets it resets it.
    package func statement(_ statement: some SQLRenderable) throws -> any SQLStatement {
        try self.statement(statement.text(in: dialect))
    }

    /// Runs one statement and returns the number of rows that it changed.
    @discardableResult
    package func run(_ statement: some SQLRenderable) throws -> Int { try run(statement.text(in: dialect)) }

    /// Every row of a query; for the few that are read as values.
    package func rows(_ query: some SQLRenderable) throws -> [[SQLValue]] { try rows(query.text(in: dialect)) }

    /// The statement of that text with its values bound; whoever gets it resets it.
    package func statement(_ text: SQLText) throws -> any SQLStatement {
        let statement = try statement(text.sql)
        if !text.bindings.isEmpty { try statement.bind(text.bindings, at: 0) }
        return statement
    }

    /// Runs one statement and returns the number of rows that it changed.
    @discardableResult
    package func run(_ text: SQLText) throws -> Int {
        let statement = try statement(text)
        defer { statement.reset() }
        return try statement.run()
    }

    /// Every row of a query; for the few that are read as values.
    package func rows(_ text: SQLText) throws -> [[SQLValue]] {
        let statement = try statement(text)
        defer { statement.reset() }
        var rows: [[SQLValue]] = []
        while try statement.step() { rows.append((0..<statement.columnCount).map(statement.value)) }
        return rows
    }
}

/// Rows on their way into a table, value by value in the order of its columns.
package protocol SQLRowCopy: AnyObject {
    func beginRow() throws
    func append(_ value: Int64) throws
    /// As ``SQLStatement/bind(_:columns:kinds:at:)``.
    func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind]) throws
    /// Has the table take the rows, and throws where it refuses one: then it has none of them.
    func end() throws
    /// Ends it without rows, if it has not ended; the transaction can only be rolled back then.
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

    /// Puts a value behind those of the array that is bound to the parameter, `nil` for NULL.
    func append(_ value: Int64?, at parameter: Int) throws

    /// Puts columns of a row behind the values of the arrays that are bound to the parameters from `first` on; as
    /// ``bind(_:columns:kinds:at:)``.
    func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws

    /// How many bytes the arrays have by now.
    var arrayByteCount: Int { get }

    /// Moves to the next row; false when there is none. Afterwards the statement must be reset to run again.
    func step() throws -> Bool

    /// Steps to the end and returns the number of rows that the statement changed; the statement may then run
    /// again, with the bindings that it has.
    @discardableResult
    func run() throws -> Int

    /// As ``run()``, of which it may be told later: `otherwise` runs where another number of rows was changed than expected.
    func runLater(expecting count: Int?, otherwise: @escaping () throws -> Void) throws

    /// As ``run()``, for an `INSERT … ON CONFLICT … DO UPDATE` that shall only update: `nil` where it inserted a row.
    func runUpdating() throws -> Int?

    var columnCount: Int { get }
    func columnName(_ column: Int) -> String
    func value(_ column: Int) -> SQLValue
    /// The integer, 0 for NULL.
    func integer(_ column: Int) -> Int64
    /// The integers, 0 for NULL, of three columns from `first` on: what each row begins with.
    func threeIntegers(from first: Int) -> (Int64, Int64, Int64)
    func isNull(_ column: Int) -> Bool

    /// Reads the columns from `first` on into the builder's columns, in order: one call for a whole row.
    ///
    /// A value of another storage class than the kind's is converted as the database converts it: a date that
    /// was stored as an integer reads as a double.
    func read(into builder: RowBuilder, kinds: [ColumnKind], from first: Int)

    /// Reads the result's column `columns[i]` into the builder's column *i*; where it is negative the builder's
    /// stays NULL.
    func read(into builder: RowBuilder, kinds: [ColumnKind], columns: [Int])

    /// Puts the columns of fields into a caller's memory as Swift's own types: one call for a whole row.
    ///
    /// Bit *i* of the result is set where field *i* was put there; the caller makes the others of ``value(_:)``, as all of those
    /// after the first 64.
    func write(_ fields: UnsafeBufferPointer<TypedField>, to row: UnsafeMutableRawPointer) -> UInt64

    /// Puts the row that the statement is at, and those after it, into a caller's memory, each `stride` bytes after the one before: one
    /// call for many rows. A row that is not there whole is the last.
    ///
    /// `rows` counts those that are there whole, also on failure. When it says that there are no more rows, the next ``step()`` does so, too.
    func write(
        _ fields: UnsafeBufferPointer<TypedField>, to place: UnsafeMutableRawPointer, stride: Int, room: Int,
        rows: inout Int
    ) throws -> TypedRowsEnd

    /// Ends the current run and forgets the bindings. Called by whoever got the statement, also on failure.
    func reset()
}

extension SQLDatabase {
    /// A database that is not asked while it works on a statement.
    package func stopping<R>(when isStopped: @escaping @Sendable () -> Bool, _ body: () throws -> R) throws -> R {
        try body()
    }
}

/// A database without arrays.
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

/// Rows of a table by its key.
///
///     let items = connection.keyedStatement(select, key: "Z_PK")
///     defer { items.end() }
///     if let item = try items.row(7) { … }    // SELECT … FROM ZITEM WHERE Z_PK = ?
package protocol SQLKeyedStatement: AnyObject {
    /// The statement at the row with that key, `nil` where there is none; valid until ``end()`` or the next key.
    func row(_ key: Int64) throws -> (any SQLStatement)?

    /// Ends the statement. Called by whoever asked for a row, also on failure, before the connection goes back.
    func end()
}

/// A problem that the database reported: code and message, the statement without its values.
package struct SQLFailure: EngineFailure, Sendable {
    package enum Kind: Sendable {
        case busy
        /// Two rows have what only one may have.
        case constraint
        /// A row leads to one that is not there.
        case reference
        /// A value is one that the table does not take.
        case check
        /// A value is one that no column of the database can keep.
        case unkept
        case corrupt
        case notADatabase
        case readOnly
        /// Whoever asks may not read it.
        case unreadable
        case full
        case cannotOpen
        /// The file is no longer where it was opened.
        case moved
        /// This program has asked for its end.
        case interrupted
        /// The server has ended it, since it took too long, or somebody else asked for that.
        case timedOut
        case missingTable
        /// A text in a row that was to be a regular expression is none.
        case pattern
        /// The former state that was to be read is no longer kept.
        case stateGone
        /// No more former states are kept.
        case tooManyStates
        /// Others wrote what this transaction counts on, or they wait for one another: the same again may succeed.
        case serialization
        /// A statement that was committed at once did not find the rows that it counts on; nothing was written.
        case expectation
        /// The database cannot compute what a statement says of the values that it has: a number is too large, a type has no
        /// such operator.
        case computation
        /// The connection to the server is lost, or none could be had in time.
        case disconnected
        /// The connection was lost while it committed, and nobody can tell whether it did.
        case unknownOutcome
        case other
    }

    package var kind: Kind
    /// The driver's own code, e.g. SQLite's extended result code.
    package var code: Int
    package var message: String
    package var sql: String?
    /// The first bytes of a file that is no database, where the driver has read them.
    package var fileStart: [UInt8]?

    package init(kind: Kind, code: Int, message: String, sql: String? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.sql = sql
    }
}
