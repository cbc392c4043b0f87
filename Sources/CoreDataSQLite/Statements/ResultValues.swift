import CSQLite
import CoreDataPrimitives

/// The values of the row that a statement is at, by the address of the first.
///
/// To ask a statement for a column costs four times what the value does. SQLite keeps the values of a row in an array,
/// so where one lies tells where the others lie: how far apart is found out once, with a statement of its own, and
/// where that shows no array, each column is asked for. The connection is used by one thread at a time, so what SQLite
/// calls an unprotected value may be read.
struct ResultValues {
    private let first: OpaquePointer?
    private let distance: Int
    /// The statement and the column of the first value, where the values are no array.
    private let asked: (statement: OpaquePointer, column: Int32)

    /// Those of `count` columns from `first` on.
    ///
    /// - Precondition: the statement is at a row, which has so many.
    @inline(__always)
    init(of statement: OpaquePointer, from first: Int, count: Int) {
        precondition(
            Int(sqlite3_data_count(statement)) >= first + count, "the statement is at no row, or its rows are shorter")
        distance = Self.distance
        asked = (statement, Int32(truncatingIfNeeded: first))
        self.first = count == 0 ? nil : sqlite3_column_value(statement, asked.column)
        assert(count == 0 || self[count - 1] == sqlite3_column_value(statement, Int32(first + count - 1)))
    }

    @inline(__always)
    subscript(index: Int) -> OpaquePointer? {
        guard distance > 0 else {
            return sqlite3_column_value(asked.statement, asked.column + Int32(truncatingIfNeeded: index))
        }
        return OpaquePointer(UnsafeRawPointer(first.unsafelyUnwrapped) + index &* distance)
    }

    @inline(__always)
    func integer(_ index: Int) -> Int64 { sqlite3_value_int64(self[index]) }

    /// The value's word, `nil` for NULL; bytes go to the builder.
    ///
    /// Only a value that may be NULL is asked for its type.
    @inline(__always)
    func word(_ index: Int, _ kind: ColumnKind, _ builder: RowBuilder) -> UInt64? {
        let value = self[index]
        switch kind {
        case .integer:
            let integer = sqlite3_value_int64(value)
            return integer == 0 && sqlite3_value_type(value) == SQLITE_NULL ? nil : UInt64(bitPattern: integer)
        case .real:
            let real = sqlite3_value_double(value)
            return real == 0 && sqlite3_value_type(value) == SQLITE_NULL ? nil : real.bitPattern
        case .text:
            guard let text = sqlite3_value_text(value) else { return nil }
            let count = Int(sqlite3_value_bytes(value))
            return builder.keep(UnsafeRawBufferPointer(start: text, count: count))
        case .blob:
            guard sqlite3_value_type(value) != SQLITE_NULL else { return nil }
            // Asked first: it may turn a number into text.
            let blob = sqlite3_value_blob(value)
            let count = Int(sqlite3_value_bytes(value))
            return builder.keep(UnsafeRawBufferPointer(start: blob, count: count))
        }
    }

    // MARK: How far apart values lie

    /// In bytes; 0 where they are not known to be an array.
    private static let distance: Int = {
        var database: OpaquePointer?
        defer { sqlite3_close_v2(database) }
        guard sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK
        else {
            return 0
        }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        // Sorted, so that the rows come from elsewhere than the values.
        let sql = "SELECT * FROM (VALUES (3, 'c', 0.5, NULL), (1, 'a', x'00', NULL), (2, 'b', 7, NULL)) ORDER BY 1"
        guard sqlite3_prepare_v2(database, sql, -1, &statement, nil) == SQLITE_OK else { return 0 }
        var distances: Set<Int> = []
        while sqlite3_step(statement) == SQLITE_ROW {
            let places = (0..<sqlite3_data_count(statement)).map {
                Int(bitPattern: sqlite3_column_value(statement, $0))
            }
            for (place, next) in zip(places, places.dropFirst()) { distances.insert(next - place) }
        }
        guard distances.count == 1, let distance = distances.first, (8...256).contains(distance) else { return 0 }
        return distance
    }()
}
