import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Synchronization

/// Reads rows of one table by primary key: the statements' texts and a decoder, kept from call to call.
///
/// Keys come in size classes, so that a handful of prepared statements serves every number of them. A class is
/// filled up with its last key again, which IN ignores.
///
///     3 keys      // SELECT … FROM ZITEM WHERE Z_PK IN (?, ?, ?, ?, ?, ?, ?, ?)
///     1,100 keys  // twice with 500, once with 500 of which 100 differ
final class RowReader {
    let shape: RowShape
    private let table: String
    private let decoder: RowDecoder
    /// The statement's text for each of the size classes.
    @exclusivity(unchecked) private var texts: [String?]

    init(_ shape: RowShape, table: String, _ engine: StoreEngine) {
        self.shape = shape
        self.table = table
        decoder = RowDecoder(shape, engine)
        texts = Array(repeating: nil, count: SizeClass.sizes.count)
    }

    /// Appends the rows that exist, in any order.
    func read(_ keys: ArraySlice<Int64>, into rows: inout [RowSnapshot], _ connection: any SQLConnection) throws {
        var rest = keys
        while !rest.isEmpty {
            let sizeClass = SizeClass(for: rest.count)
            let part = rest.prefix(sizeClass.size)
            rest = rest.dropFirst(sizeClass.size)
            let statement = try connection.statement(text(sizeClass))
            defer { statement.reset() }
            try sizeClass.bind(part, to: statement)
            while try statement.step() { rows.append(try decoder.row(statement)) }
        }
    }

    /// The row with the key, `nil` where there is none.
    func read(_ key: Int64, _ connection: any SQLConnection) throws -> RowSnapshot? {
        let statement = try connection.statement(text(SizeClass(for: 1)))
        defer { statement.reset() }
        try statement.bind(key, at: 0)
        return try statement.step() ? decoder.row(statement) : nil
    }

    private func text(_ sizeClass: SizeClass) -> String {
        if let text = texts[sizeClass.index] { return text }
        let columns = shape.selection(from: nil).map { SelectStatement.ResultColumn($0) }
        var statement = SelectStatement(columns, from: .init(table, as: table))
        statement.condition = sizeClass.condition(on: .column(nil, "Z_PK"))
        let text = statement.text.sql
        texts[sizeClass.index] = text
        return text
    }
}

/// How many keys a statement takes.
struct SizeClass {
    static let sizes = [1, 8, 64, 500]

    let index: Int
    var size: Int { Self.sizes[index] }

    init(for count: Int) {
        index = Self.sizes.firstIndex { $0 >= count } ?? Self.sizes.count - 1
    }

    /// `key = ?` or `key IN (?, …)`.
    func condition(on key: SQLExpression) -> SQLExpression {
        if size == 1 { return .comparison(.equal, key, .bind(.null)) }
        return .inList(key, Array(repeating: .bind(.null), count: size))
    }

    /// Binds the keys, the last one again for every place that is left.
    func bind(_ keys: ArraySlice<Int64>, to statement: any SQLStatement) throws {
        guard let last = keys.last else { return }
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

/// The readers of a store, lent to one caller at a time.
///
/// The mutex guards the idle readers by root entity. A reader that is lent out belongs to its borrower alone.
final class RowReaders: Sendable {
    private struct Idle: @unchecked Sendable {
        // Safe because a reader is either in this list, where nobody uses it, or lent to one thread.
        var readers: [[RowReader]]
    }

    private let idle: Mutex<Idle>

    /// `entityCount` is how many roots there can be.
    init(entityCount: Int) { idle = Mutex(Idle(readers: Array(repeating: [], count: entityCount))) }

    /// Lends a reader of the root's table; `make` builds one when all are out.
    func withReader<R>(
        ofRoot root: Int, _ make: () throws -> RowReader, _ body: (RowReader) throws -> R
    ) throws -> R {
        let found = idle.withLock { idle in Lent(reader: idle.readers[root].popLast()) }
        let reader = try found.reader ?? make()
        let lent = Lent(reader: reader)
        defer {
            idle.withLock { idle in
                if let reader = lent.reader { idle.readers[root].append(reader) }
            }
        }
        return try body(reader)
    }

    private struct Lent: @unchecked Sendable {
        // Safe because it only carries a reader across the lock.
        var reader: RowReader?
    }
}
