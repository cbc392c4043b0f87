import CSQLite
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A prepared statement of SQLite.
///
/// ```
///            bind             step → true
///  ready ───────────▶ ready ───────────────▶ running ──┐ step → true
///    ▲                  │ step → false           │  ▲──┘
///    │                  ▼                        ▼ step → false
///    └──── reset ──── ended ◀────────────────────┘
/// ```
/// `run` goes from ready to ended and back to ready, and keeps the bindings.
final class SQLiteStatement: SQLStatement {
    let sql: String
    let pointer: OpaquePointer
    private let state: ConnectionState
    // One thread uses a statement, and no callback occurs while it changes. Exclusivity checks would cost as much as
    // binding a value.
    @exclusivity(unchecked) private var phase = Phase.ready
    @exclusivity(unchecked) private var epoch = 0
    /// The rows whose bytes are bound without copying, with their parameters.
    @exclusivity(unchecked) private var boundRows: [BoundRow] = []
    /// The most likely position of the next binding: rows are bound in the same order in each run.
    @exclusivity(unchecked) private var nextBoundRow = 0
    @exclusivity(unchecked) private var hasBindings = false
    /// SQLite's count of re-preparations at the last check of the schema.
    @exclusivity(unchecked) private var preparations: Int32 = 0
    /// Set only while there is an observer.
    @exclusivity(unchecked) private var observed: Observation?

    private enum Phase: UInt8 {
        case ready
        /// SQLite has stepped the statement since the last reset.
        case running
        /// There are no more rows; another step would start the statement again.
        case ended
    }

    private var isRunning: Bool { phase != .ready }

    struct BoundRow {
        var first: Int
        var count: Int
        var row: RowSnapshot
    }

    /// A class, so that a statement without observer only needs a check for `nil`.
    private final class Observation {
        var bindings: [Int: SQLValue] = [:]
        var start: ContinuousClock.Instant?
        var rows = 0
    }

