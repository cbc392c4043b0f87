import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL

/// Reads rows of one table by primary key on one connection; the statements and a decoder are reused.
///
/// Keys are read in size classes, so that a few prepared statements serve any number of keys. Unused parameters repeat
/// the last key, which IN ignores.
///
///     3 keys      // SELECT … FROM ZITEM WHERE Z_PK IN (?, ?, ?, ?, ?, ?, ?, ?)
///     1,100 keys  // twice 500, once 500 of which 100 are distinct
final class RowReader {
    private let select: SelectStatement
    private let decoder: RowDecoder
    /// The connection, which retains its reader.
    private unowned(unsafe) let connection: any SQLConnection
    private let single: any SQLKeyedStatement
    // The holder of the connection uses the reader exclusively, and no callback occurs.
    /// The statements of the larger size classes.
    @exclusivity(unchecked) private var statements: [(any SQLStatement)?]

    init(
        _ shape: RowShape, table: String, _ connection: any SQLConnection, externalData: @autoclosure () -> ExternalData
    ) {
        self.connection = connection
        decoder = RowDecoder(shape, externalData: externalData())
        select = SelectStatement(
            shape.selection(from: nil).map { SelectStatement.ResultColumn($0) }, from: .init(table, as: table))
        single = connection.keyedStatement(select, key: Self.key)
        statements = Array(repeating: nil, count: SizeClass.sizes.count + 1)
    }

    private static let key = "Z_PK"

    /// Appends the existing rows, in any order.
    func read(_ keys: ArraySlice<Int64>, into rows: RowList) throws {
        var rest = keys
        while !rest.isEmpty {
            let sizeClass = SizeClass(for: rest.count, in: connection.dialect)
            let part = rest.prefix(sizeClass.size)
            rest = rest.dropFirst(sizeClass.size)
            if let key = part.first, sizeClass.size == 1 {
                if let row = try held(key) { rows.append(row) }
                continue
            }
            let statement = try statement(of: sizeClass)
            defer { statement.reset() }
            try sizeClass.bind(part, to: statement)
            while try statement.step() { rows.append(try decoder.held(statement)) }
        }
    }

    /// Returns a hold on the row with the key; `nil` if there is none.
    func held(_ key: Int64) throws -> HeldRow? {
        defer { single.end() }
        guard let statement = try single.row(key) else { return nil }
        return try decoder.held(statement)
    }

    private func statement(of sizeClass: SizeClass) throws -> any SQLStatement {
        if let statement = statements[sizeClass.index] { return statement }
        var statement = select
        statement.condition = sizeClass.condition(on: .column(nil, Self.key))
        let prepared = try connection.statement(statement)
        statements[sizeClass.index] = prepared
        return prepared
    }
}

/// The number of keys of a statement: one of a few numbers, or with array parameters any number up to some thousand.
struct SizeClass {
    static let sizes = [1, 8, 64, 500]
    private static let arraySize = 4096

    let index: Int
    var size: Int { isArray ? Self.arraySize : Self.sizes[index] }
    private var isArray: Bool { index == Self.sizes.count }

    init(for count: Int, in dialect: SQLDialect) {
        index =
            dialect.bindsArrays && count > Self.sizes[1]
            ? Self.sizes.count : Self.sizes.firstIndex { $0 >= count } ?? Self.sizes.count - 1
    }

    /// Returns `key = ?`, `key IN (?, …)`, or `key IN (SELECT … FROM UNNEST(?))`.
    func condition(on key: SQLExpression) -> SQLExpression {
        if isArray {
            let keys = SelectStatement.Source(arrays: [.integer], as: "keys")
            return .inSelect(key, SelectStatement([.init(keys.arrayColumn(0))], from: keys))
        }
        if size == 1 { return .comparison(.equal, key, .bind(.null)) }
        return .inList(key, Array(repeating: .bind(.null), count: size))
    }

    /// Binds the keys, repeating the last one for the remaining parameters.
    func bind(_ keys: ArraySlice<Int64>, to statement: any SQLStatement) throws {
        guard let last = keys.last else { return }
        if isArray { return try keys.forEach { try statement.append($0, at: 0) } }
        var parameter = 0
        for key in keys {
            try statement.bind(key, at: parameter)
            parameter += 1
        }
        while parameter < size {
            try statement.bind(last, at: parameter)
            parameter += 1
        }
    }
}
