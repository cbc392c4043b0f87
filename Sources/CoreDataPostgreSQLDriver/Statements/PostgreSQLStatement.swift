import CPostgreSQL
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// A prepared statement of PostgreSQL.
///
/// ```
///            bind             step → true
///  ready ───────────▶ ready ───────────────▶ at a row ──┐ step → true
///    ▲                  │ step → false          │   ▲───┘
///    │                  ▼                       ▼ step → false
///    └──── reset ──── ended ◀───────────────────┘
/// ```
/// The first step receives all rows of the result; `run` leaves the statement ready, with its bindings.
final class PostgreSQLStatement: SQLStatement {
    let sql: String
    /// The session's name and description of the statement.
    private(set) var prepared: PreparedStatement
    private unowned(unsafe) let connection: PostgreSQLConnection
    let parameters: ParameterBuffer
    /// The parameters, if they are arrays.
    let arrays: ArrayBuffer?
    private var result: QueryResult?
    private var row: Int32 = -1
    private var hasBindings = false
    /// Whether it is held back, with its bindings.
    var isHeld = false
    /// Set only while there is an observer.
    private(set) var observed: [Int: SQLValue] = [:]

    init(_ prepared: PreparedStatement, _ connection: PostgreSQLConnection) {
        sql = prepared.sql
        self.prepared = prepared
        self.connection = connection
        arrays = ArrayBuffer(prepared.parameterTypes)
        parameters = ParameterBuffer(arrays == nil ? prepared.parameterTypes : [])
    }

    /// The bindings in order, for the observer.
    var observedBindings: [SQLValue] {
        if let arrays { return arrays.counts.map { .text("\($0) values") } }
        return parameters.types.indices.map { observed[$0] ?? .null }
    }

    /// Calls `body` with the bindings in libpq's format.
    func withBindings<R>(
        _ body: (
            _ count: Int32, _ values: UnsafePointer<UnsafePointer<CChar>?>?, _ lengths: UnsafePointer<Int32>?,
            _ formats: UnsafePointer<Int32>?
        ) -> R
    ) -> R {
        if let arrays { return arrays.withValues(body) }
        let count = Int32(parameters.types.count)
        return parameters.withValues { body(count, $0, $1, $2) }
    }

    // MARK: Running

    func step() throws -> Bool {
        if let result {
            row += 1
            return row < result.rowCount
        }
        try prepareAgain()
        let result = try connection.query(self)
        prepared = prepared.of(result)
        self.result = result
        row = 0
        return result.rowCount > 0
    }

    @discardableResult
    func run() throws -> Int {
        if result != nil { throw SQLFailure.misuse("the statement is running; reset it first", sql: sql) }
        try prepareAgain()
        return try connection.query(self).changeCount
    }

    func runUpdating() throws -> Int? { try run() }

    func runLater(expecting count: Int?, otherwise: @escaping () throws -> Void) throws {
        if result != nil { throw SQLFailure.misuse("the statement is running; reset it first", sql: sql) }
        try prepareAgain()
        try connection.send(self, expecting: count, otherwise: otherwise)
    }

    private func prepareAgain() throws {
        if prepared.isForgotten { prepared = try connection.prepare(sql) }
    }

    func reset() {
        result = nil
        row = -1
        guard hasBindings, !isHeld else { return }
        hasBindings = false
        if let arrays { return arrays.removeAll() }
        parameters.removeAll()
        if !observed.isEmpty { observed.removeAll() }
    }

    // MARK: Binding

    func bind(_ values: [SQLValue], at first: Int) throws {
        // The placeholders of array parameters.
        if arrays != nil, values.allSatisfy({ $0 == .null }) { return }
        try prepareToBind(first + values.count)
        for (index, value) in values.enumerated() {
            try parameters.set(first + index, value)
            if connection.observer != nil { observed[first + index] = value }
        }
    }

    func bind(_ value: Int64, at parameter: Int) throws {
        try prepareToBind(parameter + 1)
        try parameters.set(parameter, integer: value)
        if connection.observer != nil { observed[parameter] = .integer(value) }
    }

