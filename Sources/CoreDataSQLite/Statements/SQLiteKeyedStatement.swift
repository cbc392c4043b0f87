import CSQLite
import CoreDataSQL

/// Fetches rows by key, with one statement per row, or in a burst with one statement that keeps running.
///
/// Starting and ending a statement costs more than finding and reading a row. The running statement joins the table to
/// constants; for each constant, a function returns the next key:
///
///     SELECT … FROM (VALUES (0), (0), …) keys CROSS JOIN ZITEM ON Z_PK = CDNextKey(keys.column1)
///
/// It reads in the burst's transaction and ends with it, so it sees the same data as a separate statement.
final class SQLiteKeyedStatement: SQLKeyedStatement {
    /// The number of rows per run of the statement: high enough that restarting it costs little.
    private static let rowsPerRun = 64

    /// The connection, which retains this object.
    private unowned(unsafe) let connection: SQLiteConnection
    private let select: SelectStatement
    private let key: SQLExpression
    // One thread at a time holds the connection, and no callback occurs while these change.
    @exclusivity(unchecked) private var single: SQLiteStatement?
    @exclusivity(unchecked) private var burst: SQLiteStatement?
    @exclusivity(unchecked) private var isSingleUsed = false

    init(_ select: SelectStatement, key: String, _ connection: SQLiteConnection) {
        self.connection = connection
        self.select = select
        self.key = .column(nil, key)
    }

    func row(_ key: Int64) throws -> (any SQLStatement)? {
        if let isThere = advance(to: key) { return isThere ? burst : nil }
        let single = try single ?? makeSingle()
        isSingleUsed = true
        try single.bind(key, at: 0)
        return try single.step() ? single : nil
    }

    func end() {
        guard isSingleUsed else { return }
        isSingleUsed = false
        single?.reset()
    }

    private func makeSingle() throws -> SQLiteStatement {
        var select = select
        select.condition = .comparison(.equal, key, .parameter)
        let made = try SQLiteStatement(select.text(in: connection.dialect).sql, state: connection.state)
        single = made
        return made
    }

    private var burstSQL: String {
        var select = SelectStatement(
            select.columns,
            from: .init(rows: Array(repeating: [.integer(0)], count: Self.rowsPerRun), as: "keys"))
        let nextKey = SQLExpression.function(.nextKey, [.column("keys", "column1")])
        select.joins = [.init(.cross, self.select.source, on: .comparison(.equal, key, nextKey))]
        return select.text(in: connection.dialect).sql
    }

    /// Moves the burst's statement to the row; returns whether it exists. `nil` if there is no burst, if an observer
    /// must see each statement, and after a failure, which the single statement then reports.
    private func advance(to key: Int64) -> Bool? {
        guard connection.hasOpenBurst, connection.state.observer == nil,
            !connection.state.mustCheckSchema
        else { return nil }
        if burst == nil { burst = try? connection.burstStatement(burstSQL) }
        guard let pointer = burst?.pointer else { return nil }
        connection.state.nextKey = key
        var code = sqlite3_step(pointer)
        if code == SQLITE_DONE, connection.state.nextKey != nil {
            // The statement has used all its constants and starts again.
            sqlite3_reset(pointer)
            code = sqlite3_step(pointer)
        }
        connection.state.nextKey = nil
        if code == SQLITE_ROW { return true }
        sqlite3_reset(pointer)
        return code == SQLITE_DONE ? false : nil
    }
}