    convenience init(_ sql: String, state: ConnectionState) throws {
        var pointer: OpaquePointer?
        let code = try state.prepare {
            sqlite3_prepare_v3(state.database, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        }
        guard code == SQLITE_OK else {
            let failure = state.failure(code, sql: sql)
            // Its tables may be missing because the schema changed.
            if state.watchesSchema { try state.checkSchema() }
            throw failure
        }
        guard let pointer else { throw SQLFailure.misuse("the statement is empty", sql: sql) }
        self.init(sql, prepared: pointer, state: state)
    }

    init(_ sql: String, prepared pointer: OpaquePointer, state: ConnectionState) {
        self.sql = sql
        self.pointer = pointer
        self.state = state
    }

    deinit {
        if isRunning { endRun() }
        sqlite3_finalize(pointer)
    }

    // MARK: Running

    func step() throws -> Bool {
        let isFirst = phase == .ready
        if isFirst {
            try beginRun()
        } else if phase == .ended {
            return false
        } else if epoch != state.epoch {
            throw SQLFailure.misuse("the transaction that the statement ran in has ended", sql: sql)
        }
        let code = isFirst ? try firstStep() : sqlite3_step(pointer)
        if isFirst, state.watchesSchema { try checkSchema(after: code) }
        switch code {
        case SQLITE_ROW:
            observed?.rows += 1
            return true
        case SQLITE_DONE:
            phase = .ended
            return false
        default:
            throw state.failure(code, sql: sql)
        }
    }

    /// Runs the first step. If the schema changed, SQLite prepares the statement again, which may then need our
    /// functions.
    private func firstStep() throws -> Int32 {
        let code = sqlite3_step(pointer)
        guard code != SQLITE_ROW, code != SQLITE_DONE, try state.addFunctions(missedBy: code) else { return code }
        sqlite3_reset(pointer)
        return sqlite3_step(pointer)
    }

    /// Checks the schema, so that nothing is read from a schema that the statement was not written for.
    private func checkSchema(after code: Int32) throws {
        let count = sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
        guard count != preparations || state.mustCheckSchema || code == SQLITE_ERROR else { return }
        preparations = count
        guard code == SQLITE_ERROR else { return try state.checkSchema() }
        let failure = state.failure(code, sql: sql)
        try state.checkSchema()
        throw failure
    }

    @discardableResult
    func run() throws -> Int {
        if isRunning { throw SQLFailure.misuse("the statement is running; reset it first", sql: sql) }
        defer { if isRunning { endRun() } }
        try beginRun()
        let before = sqlite3_total_changes(state.database)
        var code = try firstStep()
        while code == SQLITE_ROW { code = sqlite3_step(pointer) }
        guard code == SQLITE_DONE else { throw state.failure(code, sql: sql) }
        // After a statement that is no INSERT, UPDATE or DELETE, the count is that of an earlier statement.
        let changes = sqlite3_total_changes(state.database) == before ? 0 : Int(sqlite3_changes(state.database))
        observed?.rows = changes
        return changes
    }

    func runUpdating() throws -> Int? {
        // No row has the key 0, and updates do not change this value.
        sqlite3_set_last_insert_rowid(state.database, 0)
        let changes = try run()
        return sqlite3_last_insert_rowid(state.database) == 0 ? changes : nil
    }

    func reset() {
        if isRunning { endRun() }
        guard hasBindings else { return }
        sqlite3_clear_bindings(pointer)
        hasBindings = false
        if !boundRows.isEmpty { boundRows.removeAll(keepingCapacity: true) }
        if observed != nil { observed = nil }
    }

    private func beginRun() throws {
        if state.isInTransaction { try state.checkTransaction(sql) }
        if let observer = state.observer {
            let observation = observed ?? Observation()
            let count = Int(sqlite3_bind_parameter_count(pointer))
            try observer.willRun(sql, bindings: (0..<count).map { observation.bindings[$0] ?? .null })
            observation.start = .now
            observation.rows = 0
            observed = observation
        }
        phase = .running
        epoch = state.epoch
        state.runningCount += 1
    }

    private func endRun() {
        sqlite3_reset(pointer)
        phase = .ready
        // The connection ends the running statements at the end of a transaction.
        if epoch == state.epoch { state.runningCount -= 1 }
        if let observation = observed, let start = observation.start {
            observation.start = nil
            state.observer?.didRun(sql, duration: start.duration(to: .now), rows: observation.rows)
        }
    }

    // MARK: Binding

    func bind(_ values: [SQLValue], at first: Int) throws {
        try prepareToBind()
        for (index, value) in values.enumerated() {
            let parameter = Int32(truncatingIfNeeded: first + index + 1)
            let code: Int32
            switch value {
            case .null: code = sqlite3_bind_null(pointer, parameter)
            case .integer(let integer): code = sqlite3_bind_int64(pointer, parameter, integer)
            case .real(let real): code = sqlite3_bind_double(pointer, parameter, real)
            case .text(var text):
                code = text.withUTF8 { bindText(UnsafeRawBufferPointer($0), parameter, Self.transient) }
            case .blob(let data):
                code = data.withUnsafeBytes { bindBlob($0, parameter, Self.transient) }
            }
            guard code == SQLITE_OK else { throw state.failure(code, sql: sql) }
            if state.observer != nil { observe(value, at: first + index) }
        }
    }

    func bind(_ value: Int64, at parameter: Int) throws {
        try prepareToBind()
        let code = sqlite3_bind_int64(pointer, Int32(truncatingIfNeeded: parameter + 1), value)
        guard code == SQLITE_OK else { throw state.failure(code, sql: sql) }
        if state.observer != nil { observe(.integer(value), at: parameter) }
    }

    func bind(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws {
        try prepareToBind()
        // Text and blobs are not copied: the row is retained until its parameters are bound again or cleared.
        keep(row, first: first, count: columns.count)
        var parameter = Int32(truncatingIfNeeded: first)
        for column in columns {
            parameter += 1
            let code: Int32
            switch kinds[column] {
            case .integer:
                let value = row.integer(column)
                code =
                    value == 0 && row.isNull(column)
                    ? sqlite3_bind_null(pointer, parameter) : sqlite3_bind_int64(pointer, parameter, value)
            case .real:
                let word = row.word(column)
                code =
                    word == 0 && row.isNull(column)
                    ? sqlite3_bind_null(pointer, parameter)
                    : sqlite3_bind_double(pointer, parameter, Double(bitPattern: word))
            case .text:
                code =
                    row.isNull(column)
                    ? sqlite3_bind_null(pointer, parameter)
                    : row.withBytes(column) { bindText($0, parameter, nil) }
            case .blob:
                code =
                    row.isNull(column)
                    ? sqlite3_bind_null(pointer, parameter)
                    : row.withBytes(column) { bindBlob($0, parameter, nil) }
            }
            guard code == SQLITE_OK else { throw state.failure(code, sql: sql) }
            if state.observer != nil { observe(row, column, kinds[column], at: Int(parameter) - 1) }
        }
    }

    /// Makes SQLite copy the bound bytes.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    private func prepareToBind() throws {
        if isRunning { throw SQLFailure.misuse("the statement is running; reset it first", sql: sql) }
        hasBindings = true
    }

    private func keep(_ row: RowSnapshot, first: Int, count: Int) {
        func isPlace(_ index: Int) -> Bool { boundRows[index].first == first && boundRows[index].count == count }
        if nextBoundRow >= boundRows.count { nextBoundRow = 0 }
        if !boundRows.isEmpty, !isPlace(nextBoundRow) {
            nextBoundRow = boundRows.indices.first(where: isPlace) ?? boundRows.count
        }
        if nextBoundRow < boundRows.count {
            boundRows[nextBoundRow].row = row
        } else {
            boundRows.append(BoundRow(first: first, count: count, row: row))
        }
        nextBoundRow += 1
    }

    private func bindText(
        _ bytes: UnsafeRawBufferPointer, _ parameter: Int32, _ destructor: sqlite3_destructor_type?
    ) -> Int32 {
        guard let base = bytes.baseAddress else { return sqlite3_bind_text(pointer, parameter, "", 0, Self.transient) }
        return sqlite3_bind_text64(
            pointer, parameter, base.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), destructor,
            UInt8(SQLITE_UTF8))
    }

    private func bindBlob(
        _ bytes: UnsafeRawBufferPointer, _ parameter: Int32, _ destructor: sqlite3_destructor_type?
    ) -> Int32 {
        // A blob with a null address would become NULL.
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return sqlite3_bind_zeroblob(pointer, parameter, 0) }
        return sqlite3_bind_blob64(pointer, parameter, base, UInt64(bytes.count), destructor)
    }

    private func observe(_ value: SQLValue, at parameter: Int) {
        if observed == nil { observed = Observation() }
        observed?.bindings[parameter] = value
    }

    private func observe(_ row: RowSnapshot, _ column: Int, _ kind: ColumnKind, at parameter: Int) {
        let value: SQLValue
        if row.isNull(column) {
            value = .null
        } else {
            switch kind {
            case .integer: value = .integer(row.integer(column))
            case .real: value = .real(row.real(column))
            case .text: value = .text(row.text(column))
            case .blob: value = .blob(row.withBytes(column) { Data($0) })
            }
        }
        observe(value, at: parameter)
    }
}