    func bind(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws {
        try prepareToBind(first + columns.count)
        var parameter = first
        for column in columns {
            if row.isNull(column) {
                parameters.setNull(parameter)
            } else {
                switch kinds[column] {
                case .integer: try parameters.set(parameter, integer: row.integer(column))
                case .real: try parameters.set(parameter, real: row.real(column))
                case .text: try row.withBytes(column) { try parameters.set(parameter, text: $0) }
                case .blob: try row.withBytes(column) { try parameters.set(parameter, blob: $0) }
                }
            }
            if connection.observer != nil { observed[parameter] = Self.value(row, column, kinds[column]) }
            parameter += 1
        }
    }

    func append(_ value: Int64?, at parameter: Int) throws {
        let arrays = try arraysToBind()
        guard let value else { return arrays.appendNull(to: parameter) }
        try arrays.append(value, to: parameter)
    }

    func append(_ row: RowSnapshot, columns: [Int], kinds: [ColumnKind], at first: Int) throws {
        try arraysToBind().append(row, columns: columns, kinds: kinds, at: first)
    }

    var arrayByteCount: Int { arrays?.byteCount ?? 0 }

    private func arraysToBind() throws -> ArrayBuffer {
        guard let arrays, result == nil else {
            throw SQLFailure.misuse("the statement is running, or takes no arrays", sql: sql)
        }
        hasBindings = true
        return arrays
    }

    private func prepareToBind(_ count: Int) throws {
        if result != nil { throw SQLFailure.misuse("the statement is running; reset it first", sql: sql) }
        if isHeld { try connection.sendHeld() }
        guard count <= parameters.types.count else {
            throw SQLFailure.misuse("the statement has \(parameters.types.count) parameters, not \(count)", sql: sql)
        }
        hasBindings = true
    }

    private static func value(_ row: RowSnapshot, _ column: Int, _ kind: ColumnKind) -> SQLValue {
        if row.isNull(column) { return .null }
        switch kind {
        case .integer: return .integer(row.integer(column))
        case .real: return .real(row.real(column))
        case .text: return .text(row.text(column))
        case .blob: return .blob(row.withBytes(column) { Data($0) })
        }
    }

    // MARK: Reading

    @inline(__always)
    private func withRow<R>(_ body: (WireValues) -> R) -> R {
        guard let result, row >= 0, row < result.rowCount else { preconditionFailure("the statement is at no row") }
        return prepared.columnTypes.withUnsafeBufferPointer { types in
            body(WireValues(result.pointer, row: row, types: types))
        }
    }

    var columnCount: Int { prepared.columnTypes.count }
    func columnName(_ column: Int) -> String { prepared.columnNames[column] }
    func value(_ column: Int) -> SQLValue { withRow { $0.value(column) } }
    func integer(_ column: Int) -> Int64 { withRow { $0.integer(column) } }
    func isNull(_ column: Int) -> Bool { withRow { $0.isNull(column) } }

    func threeIntegers(from first: Int) -> (Int64, Int64, Int64) {
        withRow { ($0.integer(first), $0.integer(first + 1), $0.integer(first + 2)) }
    }

    func read(into builder: RowBuilder, kinds: [ColumnKind], from first: Int) {
        withRow { values in
            kinds.withUnsafeBufferPointer { kinds in
                for group in stride(from: 0, to: kinds.count, by: 64) {
                    builder.fill(group) { values.word(first + $0, kinds[$0], builder) }
                }
            }
        }
    }

    func read(into builder: RowBuilder, kinds: [ColumnKind], columns: [Int]) {
        withRow { values in
            for group in stride(from: 0, to: kinds.count, by: 64) {
                builder.fill(group) { columns[$0] < 0 ? nil : values.word(columns[$0], kinds[$0], builder) }
            }
        }
    }
}

/// Fetches rows by key, with one statement per row, which returns the schema version with the row if it must be
/// checked.
final class PostgreSQLKeyedStatement: SQLKeyedStatement {
    private unowned(unsafe) let connection: PostgreSQLConnection
    private let select: SelectStatement
    private var plain: (any SQLStatement)?
    private var telling: (any SQLStatement)?
    /// Whether it reads the schema version from the function.
    private var asksFunction = false
    private var running: (any SQLStatement)?

    init(_ select: SelectStatement, key: String, _ connection: PostgreSQLConnection) {
        self.connection = connection
        var select = select
        select.condition = .comparison(.equal, .column(nil, key), .parameter)
        self.select = select
    }

    func row(_ key: Int64) throws -> (any SQLStatement)? {
        try connection.withOwnSchemaCheck { check in
            if let check { return try row(key, check) }
            let statement = try plain ?? prepare(select)
            plain = statement
            return try step(statement, key) ? statement : nil
        }
    }

    private func row(
        _ key: Int64, _ check: (version: Int64, otherwise: () throws -> Void)
    ) throws -> (any SQLStatement)? {
        let statement = try tellingStatement()
        let isThere = try step(statement, key)
        // Without a row there is no version either; the version follows the row's columns.
        let column = select.columns.count
        let version =
            try isThere
            ? statement.isNull(column) ? nil : statement.integer(column) : connection.schemaVersion()
        if version != check.version {
            try check.otherwise()
            if asksFunction { connection.forgetSchemaNumber() }
        }
        return isThere ? statement : nil
    }

    private func tellingStatement() throws -> any SQLStatement {
        let asksFunction = try connection.callsSchemaNumber()
        if let telling, asksFunction == self.asksFunction { return telling }
        var select = select
        select.columns.append(
            .init(asksFunction ? .function(.schemaVersion, []) : ServerText.schemaVersionColumn))
        let made = try prepare(select)
        (telling, self.asksFunction) = (made, asksFunction)
        return made
    }

    private func prepare(_ select: SelectStatement) throws -> any SQLStatement {
        try connection.statement(select.text(in: connection.dialect).sql)
    }

    private func step(_ statement: any SQLStatement, _ key: Int64) throws -> Bool {
        running = statement
        statement.reset()
        try statement.bind(key, at: 0)
        return try statement.step()
    }

    func end() { running?.reset() }
}
